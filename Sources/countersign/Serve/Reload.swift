import Glibc
import HTTPServer
import Localization

/// A handler for SIGHUP, which would otherwise end the process.
struct ReloadSignal: Sendable {
  fileprivate let signals = AsyncStream.signals([SIGHUP])
}

/// Reopens the access log and reloads the TLS certificate on SIGHUP.
struct Reload: Sendable {
  private let task: Task<Void, Never>

  init(
    _ signal: ReloadSignal, _ server: HTTPServer, log: AccessLog?, certificates: CertificateWatch?,
    manager: ServiceManager?
  ) {
    task = Task {
      for await _ in signal.signals {
        manager?.report(.reloading)
        await Self.reload(server, log: log, certificates: certificates)
        manager?.report(.ready)
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
    var done: [Message] = []
    if let log {
      do throws(ServerError) {
        try log.reopen()
        done.append(Message("cli.reopened-the-access-log"))
      } catch {
        Terminal.complain(
          Message("cli.sighup-the-access-log-couldnt-be", ["reason": .text("\(error)")]))
      }
    }
    if let certificates {
      do throws(ServerError) {
        try await server.reloadCertificate()
        done.append(Message("cli.reloaded-the-tls-certificate"))
      } catch {
        Terminal.complain(
          Message("cli.sighup-the-tls-certificate-couldnt-be", ["reason": .text("\(error)")]))
      }
      certificates.check()
    }
    if !done.isEmpty { Terminal.complain(Message("cli.sighup-done", ["done": .sequence(done)])) }
  }
}
