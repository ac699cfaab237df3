import Identity

/// Confirms the machine's clock where the server doubts it.
enum ClockConfirmCommand: Command {
  static let name = "clock confirm"
  static let summary =
    "confirms that the machine's clock is right, so that a server that doubts it deletes old data again"
  static let options = [Instance.dataOption]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await Instance.use(arguments) { instance in
      let now = try await instance.identity.clockGuard.confirm(by: Author(actor: .commandLine))
      Terminal.say(
        "Confirmed the time \(now.rfc3339Milliseconds). A running server takes it over in seconds.")
      return 0
    }
  }
}
