import Console
import Crypto
import Database
import Foundation
import Host
import Identity
import JSON
import Localization
import Templating

enum OperatorText {
  // Read when the first text is needed.
  private static let pages = installed(ProcessInfo.processInfo.environment)
  private static let catalog = pages.escaping(Terminal.escaped)

  private static func installed(_ environment: [String: String]) -> Catalog {
    let variables = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }
    let locale = variables.first { !$0.isEmpty } ?? ""
    let language = String(locale.prefix { $0 != "." && $0 != "@" }).replacing("_", with: "-")
    guard !["", "C", "POSIX"].contains(language), !language.hasPrefix("en") else { return .english }
    let catalogs = Translations(folder: Assets.ofCommands.localizations).catalogs
    return catalogs[LanguagePreferences(language).best(among: catalogs.map(\.locale))]
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
    guard let failure = Failure(of: error) else { return nil }
    self.init(
      Message("The database can't be used: {reason}", ["reason": .text(failure.reason)]),
      isTemporary: failure.isTemporary)
  }

  /// Returns why an instance can't be opened, or the error if it isn't about the instance.
  static func starting(_ error: any Error) -> any Error {
    if let error = StartError.translated(error) as? StartError {
      return ConfigurationError(error.message, isTemporary: error.isTemporary)
    }
    return ConfigurationError(database: error) ?? error
  }

  init(opening database: String, _ error: any Error) {
    self.init(
      Message(
        "The database {database} can't be opened: {reason}",
        ["database": .text(database), "reason": .text(OperatorText.reason(of: error))]),
      isTemporary: Self.isTemporary(error))
  }

  init(reading path: String, _ error: any Error) {
    self.init(
      Message(
        "{path} can't be read: {reason}",
        ["path": .text(path), "reason": .text(OperatorText.reason(of: error))]),
      isTemporary: Self.isTemporary(error))
  }

  init(reading path: String, of option: String, _ error: SystemError) {
    self.init(
      Message(
        "--{name} {file} can't be read: {reason}",
        ["name": .text(option), "file": .text(path), "reason": .text("\(error)")]),
      isTemporary: error.isTemporary)
  }

  init(writing path: String, _ error: any Error) {
    self.init(
      Message(
        "{path} can't be written: {reason}",
        ["path": .text(path), "reason": .text(OperatorText.reason(of: error))]),
      isTemporary: Self.isTemporary(error))
  }

  /// Returns whether an error of a database, a file, or the system is one that another attempt can
  /// solve.
  static func isTemporary(_ error: any Error) -> Bool {
    if let error = error as? DatabaseError { return error.isTemporary }
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
      Message(
        """
        This data folder was created with the {profile} profile. Add --profile {profile}, or \
        choose another folder with --data.
        """, ["profile": .text(profile.rawValue)])
    case .wrongKey:
      Message(
        """
        The master key isn't this database's, or is only one of the two keys that a rotation in \
        progress requires, so second factors and signing keys can't be read. Put the current key, \
        or both keys, back.
        """)
    case .empty:
      Message("The database is empty, so it isn't the one that belongs to the master key.")
    case .notMigrated(let names):
      Message(
        "The database lacks migrations of this version: {migrations}.",
        ["migrations": .text(names.joined(separator: ", "))])
    }
  }
}

extension CryptoError {
  var reason: String {
    switch self {
    case .failed(let text), .malformed(let text): text
    case .notAuthentic, .unknownKey, .busy:
      // Translators: Why a file can't be used as a master key.
      OperatorText.string(Message("it was changed or is damaged"))
    }
  }
}

extension Message {
  fileprivate static func newerProgramRequired(_ oldest: ProgramVersion) -> Message {
    Message(
      """
      The database requires Countersign {oldest} or newer, but this is {version}. Install a newer \
      version, or restore the backup from before the upgrade: before-upgrade-….sqlite in the data \
      folder with countersign restore, or your own backup of a PostgreSQL database.
      """,
      ["oldest": .text("\(oldest)"), "version": .text(Countersign.version)])
  }
}

extension MigrationError {
  var message: Message {
    switch self {
    case .tooOld:
      Message(
        """
        The database was last used by a version before Countersign {version}. Open it once with \
        Countersign {version}, for example with countersign migrate, and then with this version.
        """,
        ["version": .text("\(ProgramVersion.oldestUpgradable)")])
    case .changed, .unknown, .late, .foreign, .failed: .verbatim(description)
    }
  }
}

extension Translations.Warning {
  var message: Message {
    switch self {
    case .unusable(let error): .verbatim(error.description)
    case .incomplete(let file, let gaps):
      Message(
        """
        {file}: some texts are in English. Not translated: {missing}. Fuzzy: {fuzzy}. With other \
        arguments, tags, or plural forms: {differing}. Unknown: {unknown}.
        """,
        [
          "file": .text(file), "missing": .number(gaps.missing), "fuzzy": .number(gaps.fuzzy),
          "differing": .number(gaps.differing), "unknown": .number(gaps.unknown),
        ])
    }
  }
}

extension BackupFault {
  var message: Message {
    switch self {
    case .notCountersign: Message("It isn't a Countersign database, or it's empty.")
    case .damaged(let lines):
      Message("It's damaged: {faults}.", ["faults": .text(lines.joined(separator: "; "))])
    case .orphans(let tables):
      Message(
        "It's damaged: {faults}.",
        [
          "faults": .sequence(
            tables.map { Message("a row in {table} refers to a missing row", ["table": .text($0)]) }
          )
        ])
    case .migration(let error): error.message
    case .newerProgramRequired(let oldest): Message.newerProgramRequired(oldest)
    case .wrongKey:
      Message(
        """
        It was encrypted with another master key. Put the copy of master.key from the time of the \
        backup in the data folder.
        """)
    case .unreadable(let reason): Message("It can't be read: {reason}.", ["reason": .text(reason)])
    }
  }
}

extension ClockDoubt {
  var message: Message {
    let (shown, expected) = (self.shown.rfc3339Milliseconds, self.expected.rfc3339Milliseconds)
    return isBehind
      ? Message(
        """
        The system clock shows {shown}, before {expected}, the expected time. Expired data isn't \
        deleted and no email is sent until the clock is corrected, or an owner confirms that it's \
        correct.
        """,
        ["shown": .text(shown), "expected": .text(expected)])
      : Message(
        """
        The system clock shows {shown}, long after {expected}, the expected time. Expired data \
        isn't deleted and no email is sent until the clock is corrected, or an owner confirms \
        that it's correct.
        """, ["shown": .text(shown), "expected": .text(expected)])
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
          "{place}: {error}",
          ["place": .text(place), "error": .text(Terminal.excerpt(error.description))])
      ]
    case .problems(let problems):
      return problems.map { problem in
        let fault = Message.Value.message(problem.fault.message)
        let member = Message.Value.text(Terminal.excerpt(problem.member))
        return switch (problem.member.isEmpty, problem.pool) {
        case (true, _): Message("{file}: {fault}", ["file": .text(path), "fault": fault])
        case (false, nil):
          Message(
            "{file}: {member}: {fault}", ["file": .text(path), "member": member, "fault": fault])
        case (false, let pool?):
          Message(
            "{file}: {member} ({pool}): {fault}",
            [
              "file": .text(path), "member": member, "pool": .text(Terminal.excerpt(pool)),
              "fault": fault,
            ])
        }
      }
    }
  }
}

extension PolicyFileFault {
  var message: Message {
    switch self {
    case .missing: Message("is required.")
    case .unknownMember: Message("isn't a member of policy files.")
    case .wrongType(let type):
      Message("must be of type {type}.", ["type": .text(type.rawValue)])
    case .notOneOf(let values):
      Message("must be one of: {values}.", ["values": .list(values.map { .verbatim($0) })])
    case .outOfRange(let range):
      Message(
        "must be {lowest} to {highest}.",
        ["lowest": .number(range.lowerBound), "highest": .number(range.upperBound)])
    case .wrongLength(let range):
      Message(
        "must be {lowest} to {highest} bytes long.",
        ["lowest": .number(range.lowerBound), "highest": .number(range.upperBound)])
    case .invalidDay:
      Message(
        "must be a date from {first} to {last}, such as 2026-12-01.",
        ["first": .text("\(Day.first)"), "last": .text("\(Day.last)")])
    case .duplicatePool: Message("is in the file twice.")
    case .poolNotFound: Message("there's no such project or tenant.")
    case .incompleteTOTP:
      Message(
        "the pool has no TOTP configuration, so totp requires both state and adjacentIntervals.")
    case .dayWithoutMandatory: Message("mandatoryFrom requires the pattern mandatory.")
    case .otherVersion(let current):
      Message(
        """
        the policy changed since the file was exported and is now at version {version}. Export it \
        again, and repeat your edit.
        """, ["version": .number(current)])
    case .reasonRequired: Message("weakens the policy, which requires --reason.")
    case .reasonTooLong:
      Message(
        one: "the reason can have at most {count} character.",
        other: "the reason can have at most {count} characters.",
        ["count": .number(ActionRequest.longestNote)])
    case .refusalNeedsEmail:
      Message(
        """
        refuses sign-ins, but the server sends no email, so users couldn't get an enrollment link. \
        Start the server with email first, or set the mode to claim.
        """)
    case .approvalRequired:
      Message(
        """
        weakens the policy for so many users that a second administrator must approve it. Make this \
        change in the console.
        """)
    case .connected: Message("is connected, so its policy is changed at the server of its users.")
    }
  }
}

extension Grant {
  var message: Message {
    let role = Message.Value.text(role.rawValue)
    guard let project else { return Message("{role} (instance)", ["role": role]) }
    guard let tenant else {
      return Message("{role} ({project})", ["role": role, "project": .text(project.text)])
    }
    return Message(
      "{role} ({project} / {tenant})",
      ["role": role, "project": .text(project.text), "tenant": .text(tenant.text)])
  }
}
