import Database
import HTTP
import Identity
import Localization

enum LogEvent: Sendable {
  case server(ServerEvent)

  case reloaded([Message])
  case accessLogNotReopened(reason: String)
  case certificateNotReloaded(reason: String)
  case certificate(Message)
  case policyFile(Message)
  case policyFileUnusable(Message)

  case readiness(Readiness.State)
  case clockDoubted(ClockDoubt)
  case clockTrusted
  /// It's ahead of the steady clock by this much more than before, or less if it's negative.
  case clockJumped(Duration)
  case databaseClockDiffers(seconds: Int64)
  case databaseClockAgrees
  case searchIndexMissing
  case masterKeyRotated
  /// The file has other keys than the database's.
  case masterKeyRefused(path: String)
  case previousMasterKeyRemovable(variable: String)
  case previousMasterKeyRemoved

  case deliveryFailed(OutboxEntry.Channel, reason: String)
  case deliveryPaused(OutboxEntry.Channel, server: String, reason: String)
  case deliveryResumed(OutboxEntry.Channel)

  /// A connected project isn't read, or is again.
  case connection(ProjectConnection)

  case auditFault(Message)
  case auditNotSealed(AuditChain.Delay)
  case auditSealed
  case auditFileNotWritten(path: String, reason: String)
  case auditFileWritten(path: String)
  case backup(Message)
  case integrityCheckTooLong
  case databaseDamaged([String])
  /// Another file, or none, is where the database was opened.
  case databaseFileLost(path: String)
  case databaseFileFound(path: String)
  case databaseSlow(SlowUse)
  /// This server does the tasks that one of several does.
  case tasksTaken
  case tasksLost

  case request(RequestID, RequestEvent)
  case pageViolation(ViolationReport)
  case taskFailed(BackgroundTask, reason: String)
  case suppressed(event: String, count: Int)
}

enum ServerEvent: Sendable {
  /// Something that precedes the start, such as a migration.
  case preparing(Message)
  case upgraded(UpgradeReport)
  case failed(Message)
  case started(version: String, profile: Profile, url: String)
  case dataFolder(String)
  case emulator(project: String, host: String)
  /// The one secret that is logged: it's for the person who starts the server.
  case setupCode(url: String, code: String)
  case metrics(url: String)
  case connectionsLimited(Message)
  case draining(seconds: Int)
  case stopped(DatabaseStatistics)
}

enum BackgroundTask: String, Sendable {
  case watchClock = "watch-clock"
  case deleteExpired = "delete-expired"
  case purge
  case indexAuditLog = "index-audit-log"
  case indexUsers = "index-users"
  case foldActivity = "fold-activity"
  case watchActivity = "watch-activity"
  case deleteCodeAttempts = "delete-code-attempts"
  case bulkRemovals = "bulk-removals"
  case readConnections = "read-connections"
  case createEvidenceKey = "create-evidence-key"
  case loadKeys = "load-keys"
  case sealAuditLog = "seal-audit-log"
  case writeAuditFile = "write-audit-file"
  case deleteAuditEntries = "delete-audit-entries"
  case checkIntegrity = "check-integrity"
  case recordUses = "record-uses"
  case renewLease = "renew-lease"
}

enum LogLevel: String, Sendable, CaseIterable {
  case info
  /// Something needs attention, but requests are served.
  case warning
  case error
}
