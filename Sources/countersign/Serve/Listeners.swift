import Console
import HTTP
import HTTPServer
import Identity
import IdentityToolkitAPI
import Localization

/// The sockets of a server: that of the console and the API, and that of metrics.
struct Listeners: Sendable {
  let application: Application
  let server: HTTPServer
  let metrics: MetricsServer?

  /// Starts listening; closes the database if that fails.
  ///
  /// - Throws: ``ConfigurationError``.
  init(_ parts: ServerParts) async throws {
    do {
      (application, server) = try Self.start(parts)
      try await parts.instance.identity.messages.recordServer(at: application.publicURL.origin)
      parts.certificates?.noteServed()
      metrics = try Self.metrics(parts, server)
    } catch {
      await parts.instance.database.close()
      throw Self.configurationError(error, TLSFiles(parts.configuration.tls))
    }
  }

  /// Ends them, after requests in progress, up to a limit.
  func stop() async {
    await server.stop(grace: .seconds(10))
    await metrics?.stop()
  }

  private static func start(_ parts: ServerParts) throws -> (Application, HTTPServer) {
    let configuration = parts.configuration
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
      log: parts.accessLog,
      observe: parts.requests?.observer,
      failure: { status, target, id in late.failure(status, target, id) },
      refusal: { request in await late.refusal(ofLarge: request) },
      handler: { request in await late.respond(to: request) })
    if let warning = NetworkConfiguration.warning(
      wanted: limits.connections, allowed: server.connectionLimit)
    {
      parts.log.add(.server(.connectionsLimited(warning)))
    }
    // After listening: with port 0, the console's address is known only now.
    let application = try Application(
      identity: parts.instance.identity, readiness: parts.readiness, violations: parts.violations,
      publicURL: configuration.address(port: server.port),
      assets: configuration.assets, catalogs: parts.instance.catalogs,
      anyHost: configuration.emulatorBeyondLoopback,
      origins: configuration.network.emulatorOrigins, limit: configuration.network.poolRequests,
      pseudoLocale: configuration.pseudoLocale, log: parts.log)
    parts.requests?.declare(application.routeLabels)
    late.set(application)
    return (application, server)
  }

  private static func metrics(
    _ parts: ServerParts, _ server: HTTPServer
  ) throws -> MetricsServer? {
    guard let requests = parts.requests,
      let address = parts.configuration.monitoring.metrics
    else { return nil }
    return try MetricsServer(
      host: address.host, port: address.port,
      ServerMetrics(
        instance: parts.instance, folder: parts.folder, server: server, requests: requests,
        violations: parts.violations, limit: parts.configuration.network.poolRequests,
        readiness: parts.readiness, certificate: parts.certificates?.served,
        mail: parts.mail, sms: parts.sms,
        remoteCalls: parts.configuration.outbound.remoteCalls, backups: parts.configuration.backups,
        accessLog: parts.accessLog, auditFile: parts.auditFile, log: parts.log,
        measurements: LastKnown { [identity = parts.instance.identity] in
          try? await identity.measurements()
        }))
  }

  private static func configurationError(_ error: any Error, _ tls: TLSFiles) -> ConfigurationError
  {
    switch ConfigurationError.starting(error) {
    case let error as ConfigurationError: error
    case let error as ServerError: tls.reason(for: error)
    default:
      ConfigurationError(
        .verbatim("\(error)"), isTemporary: ConfigurationError.isTemporary(error))
    }
  }
}
