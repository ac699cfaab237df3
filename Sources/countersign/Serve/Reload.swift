import Glibc
import HTTPServer
import Localization

/// A handler for SIGHUP, which would otherwise end the process.
struct ReloadSignal: Sendable {
  fileprivate let signals = AsyncStream.signals([SIGHUP])
}

/// Reopens the access log and the audit file, and reloads the TLS certificate, on SIGHUP.
struct Reload: Sendable {
  private let task: Task<Void, Never>

  init(
    _ signal: ReloadSignal, _ server: HTTPServer, accessLog: AccessLog?,
    auditFile: AuditFileOutput?, certificates: CertificateWatch?, tls: TLSFiles, log: Log,
    manager: ServiceManager?
  ) {
    task = Task {
      for await _ in signal.signals {
        manager?.report(.reloading)
        await Self.reload(server, accessLog, auditFile, certificates, tls, log)
        manager?.report(.ready)
      }
    }
  }

  func stop() async {
    task.cancel()
    await task.value
  }

  private static func reload(
    _ server: HTTPServer, _ accessLog: AccessLog?, _ auditFile: AuditFileOutput?,
    _ certificates: CertificateWatch?, _ tls: TLSFiles, _ log: Log
  ) async {
    var done: [Message] = []
    if let accessLog {
      do throws(ServerError) {
        try accessLog.reopen()
        done.append(Message("reopened the access log"))
      } catch {
        log.add(.accessLogNotReopened(reason: "\(error)"))
      }
    }
    if let auditFile, !auditFile.isStandardOutput {
      do throws(ConfigurationError) {
        try await auditFile.reopen()
        done.append(Message("reopened the audit file"))
      } catch {
        log.add(.auditFileNotWritten(path: auditFile.path, reason: "\(error)"))
      }
    }
    if let certificates {
      do throws(ServerError) {
        try await server.reloadCertificate()
        certificates.noteServed()
        done.append(Message("reloaded the TLS certificate"))
      } catch {
        log.add(.certificateNotReloaded(reason: "\(tls.reason(for: error))"))
      }
      certificates.check()
    }
    if !done.isEmpty { log.add(.reloaded(done)) }
  }
}
