import DatabaseSQLite
import HTTPServer
import Identity

/// What the listeners and the tasks of a server share; creating it starts nothing.
struct ServerParts: Sendable {
  let configuration: ServeConfiguration
  let environment: [String: String]
  let folder: DataFolder
  let instance: Instance
  let log: Log
  let accessLog: AccessLog?
  /// The certificate that the server uses, and the one in its file; nil for plain HTTP.
  let certificates: CertificateWatch?
  let mail: MailHealth?
  let sms: MailHealth?
  let databaseFile: OpenedDatabaseFile?
  let auditFile: AuditFileWriter?
  let readiness: Readiness
  let requests: RequestMetrics?
  let violations: ViolationReports

  init(
    _ configuration: ServeConfiguration, environment: [String: String], _ folder: DataFolder,
    _ instance: Instance, accessLog: AccessLog?, auditFile output: AuditFileOutput?, log: Log
  ) {
    self.configuration = configuration
    self.environment = environment
    self.folder = folder
    self.instance = instance
    self.log = log
    self.accessLog = accessLog
    certificates = configuration.tls.map { tls in
      CertificateWatch(path: tls.certificate, say: { log.add(.certificate($0)) })
    }
    mail = configuration.mail.map { _ in MailHealth() }
    sms = configuration.sms.map { _ in MailHealth() }
    databaseFile = OpenedDatabaseFile(folder)
    auditFile = output.map { AuditFileWriter(instance.identity, $0, log: log) }
    readiness = Readiness(
      instance.identity, folder, environment: environment,
      certificate: certificates?.served, mail: mail, auditFile: auditFile, file: databaseFile,
      isDamaged: { [database = instance.database as? SQLiteDatabase] in database?.damage != nil },
      hasSpace: { [database = instance.database] in await database.hasSpace() },
      log: log)
    requests = configuration.monitoring.metrics.map { _ in RequestMetrics() }
    violations = ViolationReports(log: log)
  }
}
