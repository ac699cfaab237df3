import Localization

enum ManualCommand: Command {
  static let name = "manual"
  static let summary = Message("prints the manual page in man format")
  static let options: [Option] = []

  static func run(_ arguments: Arguments) async throws -> Int32 {
    Terminal.say(document: OperatorText.page(Manual(commands: Countersign.commands).message))
    return 0
  }
}
