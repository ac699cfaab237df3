import Dispatch
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

/// Waits for SIGTERM or SIGINT.
struct StopSignal: Sendable {
  private let signals: AsyncStream<Void>

  init() {
    // A client that disconnects mid-response must not end the process.
    signal(SIGPIPE, SIG_IGN)
    signals = .signals([SIGTERM, SIGINT])
  }

  func wait() async {
    for await _ in signals { return }
  }
}

extension AsyncStream<Void> {
  /// Returns a stream with an element per signal; signals that arrive together are coalesced.
  static func signals(_ numbers: [Int32]) -> AsyncStream {
    // The default action would end the process before the dispatch sources run.
    for number in numbers { signal(number, SIG_IGN) }
    return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let sources = numbers.map { number in
        DispatchSource.makeSignalSource(signal: number, queue: .global())
      }
      for source in sources {
        source.setEventHandler {
          continuation.yield()
          // Captured, so that the sources live as long as their handlers.
          _ = sources.count
        }
        source.resume()
      }
    }
  }
}

/// Waits; returns false when the task is canceled meanwhile.
func slept(_ time: Duration) async -> Bool {
  do { try await Task.sleep(for: time) } catch { return false }
  return true
}
