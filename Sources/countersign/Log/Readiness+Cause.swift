import Localization

extension Readiness.Check {
  var cause: Message {
    switch self {
    case .database: Message("cli.cause-database")
    case .version: Message("cli.cause-version")
    case .integrity: Message("cli.cause-integrity")
    case .clock: Message("cli.cause-clock")
    case .keys: Message("cli.cause-keys")
    case .disk: Message("cli.cause-disk")
    case .certificate: Message("cli.cause-certificate")
    case .mail: Message("cli.cause-email")
    case .auditFile: Message("cli.cause-audit-file")
    }
  }
}
