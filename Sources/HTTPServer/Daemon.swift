import CMicroHTTPD
import Dispatch
import Glibc
import Synchronization

/// The running engine: its threads, its listening socket, and the thread that keeps the deadlines.
///
/// `@unchecked Sendable`, because:
/// 1. `raw` and what it points to are set in `init` and constant after;
/// 2. the engine's own functions on a daemon may be called from any thread, and `stop` runs once.
@safe final class Daemon: @unchecked Sendable {
  let port: Int
  private let engine: Engine
  private let raw: OpaquePointer
  private let listener: Int32
  private let texts: [UnsafeMutablePointer<CChar>?]
  private let hasStopped = Atomic<Bool>(false)
  private let isQuiet = Atomic<Bool>(false)
  private let wake: DispatchSemaphore
  private let keeper: WorkerThread

  init(_ engine: Engine) throws(ServerError) {
    let configuration = engine.configuration
    let limits = configuration.limits
    var texts: [UnsafeMutablePointer<CChar>?] = unsafe [nil, nil, nil]
    if let tls = configuration.tls {
      let certificate = try readText(tls.certificate)
      let key = try readText(tls.key)
      unsafe texts = [
        strdup(certificate), strdup(key), strdup("NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"),
      ]
    }
    let listener: Listener
    do {
      listener = try Listener(host: configuration.host, port: configuration.port)
    } catch {
      unsafe Daemon.free(texts)
      throw error
    }
    var settings = unsafe engine_settings()
    var flags =
      MHD_USE_EPOLL.rawValue | MHD_USE_INTERNAL_POLLING_THREAD.rawValue
      | MHD_USE_SUSPEND_RESUME.rawValue | MHD_USE_TURBO.rawValue
    if listener.isIPv6 { flags |= MHD_USE_IPv6.rawValue }
    if configuration.tls != nil { flags |= MHD_USE_TLS.rawValue }
    let connections = raiseFileLimit(toConnections: max(limits.connections, configuration.threads))
    unsafe settings.flags = flags
    unsafe settings.listener = listener.socket
    // A pool of one thread is none; the engine refuses to make it.
    unsafe settings.threads = configuration.threads > 1 ? UInt32(configuration.threads) : 0
    unsafe settings.connections = UInt32(connections)
    unsafe settings.connections_per_address =
      configuration.trustedProxies.isEmpty ? UInt32(max(limits.connectionsPerAddress, 1)) : 0
    unsafe settings.memory = Daemon.memory(for: limits)
    unsafe settings.certificate = texts[0].map { unsafe UnsafePointer($0) }
    unsafe settings.key = texts[1].map { unsafe UnsafePointer($0) }
    unsafe settings.priorities = texts[2].map { unsafe UnsafePointer($0) }
    unsafe settings.context = Unmanaged.passUnretained(engine).toOpaque()
    unsafe settings.handle = Callbacks.handle
    unsafe settings.begin = Callbacks.begin
    unsafe settings.complete = Callbacks.complete
    unsafe settings.notice = Callbacks.notice
    guard let raw = unsafe engine_start(&settings) else {
      close(listener.socket)
      unsafe Daemon.free(texts)
      throw .cannotStart(
        reason: configuration.tls == nil
          ? "The HTTP engine could not start."
          : "The HTTP engine could not start; are the certificate and its key a pair?")
    }
    self.engine = engine
    unsafe self.raw = raw
    self.listener = listener.socket
    unsafe self.texts = texts
    port = listener.port
    let wake = DispatchSemaphore(value: 0)
    self.wake = wake
    let connectionsOfEngine = engine.connections
    let tick = min(max(limits.shortestDeadline / 4, 10), 250)
    keeper = WorkerThread {
      while wake.wait(timeout: .now() + .milliseconds(Int(tick))) == .timedOut {
        connectionsOfEngine.shutExpired(at: SystemClock.coarseMilliseconds())
      }
    }
  }

  deinit {
    stop()
  }

  /// Takes no more connections; who tries is told at once.
  func quiesce() {
    guard !isQuiet.exchange(true, ordering: .acquiringAndReleasing) else { return }
    // The threads may still look at the socket, so it is closed when they have ended.
    _ = unsafe MHD_quiesce_daemon(raw)
    _ = shutdown(listener, Int32(SHUT_RDWR))
  }

  /// Ends every thread and connection; suspended handlers are answered for.
  func stop() {
    guard !hasStopped.exchange(true, ordering: .acquiringAndReleasing) else { return }
    engine.isStopping.store(true, ordering: .releasing)
    quiesce()
    wake.signal()
    keeper.join()
    engine.giveUpSuspended()
    unsafe MHD_stop_daemon(raw)
    close(listener)
    unsafe Daemon.free(texts)
  }

  /// The engine's memory for one connection: room for the header, its index and the answer's.
  private static func memory(for limits: Limits) -> Int {
    min(max(limits.headers, 4 << 10), 64 << 10) * 2
  }

  private static func free(_ texts: [UnsafeMutablePointer<CChar>?]) {
    unsafe texts.forEach { unsafe Glibc.free($0) }
  }
}

/// The text of a file.
private func readText(_ path: String) throws(ServerError) -> String {
  let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { throw .unreadableFile(path: path, reason: lastError()) }
  defer { close(file) }
  var bytes: [UInt8] = []
  var part = [UInt8](repeating: 0, count: 16 << 10)
  while true {
    let count = unsafe read(file, &part, part.count)
    if count < 0 { throw .unreadableFile(path: path, reason: lastError()) }
    if count == 0 { return String(decoding: bytes, as: UTF8.self) }
    bytes += part.prefix(count)
  }
}
