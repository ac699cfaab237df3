import Identity

/// Confirms the system clock after the server stopped trusting it.
enum ClockConfirmCommand: Command {
  static let name = "clock confirm"
  static let summary =
    "confirms that the system clock is correct, so the server resumes deleting expired data"
  static let options = [Instance.dataOption]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await Instance.use(arguments) { instance in
      let now = try await instance.identity.clockGuard.confirm(by: Author(actor: .commandLine))
      Terminal.say(
        "Confirmed \(now.rfc3339Milliseconds). A running server resumes within seconds.")
      return 0
    }
  }
}
