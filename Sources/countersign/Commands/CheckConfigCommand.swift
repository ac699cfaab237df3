import Foundation
import Localization

/// Reports every problem in the configuration of `serve`, without starting it.
enum CheckConfigCommand: Command {
  static let name = "check-config"
  static let summary = Message("cli.summary-reports-every-problem-in-the-configuration")
  static let options = ServeConfiguration.options

  static func run(_ arguments: Arguments) async throws -> Int32 {
    var problems: [Message] = []
    var (passkeys, ignoresBackups) = (nil as Finding?, false)
    do {
      let configuration = try ServeConfiguration(
        arguments, environment: ProcessInfo.processInfo.environment)
      (passkeys, ignoresBackups) = (configuration.passkeys, configuration.ignoresBackups)
    } catch {
      problems = error.problems
    }
    problems += ConfiguredFiles(arguments).problems
    guard problems.isEmpty else { throw ConfigurationError(problems) }
    Terminal.say(Message("cli.the-configuration-is-valid"))
    if ignoresBackups { Terminal.say(Message("cli.backups-are-ignored")) }
    if case .passkeysImpossible(let address) = passkeys {
      Terminal.say(Message("cli.passkeys-need-a-host-name", ["address": .text(address)]))
    }
    return 0
  }
}
