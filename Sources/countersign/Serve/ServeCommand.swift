import Crypto
import Database
import DatabaseSQLite
import Foundation
import HTTPServer
import Identity
import Localization

/// Serves the console and the API until SIGTERM or SIGINT.
enum ServeCommand: Command {
  static let name = "serve"
  static let summary = Message("serves the console and the API")
  static let options = ServeConfiguration.options

  /// How long the server stops at most, apart from the drain delay: requests in progress, messages
  /// that are being sent, and the audit file.
  private static let longestStop = Duration.seconds(25)

  static func run(_ arguments: Arguments) async -> Int32 {
    let log = Log(MonitoringConfiguration.logFormat(arguments))
    do { return try await serve(arguments, log) } catch {
      let failure = CommandFailure(error, of: name)
      for problem in failure.problems { log.add(.server(.failed(problem))) }
      return failure.exitCode
    }
  }

  private static func serve(_ arguments: Arguments, _ log: Log) async throws -> Int32 {
    let environment = ProcessInfo.processInfo.environment
    var configuration = try ServeConfiguration(arguments, environment: environment)
    let manager = ServiceManager(environment: environment)
    let folder = DataFolder(path: configuration.data, location: configuration.database)
    let creates = try prepare(folder, configuration)
    // Migrations of a large database take longer than a service manager waits.
    let starting = Task { await manager?.keepStarting() }
    defer { starting.cancel() }
    let lock = try await folder.waitForServerLock()
    let auditFile = try configuration.auditFile.map { try AuditFileOutput($0, in: folder) }
    let instance = try await open(
      folder, creates: creates, holding: lock, configuration, environment, log)
    do { try await auditFile?.mustNotBeAhead(of: instance.identity, in: folder) } catch {
      await instance.database.close()
      throw error
    }
    if let created = try await instance.identity.creationTime() {
      configuration.backups?.created = created
    }
    let greeting = try await DemoGreeting.create(configuration, instance)
    let accessLog = try accessLog(configuration.accessLog)
    let (stop, reloads) = (StopSignal(), ReloadSignal())
    let parts = ServerParts(
      configuration, environment: environment, folder, instance, accessLog: accessLog,
      auditFile: auditFile, log: log)
    let listeners = try await Listeners(parts)
    parts.certificates?.check()
    let reload = Reload(
      reloads, listeners.server, accessLog: accessLog, auditFile: auditFile,
      certificates: parts.certificates,
      tls: TLSFiles(configuration.tls), log: log, manager: manager)
    let watches = FileWatches(parts)
    try await greet(parts, listeners)
    greeting?.say(at: "\(listeners.application.publicURL)")
    let tasks = try await ServerTasks(parts)
    starting.cancel()
    await starting.value
    manager?.report(.ready)
    let signsOfLife = Task { await manager?.keepAlive() }

    await stop.wait()
    let drain = configuration.monitoring.drainDelay
    manager?.report(.stopping(within: .seconds(drain) + Self.longestStop))
    await self.drain(for: drain, parts.readiness, stop, log)
    watches.cancel()
    await reload.stop()
    await listeners.stop()
    await tasks.stop()
    await close(parts)
    lock.release()
    signsOfLife.cancel()
    return 0
  }

  /// Creates the data folder if it's missing, where the server may.
  ///
  /// Demos and loopback emulators create their data; other instances come from countersign init.
  ///
  /// - Returns: Whether the server creates the instance.
  private static func prepare(
    _ folder: DataFolder, _ configuration: ServeConfiguration
  ) throws -> Bool {
    if configuration.demo != nil { try folder.mustBeEmpty() }
    let mayCreate = configuration.demo != nil || configuration.isLoopbackEmulator
    let creates = mayCreate && folder.isVacant
    if !creates { try folder.mustExistAsFolder() }
    try folder.prepare()
    return creates
  }

  /// Finishes what other commands left in the folder, and opens the instance, or creates it.
  private static func open(
    _ folder: DataFolder, creates: Bool, holding lock: FolderLock,
    _ configuration: ServeConfiguration, _ environment: [String: String], _ log: Log
  ) async throws -> Instance {
    var creates = creates
    let say: @Sendable (Message) -> Void = { log.add(.server(.preparing($0))) }
    if !folder.isOnServer {
      try folder.finishCreation(holding: lock, say: say)
      if creates, folder.isVacant {
        try await NewInstance(data: folder.path).create(
          assets: configuration.assets, profile: configuration.profile, environment: environment)
      }
      creates = false
      try folder.finishRestore(holding: lock, say: say)
    }
    if !creates { try folder.mustHoldInstance() }
    do {
      let instance = try await Instance.open(
        folder, assets: configuration.assets, profile: configuration.profile,
        defaultProject: ID(configuration.defaultProject),
        carriesMail: configuration.mail != nil, carriesText: configuration.sms != nil,
        smsLimits: configuration.smsLimits,
        providerTransport: ProviderClient(configuration.outbound),
        remoteClients: configuration.outbound.remoteClients,
        creates: creates, backup: configuration.upgradeBackup,
        environment: environment, say: say)
      if let upgrade = instance.upgrade { log.add(.server(.upgraded(upgrade))) }
      guard try await instance.identity.nodes.report(folder.keyPlace(environment: environment))
      else { throw StartError.wrongKey }
      // Must run before anything is deleted because of its age.
      if let doubt = try await instance.identity.checkClock() {
        log.add(.clockDoubted(doubt))
      }
      if try await Identity.searchIndexFaults(of: instance.database).contains(.missing) {
        log.add(.searchIndexMissing)
      }
      instance.database.tellSlowUse { log.add(.databaseSlow($0)) }
      return instance
    } catch {
      throw ConfigurationError.starting(error)
    }
  }

  private static func close(_ parts: ServerParts) async {
    let statistics = parts.instance.database.statistics
    await parts.instance.database.close()
    parts.accessLog?.close()
    parts.log.reportSuppressed(untilNow: true)
    parts.log.add(.server(.stopped(statistics)))
  }

  /// Serves requests for a while, but reports that the server isn't ready, so that load balancers
  /// choose another; a second signal ends the wait.
  private static func drain(
    for seconds: Int, _ readiness: Readiness, _ stop: StopSignal, _ log: Log
  ) async {
    await readiness.drain()
    guard seconds > 0 else { return }
    log.add(.server(.draining(seconds: seconds)))
    await withTaskGroup { group in
      group.addTask { try? await Task.sleep(for: .seconds(seconds)) }
      group.addTask { await stop.wait() }
      await group.next()
      group.cancelAll()
    }
  }

  private static func greet(_ parts: ServerParts, _ listeners: Listeners) async throws {
    let (configuration, log) = (parts.configuration, parts.log)
    let url = "\(listeners.application.publicURL)"
    log.add(
      .server(
        .started(version: Countersign.version, profile: configuration.profile, url: url)))
    log.add(.server(.dataFolder(configuration.data)))
    if let metrics = listeners.metrics { log.add(.server(.metrics(url: metrics.url))) }
    if configuration.profile == .emulator {
      let host = String(url.drop { $0 != "/" }.drop { $0 == "/" })
      log.add(.server(.emulator(project: configuration.defaultProject, host: host)))
    }
    if let code = try await parts.instance.identity.setup.issueCode() {
      log.add(.server(.setupCode(url: url, code: code.revealedText)))
    }
  }

  private static func accessLog(_ place: String) throws(ConfigurationError) -> AccessLog? {
    guard place != "none" else { return nil }
    do throws(ServerError) {
      return place == "-"
        ? try AccessLog(fileDescriptor: FileHandle.standardOutput.fileDescriptor)
        : try AccessLog(path: place)
    } catch {
      throw ConfigurationError(
        Message(
          "The access log {place} can't be written. {reason}",
          ["place": .text(place), "reason": .text("\(error)")]), isTemporary: error.isTemporary)
    }
  }
}

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

/// The tasks that use the database: housekeeping, deliveries of messages, and the audit file.
struct ServerTasks: Sendable {
  private let housekeeping: Housekeeping
  private let deliveries: [Delivery]
  private let auditFile: AuditFileWriter?
  private let watches: [Task<Void, Never>]

  /// Starts the tasks, after finding out whether this server does those that one of several does.
  init(_ parts: ServerParts) async throws {
    let identity = parts.instance.identity
    try await identity.taskLease.renew()
    housekeeping = Housekeeping(
      identity,
      keeper: KeyRotationTask(
        parts.instance, parts.folder, environment: parts.environment, log: parts.log),
      integrity: IntegrityWatch(parts.instance, log: parts.log), file: parts.databaseFile,
      place: parts.folder.keyPlace(environment: parts.environment), log: parts.log)
    deliveries = Delivery.all(
      of: parts.configuration, identity, mail: parts.mail, sms: parts.sms, log: parts.log)
    auditFile = parts.auditFile
    await auditFile?.start()
    let (database, log) = (parts.instance.database, parts.log)
    watches = [
      Task { [readiness = parts.readiness] in await readiness.watch() },
      Task {
        // What began during the longer pause has been running for a second at most.
        while await slept(database.isRunning ? .milliseconds(250) : .seconds(1)) {
          if let use = database.tellRunning() { log.add(.databaseSlow(use)) }
        }
      },
    ]
  }

  /// Stops the tasks, and then lets another server do those of one.
  ///
  /// The audit file ends last, since the others add entries.
  func stop() async {
    for watch in watches { watch.cancel() }
    for watch in watches { await watch.value }
    await Delivery.stop(deliveries)
    await housekeeping.stop()
    await auditFile?.finish()
    await housekeeping.release()
  }
}
