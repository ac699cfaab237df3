import Foundation
import Localization

/// Reports every problem in the configuration of `serve`, without starting it.
enum CheckConfigCommand: Command {
  static let name = "check-config"
  static let summary = Message(
    """
    reports every problem in the options of serve, from flags, environment, and file; exits 78 if \
    there are any
    """)
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
    Terminal.say(Message("The configuration is valid."))
    if ignoresBackups {
      Terminal.say(
        Message(
          """
          --backups has no effect: the database is on PostgreSQL, and countersign backup doesn't back \
          it up. Remove the setting, and monitor the backups of PostgreSQL.
          """))
    }
    if case .passkeysImpossible(let address) = passkeys {
      Terminal.say(
        Message(
          """
          Administrators can't use passkeys at {address}: they need --public-url with a hostname, \
          not an IP address, and HTTPS.
          """, ["address": .text(address)]))
    }
    return 0
  }
}
