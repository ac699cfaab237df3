import Identity
import Localization

enum ClockConfirmCommand: Command {
  static let name = "clock confirm"
  static let summary = Message(
    "confirms that the system clock is correct, so the server resumes deleting expired data")
  static let options = Instance.options

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await Instance.use(arguments) { instance in
      let now = try await instance.identity.clockGuard.confirm(
        by: .program(Author(actor: .commandLine))
      ).value
      guard let now else { return 0 }
      Terminal.say(
        Message(
          """
          Confirmed {now}. Servers that doubted their clock, and show this time, resume within \
          seconds.
          """, ["now": .text(now.rfc3339Milliseconds)]))
      return 0
    }
  }
}
