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

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let environment = ProcessInfo.processInfo.environment
    let configuration = try ServeConfiguration(arguments, environment: environment)
    let manager = ServiceManager(environment: environment)
    let folder = DataFolder(path: configuration.data)
    if configuration.demo != nil { try folder.mustBeEmpty() }
    // Demos and loopback emulators create their data; other instances come from countersign init.
    let mayCreate = configuration.demo != nil || configuration.isLoopbackEmulator
    let creates = mayCreate && folder.isVacant
    if !creates { try folder.mustExistAsFolder() }
    try folder.prepare()
    let lock = try folder.lock()
    if !creates {
      try folder.finishRestore(holding: lock)
      try folder.mustHoldInstance()
    }
    let instance: Instance
    do {
      instance = try await Instance.open(
        folder, assets: configuration.assets, profile: configuration.profile,
        defaultProject: ID(configuration.defaultProject),
        carriesMail: configuration.mail != nil, smsLimits: configuration.sms?.limits,
        creates: creates, backup: configuration.upgradeBackup,
        environment: ProcessInfo.processInfo.environment)
      try await instance.identity.messages.recordCarriesMail()
      // Must run before anything is deleted because of its age.
      if let doubt = try await instance.identity.clockGuard.check() {
        Terminal.complain(doubt.message)
      }
    } catch let error as StartError {
      throw ConfigurationError(error.message)
    }
    try configuration.auditHeads?.create()
    let demo = try await DemoGreeting.create(configuration, instance)
    let log = try accessLog(configuration.accessLog)
    let (stop, reloads) = (StopSignal(), ReloadSignal())
    let application: Application
    let server: HTTPServer
    do {
      (application, server) = try start(configuration, instance, folder, log: log)
    } catch {
      await instance.database.close()
      if let error = error as? ConfigurationError { throw error }
      throw ConfigurationError(.verbatim("\(error)"))
    }
    let certificates = configuration.tls.map { CertificateWatch(path: $0.certificate) }
    certificates?.check()
    let reload = Reload(reloads, server, log: log, certificates: certificates, manager: manager)
    let watch = Task { await certificates?.run() }
    let backups = configuration.backups.map { backups in Task { await backups.run() } }
    let policyFile = configuration.policyFile.map { path in
      let watch = PolicyFileWatch(path: path, policies: instance.identity.policies)
      return Task { await watch.run() }
    }
    try await greet(configuration, instance, application)
    demo?.say(at: "\(application.publicURL)")
    let housekeeping = Housekeeping(
      instance.identity,
      keeper: KeyRotationTask(instance, folder, environment: ProcessInfo.processInfo.environment),
      integrity: IntegrityWatch(instance), auditHeads: configuration.auditHeads)
    let deliveries = Delivery.all(of: configuration, instance.identity)
    manager?.report(.ready)
    let signsOfLife = Task { await manager?.keepAlive() }
    await stop.wait()
    manager?.report(.stopping)
    watch.cancel()
    backups?.cancel()
    policyFile?.cancel()
    await reload.stop()
    await server.stop(grace: .seconds(10))
    for delivery in deliveries { await delivery.stop() }
    await housekeeping.stop()
    let statistics = instance.database.statistics
    await instance.database.close()
    log?.close()
    Terminal.complain(
      Message(
        "cli.stopped-reads-writes-in-commits",
        [
          "reads": .text("\(statistics.reads)"), "writes": .text("\(statistics.writes)"),
          "commits": .text("\(statistics.commits)"),
        ]))
    try? lock.close()
    signsOfLife.cancel()
    return 0
  }

  private static func start(
    _ configuration: ServeConfiguration, _ instance: Instance, _ folder: DataFolder,
    log: AccessLog?
  ) throws -> (Application, HTTPServer) {
    let late = LateApplication()
    var limits = Limits()
    configuration.network.apply(to: &limits)
    limits.body = { Console.bodyLimit($0) ?? IdentityToolkitAPI.bodyLimit($0) }
    let server = try HTTPServer(
      ServerConfiguration(
        host: configuration.host, port: configuration.port, limits: limits, tls: configuration.tls,
        trustedProxies: configuration.network.trustedProxies),
      log: log,
      failure: { status, target, id in late.failure(status, target, id) },
      handler: { request in await late.respond(to: request) })
    if let warning = NetworkConfiguration.warning(
      wanted: limits.connections, allowed: server.connectionLimit)
    {
      Terminal.complain(warning)
    }
    // After listening: with port 0, the console's address is known only now.
    let application = try Application(
      identity: instance.identity,
      readiness: Readiness(
        instance.identity, folder, environment: ProcessInfo.processInfo.environment),
      publicURL: configuration.address(port: server.port),
      assets: configuration.assets, catalogs: instance.catalogs,
      anyHost: configuration.emulatorBeyondLoopback,
      origins: configuration.network.emulatorOrigins,
      pseudoLocale: configuration.pseudoLocale, isDemo: configuration.demo != nil)
    late.set(application)
    return (application, server)
  }

  private static func greet(
    _ configuration: ServeConfiguration, _ instance: Instance, _ application: Application
  ) async throws {
    let url = application.publicURL
    Terminal.say(
      Message(
        "cli.countersign-serves",
        [
          "version": .text(Countersign.version), "profile": .text(configuration.profile.rawValue),
          "url": .text("\(url)"),
        ]))
    Terminal.say(Message("cli.data-folder-keep-a-copy-of", ["folder": .text(configuration.data)]))
    if configuration.profile == .emulator {
      let host = String("\(url)".drop { $0 != "/" }.drop { $0 == "/" })
      Terminal.say(
        Message(
          "cli.emulator-for-project-firebase-auth",
          ["defaultProject": .text(configuration.defaultProject), "host": .text(host)]))
    }
    if let code = try await instance.identity.setup.issueCode() {
      Terminal.say(
        Message(
          "cli.no-owner-yet-open-setup-and",
          ["url": .text("\(url)"), "code": .text(code.revealedText)]))
    }
  }

  private static func accessLog(_ place: String) throws(ConfigurationError) -> AccessLog? {
    switch place {
    case "none": return nil
    case "-": return AccessLog(fileDescriptor: FileHandle.standardOutput.fileDescriptor)
    default:
      do throws(ServerError) { return try AccessLog(path: place) } catch {
        throw ConfigurationError(
          Message(
            "cli.the-access-log-cant-be-written",
            ["place": .text(place), "reason": .text("\(error)")]))
      }
    }
  }
}
