import Glibc
import HTTPServer

/// SIGHUP, which would end the process if nobody listened to it.
struct ReloadSignal: Sendable {
  fileprivate let signals = AsyncStream.signals([SIGHUP])
}

/// Takes up a moved access log and a renewed certificate on SIGHUP, while the server runs.
struct Reload: Sendable {
  private let task: Task<Void, Never>

  init(
    _ signal: ReloadSignal, _ server: HTTPServer, log: AccessLog?, certificates: CertificateWatch?
  ) {
    task = Task {
      for await _ in signal.signals {
        await Self.reload(server, log: log, certificates: certificates)
      }
    }
  }

  /// Ends it.
  func stop() async {
    task.cancel()
    await task.value
  }

  private static func reload(
    _ server: HTTPServer, log: AccessLog?, certificates: CertificateWatch?
  ) async {
    var done: [String] = []
    if let log {
      do throws(ServerError) {
        try log.reopen()
        done.append("reopened the access log")
      } catch {
        Terminal.complain(
          "SIGHUP: the access log wasn't reopened, the former file is used. \(error)")
      }
    }
    if let certificates {
      do throws(ServerError) {
        try await server.reloadCertificate()
        done.append("reloaded the TLS certificate")
      } catch {
        Terminal.complain(
          "SIGHUP: the TLS certificate wasn't reloaded, the former one is used. \(error)")
      }
      certificates.check()
    }
    if !done.isEmpty { Terminal.complain("SIGHUP: \(done.joined(separator: ", ")).") }
  }
}
