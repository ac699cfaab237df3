import Crypto
import Database
import Host
import Identity
import Localization

enum Finding: Sendable {
  case configurationValid
  case configurationInvalid([Message])
  /// Administrators can use passkeys, which are bound to the host name.
  case passkeysPossible(host: String)
  /// The address has no host name, or isn't HTTPS.
  case passkeysImpossible(address: String)
  /// The age of backups isn't watched, because the database is on a server.
  case backupsIgnored
  /// An upgrade changed what indicates MFA at the sign-in provider.
  case mfaValuesReplaced

  case clockSynchronized(KernelClock)
  /// The clock is synchronized, but may be off by more than a second.
  case clockInaccurate(KernelClock)
  case clockNotSynchronized(KernelClock)
  case clockUnknown
  case clockBehind(shown: Instant, stored: Instant)

  /// The data folder is missing, isn't a folder, or can't be read or written.
  case folderUnusable([Message])
  case databaseUnusable([Message])
  case folderPrivate
  case accessible(path: String, mode: Int, wanted: Int)
  case otherOwner(path: String, owner: Int, folderOwner: Int)
  case keyBesideBackups(folder: String)

  case spaceEnough(free: Int)
  case spaceShort(free: Int, wanted: Int)
  case upgradeBackups([String])
  case formerDatabases([String])
  /// The copies that killed inits or restores left.
  case drafts([String])
  case interruptedFiles([String])
  case unverifiedBackups([String], data: String)

  case keyMissing
  case keyInvalid([Message])
  case keyWrong
  case keysOpen(SecretSample)
  case secretsUnreadable(SecretSample)

  case schemaCurrent
  case schemaPending([String], data: String)
  case schemaUnusable(Message)
  /// The index doesn't help all searches of users.
  case searchIndex(SearchIndexFault)

  case intact
  case damaged([String])

  case serverSettingsFine
  case serverConnectionsFew(allowed: Int, wanted: Int)
  case serverMemoryShort(preparedTransactions: Int)
  /// Settings are off, without which a power failure can destroy the database.
  case serverUnsafe([String])
  case standbyAsynchronous

  case mailOff
  case mailConfigured(server: String)
  case mailWaiting(minutes: Int)
  case mailFailed(Int)

  case auditFileWritten(path: String)
  case auditFileUnwritable(path: String)
  case auditFilePosition([Message])
  case auditFileBehind(path: String, minutes: Int)
  case auditNotSealed(AuditChain.Delay)

  case plainHTTP
  case certificateValid(Certificate)
  case certificateWarning(Message)
  case certificateUnusable([Message])

  /// A connected project that isn't read, or whose credential is old.
  case connection(project: String, Message)

  case openFilesEnough(hard: Int)
  case openFilesFew(hard: Int, wanted: Int)

  /// How serious a finding is; the exit code is that of the worst one.
  enum Severity: Int32, Comparable {
    case ok = 0
    case warning = 1
    case error = 2

    static func < (a: Severity, b: Severity) -> Bool { a.rawValue < b.rawValue }
  }

  enum Check: String {
    case configuration, clock, permissions, disk, keys, schema, integrity, server, mail, certificate
    case openFiles = "open-files"
    case auditLog = "audit-log"
    case connections
  }

  var check: Check { kind.check }
  var severity: Severity { kind.severity }

  private var kind: (check: Check, severity: Severity) {
    switch self {
    case .configurationValid, .passkeysPossible, .passkeysImpossible: (.configuration, .ok)
    case .backupsIgnored, .mfaValuesReplaced: (.configuration, .warning)
    case .configurationInvalid: (.configuration, .error)
    case .clockSynchronized: (.clock, .ok)
    case .clockInaccurate, .clockNotSynchronized, .clockUnknown: (.clock, .warning)
    case .clockBehind: (.clock, .error)
    case .folderPrivate: (.permissions, .ok)
    case .folderUnusable, .accessible, .otherOwner, .keyBesideBackups: (.permissions, .error)
    case .spaceEnough: (.disk, .ok)
    case .spaceShort(let free, _): (.disk, free < Readiness.leastSpace ? .error : .warning)
    case .upgradeBackups, .formerDatabases, .drafts, .interruptedFiles, .unverifiedBackups:
      (.disk, .warning)
    case .keysOpen: (.keys, .ok)
    case .keyMissing, .keyInvalid, .keyWrong, .secretsUnreadable: (.keys, .error)
    case .schemaCurrent: (.schema, .ok)
    case .schemaPending, .searchIndex: (.schema, .warning)
    case .schemaUnusable: (.schema, .error)
    case .intact: (.integrity, .ok)
    case .damaged, .databaseUnusable: (.integrity, .error)
    case .serverSettingsFine: (.server, .ok)
    case .serverConnectionsFew, .serverMemoryShort, .standbyAsynchronous: (.server, .warning)
    case .serverUnsafe: (.server, .error)
    case .mailOff, .mailConfigured: (.mail, .ok)
    case .mailWaiting, .mailFailed: (.mail, .warning)
    case .auditFileWritten: (.auditLog, .ok)
    case .auditFileBehind: (.auditLog, .warning)
    case .auditFileUnwritable, .auditFilePosition, .auditNotSealed: (.auditLog, .error)
    case .plainHTTP, .certificateValid: (.certificate, .ok)
    case .certificateWarning: (.certificate, .warning)
    case .certificateUnusable: (.certificate, .error)
    case .connection: (.connections, .warning)
    case .openFilesEnough: (.openFiles, .ok)
    case .openFilesFew: (.openFiles, .warning)
    }
  }
}

extension Finding {
  /// The connections of a server ("node"), with room for its replacement.
  private static let connectionsOfNode = 20
  private static let otherConnections = 20
  private static let preparedTransactions = 1_000

  /// Returns a finding for each setting that isn't as docs/scaling.md says, or that all are.
  ///
  /// `nodes` is the number of servers that use the database; 0 counts as one.
  static func findings(_ settings: ServerSettings, nodes: Int) -> [Finding] {
    var found: [Finding] = []
    let wanted = Self.connectionsOfNode * max(nodes, 1) + otherConnections
    if settings.connections < wanted {
      found.append(.serverConnectionsFew(allowed: settings.connections, wanted: wanted))
    }
    if settings.preparedTransactions < preparedTransactions {
      found.append(.serverMemoryShort(preparedTransactions: settings.preparedTransactions))
    }
    if !settings.turnedOff.isEmpty { found.append(.serverUnsafe(settings.turnedOff)) }
    if settings.losesOnFailover { found.append(.standbyAsynchronous) }
    return found.isEmpty ? [.serverSettingsFine] : found
  }
}
