import Console
import Crypto
import Database
import DatabaseSQLite
import Foundation
import HTTP
import HTTPServer
import Identity
import IdentityToolkitAPI
import Localization

/// Serves the console and the API until SIGTERM or SIGINT.
enum ServeCommand: Command {
  static let name = "serve"
  static let summary = Message("cli.summary-serves-the-console-and-the-api")
  static let options = ServeConfiguration.options

  /// How long the server stops at most, apart from the drain delay: requests in progress, messages
  /// that are being sent, and event streams.
  private static let longestStop = Duration.seconds(25)

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let environment = ProcessInfo.processInfo.environment
    let configuration = try ServeConfiguration(arguments, environment: environment)
    let manager = ServiceManager(environment: environment)
    let log = Log(configuration.monitoring.logFormat)
    var replica = configuration.replica
    replica?.report = { log.add(.replica($0)) }
    let folder = DataFolder(
      path: configuration.data, location: configuration.database, replica: replica)
    if configuration.demo != nil { try folder.mustBeEmpty() }
    // Demos and loopback emulators create their data; other instances come from countersign init.
    let mayCreate = configuration.demo != nil || configuration.isLoopbackEmulator
    var creates = mayCreate && folder.isVacant
    if !creates { try folder.mustExistAsFolder() }
    try folder.prepare()
    // Migrations of a large database take longer than a service manager waits.
    let starting = Task { await manager?.keepStarting() }
    defer { starting.cancel() }
    let lock = try await folder.waitForServerLock()
    if !folder.isOnServer {
      try folder.finishCreation(holding: lock)
      if creates, folder.isVacant {
        try await NewInstance(data: folder.path).create(
          assets: configuration.assets, profile: configuration.profile, environment: environment)
      }
      creates = false
      try folder.finishRestore(holding: lock)
    }
    if !creates { try folder.mustHoldInstance() }
    let instance: Instance
    do {
      instance = try await Instance.open(
        folder, assets: configuration.assets, profile: configuration.profile,
        defaultProject: ID(configuration.defaultProject),
        carriesMail: configuration.mail != nil, smsLimits: configuration.sms?.limits,
        providerTransport: ProviderClient(configuration.outbound),
        creates: creates, backup: configuration.upgradeBackup,
        environment: environment)
      // Must run before anything is deleted because of its age.
      if let doubt = try await instance.identity.checkClock() {
        log.add(.clockDoubted(doubt))
      }
      if try await Identity.lacksSearchIndex(of: instance.database) { log.add(.searchIndexMissing) }
    } catch let error as StartError {
      throw ConfigurationError(error)
    }
    try configuration.auditHeads?.create()
    let (greeting, isDemo) = try await DemoGreeting.create(configuration, instance)
    let accessLog = try accessLog(configuration.accessLog)
    let (stop, reloads) = (StopSignal(), ReloadSignal())
    let certificates = configuration.tls.map { tls in
      CertificateWatch(path: tls.certificate, say: { log.add(.certificate($0)) })
    }
    let mail = configuration.mail.map { _ in MailHealth() }
    let sms = configuration.sms.map { _ in MailHealth() }
    let file = OpenedDatabaseFile(folder)
    let auditHeads = AuditHeadExport(to: configuration.auditHeads, log: log)
    let readiness = Readiness(
      instance.identity, folder, environment: environment,
      certificate: certificates?.served, mail: mail, auditHeads: auditHeads, file: file,
      hasSpace: { [database = instance.database] in await database.hasSpace() })
    let requests = configuration.monitoring.metrics.map { _ in RequestMetrics() }
    let violations = ViolationReports(log: log)
    let application: Application
    let server: HTTPServer
    let metrics: MetricsServer?
    do {
      (application, server) = try start(
        configuration, instance, readiness, violations, isDemo: isDemo, requests: requests,
        accessLog: accessLog, log: log)
      try await instance.identity.messages.recordServer(at: application.publicURL.origin)
      certificates?.noteServed()
      metrics = try requests.flatMap { requests in
        try configuration.monitoring.metrics.map { address in
          try MetricsServer(
            host: address.host, port: address.port,
            ServerMetrics(
              instance: instance, folder: folder, server: server, requests: requests,
              violations: violations, limit: configuration.network.poolRequests,
              readiness: readiness, certificate: certificates?.served,
              mail: mail, sms: sms, backups: configuration.backups,
              accessLog: accessLog, log: log))
        }
      }
    } catch {
      await instance.database.close()
      if let error = error as? ConfigurationError { throw error }
      if let error = error as? StartError { throw ConfigurationError(error) }
      guard let error = error as? ServerError else {
        throw ConfigurationError(
          .verbatim("\(error)"), isTemporary: ConfigurationError.isTemporary(error))
      }
      throw TLSFiles(configuration.tls).reason(for: error)
    }
    certificates?.check()
    let reload = Reload(
      reloads, server, accessLog: accessLog, certificates: certificates,
      tls: TLSFiles(configuration.tls), log: log, manager: manager)
    let watch = Task { await certificates?.run() }
    let backups = configuration.backups.map { watch in
      var watch = watch
      watch.say = { log.add(.backup($0)) }
      return Task { [watch] in await watch.run() }
    }
    if configuration.ignoresBackups { log.add(.backup(Message("cli.backups-are-ignored"))) }
    let policyFile = configuration.policyFile.map { path in
      let watch = PolicyFileWatch(
        path: path, policies: instance.identity.policies, say: { log.add($0) })
      return Task { await watch.run() }
    }
    try await greet(configuration, instance, application, metrics, log)
    greeting?.say(at: "\(application.publicURL)")
    try await instance.identity.taskLease.renew()
    let housekeeping = Housekeeping(
      instance.identity,
      keeper: KeyRotationTask(instance, folder, environment: environment, log: log),
      integrity: IntegrityWatch(instance, log: log), file: file,
      auditHeads: auditHeads, log: log)
    let deliveries = Delivery.all(
      of: configuration, instance.identity, mail: mail, sms: sms, log: log)
    let events = EventStreaming(instance.identity, configuration, log: log)
    let streaming = Task { await events.run() }
    starting.cancel()
    await starting.value
    manager?.report(.ready)
    let signsOfLife = Task { await manager?.keepAlive() }
    await stop.wait()
    let drain = configuration.monitoring.drainDelay
    manager?.report(.stopping(within: .seconds(drain) + Self.longestStop))
    await self.drain(for: drain, readiness, stop, log)
    watch.cancel()
    backups?.cancel()
    policyFile?.cancel()
    await reload.stop()
    await server.stop(grace: .seconds(10))
    await metrics?.stop()
    for delivery in deliveries { await delivery.stop() }
    await housekeeping.stop()
    streaming.cancel()
    await streaming.value
    await events.finish()
    await housekeeping.release()
    let statistics = instance.database.statistics
    await instance.database.close()
    accessLog?.close()
    log.reportSuppressed(untilNow: true)
    log.add(.server(.stopped(statistics)))
    lock.release()
    signsOfLife.cancel()
    return 0
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

  private static func start(
    _ configuration: ServeConfiguration, _ instance: Instance, _ readiness: Readiness,
    _ violations: ViolationReports, isDemo: Bool, requests: RequestMetrics?,
    accessLog: AccessLog?, log: Log
  ) throws -> (Application, HTTPServer) {
    let late = LateApplication()
    var limits = Limits()
    configuration.network.apply(to: &limits)
    limits.body = {
      ViolationReports.bodyLimit($0) ?? Console.bodyLimit($0) ?? IdentityToolkitAPI.bodyLimit($0)
    }
    let server = try HTTPServer(
      ServerConfiguration(
        host: configuration.host, port: configuration.port, limits: limits, tls: configuration.tls,
        trustedProxies: configuration.network.trustedProxies),
      log: accessLog,
      observe: requests?.observer,
      failure: { status, target, id in late.failure(status, target, id) },
      handler: { request in await late.respond(to: request) })
    if let warning = NetworkConfiguration.warning(
      wanted: limits.connections, allowed: server.connectionLimit)
    {
      log.add(.server(.connectionsLimited(warning)))
    }
    // After listening: with port 0, the console's address is known only now.
    let application = try Application(
      identity: instance.identity, readiness: readiness, violations: violations,
      publicURL: configuration.address(port: server.port),
      assets: configuration.assets, catalogs: instance.catalogs,
      anyHost: configuration.emulatorBeyondLoopback,
      origins: configuration.network.emulatorOrigins, limit: configuration.network.poolRequests,
      pseudoLocale: configuration.pseudoLocale, isDemo: isDemo, log: log)
    requests?.declare(application.routeLabels)
    late.set(application)
    return (application, server)
  }

  private static func greet(
    _ configuration: ServeConfiguration, _ instance: Instance, _ application: Application,
    _ metrics: MetricsServer?, _ log: Log
  ) async throws {
    let url = "\(application.publicURL)"
    log.add(
      .server(
        .started(version: Countersign.version, profile: configuration.profile, url: url)))
    log.add(.server(.dataFolder(configuration.data)))
    if let metrics { log.add(.server(.metrics(url: metrics.url))) }
    if configuration.profile == .emulator {
      let host = String(url.drop { $0 != "/" }.drop { $0 == "/" })
      log.add(.server(.emulator(project: configuration.defaultProject, host: host)))
    }
    if let code = try await instance.identity.setup.issueCode() {
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
          "cli.the-access-log-cant-be-written",
          ["place": .text(place), "reason": .text("\(error)")]), isTemporary: error.isTemporary)
    }
  }
}
