import Console
import Crypto
import Database
import Foundation
import Host
import Identity
import JSON
import Localization
import Templating

/// The text of the command line, from the message catalog of the program.
enum OperatorText {
  // Parsed when the first text is needed.
  private static let catalog = read(escape: Terminal.escaped)
  private static let pages = read(escape: nil)

  private static func read(escape: (@Sendable (String) -> String)?) -> Catalog {
    let text = String(decoding: PackageResources.messages_po, as: UTF8.self)
    do {
      return try Catalog(english: text, prefix: "cli", file: "messages.po", escape: escape)
    } catch {
      fatalError("\(error)")
    }
  }

  /// Returns a message as plain text, in which every value is escaped.
  static func string(_ message: Message) -> String { catalog.text(message) }

  /// Returns a page of the program's own text, such as help, whose values have several lines.
  static func page(_ message: Message) -> String { pages.text(message) }

  /// Returns the system's reason for an error of Foundation, such as "Is a directory", which
  /// Foundation's own description lacks, or that of a database.
  static func reason(of error: any Error) -> String {
    if let error = error as? DatabaseError { return error.message }
    if let error = error as? SystemError { return error.description }
    let error = error as NSError
    // On Linux, a POSIXError isn't an NSError until it's converted.
    let cause = (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError }
    return cause?.localizedFailureReason ?? error.localizedFailureReason
      ?? error.localizedDescription
  }
}

extension UsageError: CustomStringConvertible {
  var description: String { OperatorText.string(message) }
}

extension ConfigurationError: CustomStringConvertible {
  var description: String { problems.map(OperatorText.string).joined(separator: " ") }
}

extension ConfigurationError {
  /// A database that failed during a command; nil for another error.
  init?(database error: any Error) {
    let reason: String
    let isTemporary: Bool
    if let failure = Failure(of: error) {
      (reason, isTemporary) = (failure.reason, failure.isTemporary)
    } else if let error = error as? DatabaseError {
      (reason, isTemporary) = (error.message, error.isTemporary)
    } else {
      return nil
    }
    self.init(
      Message("cli.the-database-cannot-be-used", ["reason": .text(reason)]),
      isTemporary: isTemporary)
  }

  init(_ error: StartError) { self.init(error.message, isTemporary: error.isTemporary) }

  init(opening database: String, _ error: any Error) {
    self.init(
      Message(
        "cli.the-database-cant-be-opened",
        ["database": .text(database), "reason": .text(OperatorText.reason(of: error))]),
      isTemporary: Self.isTemporary(error))
  }

  init(reading path: String, _ error: any Error) {
    self.init(
      Message(
        "cli.path-cant-be-read-because",
        ["path": .text(path), "reason": .text(OperatorText.reason(of: error))]),
      isTemporary: Self.isTemporary(error))
  }

  init(reading path: String, of option: String, _ error: SystemError) {
    self.init(
      Message(
        "cli.the-option-file-cant-be-read",
        ["name": .text(option), "file": .text(path), "reason": .text("\(error)")]),
      isTemporary: error.isTemporary)
  }

  init(writing path: String, _ error: any Error) {
    self.init(
      Message(
        "cli.file-cant-be-written-because",
        ["path": .text(path), "reason": .text(OperatorText.reason(of: error))]),
      isTemporary: Self.isTemporary(error))
  }

  /// Returns whether an error of a database, a file, or the system is one that another attempt can
  /// solve.
  static func isTemporary(_ error: any Error) -> Bool {
    if let error = error as? DatabaseError { return error.isTemporary }
    if let error = error as? CatalogError { return error.isTemporary }
    if let error = error as? TemplateError { return error.isTemporary }
    if let error = error as? ConsoleError { return error.isTemporary }
    if let error = error as? CocoaError, error.code == .fileWriteOutOfSpace { return true }
    return systemError(behind: error)?.isTemporary == true
  }

  static func systemError(behind error: any Error) -> SystemError? {
    if let error = error as? SystemError { return error }
    let error = error as NSError
    let cause = (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError } ?? error
    guard cause.domain == NSPOSIXErrorDomain else { return nil }
    return SystemError(Int32(clamping: cause.code))
  }
}

extension StartError {
  var message: Message {
    switch self {
    case .migration(let error): error.message
    case .newerProgramRequired(let oldest): Message.newerProgramRequired(oldest)
    case .wrongProfile(let profile):
      Message("cli.this-data-folder-belongs-to-the", ["profile": .text(profile.rawValue)])
    case .wrongKey:
      Message("cli.the-master-key-is-not-the")
    case .empty: Message("cli.the-database-is-empty-so-it")
    case .olderServer(let steps):
      Message(
        "cli.the-server-that-is-running-on", ["migrations": .text(steps.joined(separator: ", "))])
    case .unavailable(let failure):
      Message("cli.the-database-cannot-be-used", ["reason": .text(failure.reason)])
    }
  }
}

extension CryptoError {
  var reason: String {
    switch self {
    case .failed(let text), .malformed(let text): text
    case .notAuthentic, .unknownKey, .busy: OperatorText.string(Message("cli.not-authentic"))
    }
  }
}

extension Message {
  fileprivate static func newerProgramRequired(_ oldest: ProgramVersion) -> Message {
    Message(
      "cli.the-database-requires-a-newer-version",
      ["oldest": .text("\(oldest)"), "version": .text(Countersign.version)])
  }
}

extension MigrationError {
  var message: Message {
    switch self {
    case .tooOld:
      Message(
        "cli.the-database-is-of-an-older-version",
        ["version": .text("\(ProgramVersion.oldestUpgradable)")])
    case .changed, .unknown, .late, .foreign, .failed: .verbatim(description)
    }
  }
}

extension BackupFault {
  var message: Message {
    switch self {
    case .notCountersign: Message("cli.it-isnt-a-database-of-countersign")
    case .damaged(let lines):
      Message("cli.its-damaged", ["faults": .text(lines.joined(separator: "; "))])
    case .orphans(let tables):
      Message(
        "cli.its-damaged",
        [
          "faults": .sequence(
            tables.map { Message("cli.row-refers-to-none", ["table": .text($0)]) })
        ])
    case .migration(let error): error.message
    case .newerProgramRequired(let oldest): Message.newerProgramRequired(oldest)
    case .wrongKey:
      Message("cli.another-master-key-sealed-it-put")
    case .unreadable(let reason): Message("cli.it-cant-be-read", ["reason": .text(reason)])
    }
  }
}

extension ClockDoubt {
  var message: Message {
    let (shown, expected) = (self.shown.rfc3339Milliseconds, self.expected.rfc3339Milliseconds)
    return isBehind
      ? Message(
        "cli.the-clock-shows-before-the-newest",
        ["shown": .text(shown), "expected": .text(expected)])
      : Message(
        "cli.the-clock-shows-long-after-the", ["shown": .text(shown), "expected": .text(expected)])
  }
}

extension PolicyFileError {
  /// The error as messages for the operator, one for each problem in the file.
  func messages(of path: String) -> [Message] {
    switch self {
    case .notJSON(let error, let line):
      let place = line.map { "\(path):\($0)" } ?? path
      return [
        Message(
          "cli.policy-file-not-json",
          ["place": .text(place), "error": .text(Terminal.excerpt(error.description))])
      ]
    case .problems(let problems):
      return problems.map { problem in
        let fault = Message.Value.message(problem.fault.message)
        let member = Message.Value.text(Terminal.excerpt(problem.member))
        return switch (problem.member.isEmpty, problem.pool) {
        case (true, _): Message("cli.policy-file-fault", ["file": .text(path), "fault": fault])
        case (false, nil):
          Message(
            "cli.policy-file-fault-at", ["file": .text(path), "member": member, "fault": fault])
        case (false, let pool?):
          Message(
            "cli.policy-file-fault-in-pool",
            [
              "file": .text(path), "member": member, "pool": .text(Terminal.excerpt(pool)),
              "fault": fault,
            ])
        }
      }
    case .unavailable(let failure):
      return [Message("cli.the-database-cant-be-used", ["failure": .text(failure.reason)])]
    }
  }
}

extension PolicyFileFault {
  var message: Message {
    switch self {
    case .missing: Message("cli.policy-file-is-required")
    case .unknownMember: Message("cli.policy-file-isnt-a-member")
    case .wrongType(let type):
      Message("cli.policy-file-must-be-of-type", ["type": .text(type.rawValue)])
    case .notOneOf(let values):
      Message("cli.policy-file-must-be-one-of", ["values": .list(values.map { .verbatim($0) })])
    case .outOfRange(let range):
      Message(
        "cli.policy-file-must-be-in-range",
        ["lowest": .number(range.lowerBound), "highest": .number(range.upperBound)])
    case .wrongLength(let range):
      Message(
        "cli.policy-file-must-have-length",
        ["lowest": .number(range.lowerBound), "highest": .number(range.upperBound)])
    case .invalidDay:
      Message(
        "cli.policy-file-must-be-a-day",
        ["first": .text("\(Day.first)"), "last": .text("\(Day.last)")])
    case .duplicatePool: Message("cli.policy-file-is-in-the-file-twice")
    case .poolNotFound: Message("cli.policy-file-no-such-pool")
    case .incompleteTOTP: Message("cli.policy-file-totp-requires-both")
    case .dayWithoutMandatory: Message("cli.policy-file-day-requires-mandatory")
    case .otherVersion(let current):
      Message("cli.policy-file-changed-since", ["version": .number(current)])
    case .reasonRequired: Message("cli.policy-file-requires-reason")
    case .reasonTooLong:
      Message("cli.policy-file-reason-too-long", ["count": .number(ActionRequest.longestNote)])
    case .refusalNeedsEmail: Message("cli.policy-file-refusal-needs-email")
    case .approvalRequired: Message("cli.policy-file-requires-approval")
    }
  }
}

extension Grant {
  var message: Message {
    let role = Message.Value.text(role.rawValue)
    guard let project else { return Message("cli.role-in-instance", ["role": role]) }
    guard let tenant else {
      return Message("cli.role-in-project", ["role": role, "project": .text(project.text)])
    }
    return Message(
      "cli.role-in-tenant",
      ["role": role, "project": .text(project.text), "tenant": .text(tenant.text)])
  }
}
