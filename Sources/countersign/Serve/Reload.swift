import Glibc
import HTTPServer

/// A handler for SIGHUP, which would otherwise end the process.
struct ReloadSignal: Sendable {
  fileprivate let signals = AsyncStream.signals([SIGHUP])
}

/// Reopens the access log and reloads the TLS certificate on SIGHUP.
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

  /// Stops handling the signal.
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
          "SIGHUP: the access log couldn't be reopened; the previous file stays in use. \(error)")
      }
    }
    if let certificates {
      do throws(ServerError) {
        try await server.reloadCertificate()
        done.append("reloaded the TLS certificate")
      } catch {
        Terminal.complain(
          "SIGHUP: the TLS certificate couldn't be reloaded; the previous one stays in use. "
            + "\(error)")
      }
      certificates.check()
    }
    if !done.isEmpty { Terminal.complain("SIGHUP: \(done.joined(separator: ", ")).") }
  }
}
