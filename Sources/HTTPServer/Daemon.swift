import CMicroHTTPD
import Dispatch
import Glibc
import Synchronization

/// What runs of a server: an engine for each thread, the acceptor, and the keeper of deadlines.
///
/// `@unchecked Sendable`, because:
/// 1. `threads` and `texts`, and what they point to, are set in `init` and constant until `stop`;
/// 2. the engine's functions may be called from any thread, and `stop` does its work once.
@safe final class Daemon: @unchecked Sendable {
  let port: Int
  private let engine: Engine
  private let threads: [OpaquePointer]
  private let texts: Texts
  private let acceptor: Acceptor
  private let accepting: WorkerThread
  private let keeper: WorkerThread
  private let wake = DispatchSemaphore(value: 0)
  private let isQuiet = Atomic<Bool>(false)
  private let hasStopped = Atomic<Bool>(false)

  init(_ engine: Engine) throws(ServerError) {
    let configuration = engine.configuration
    let limits = configuration.limits
    texts = try Texts(configuration.tls)
    let listener = try Listener(host: configuration.host, port: configuration.port)
    let most = raiseFileLimit(toConnections: max(limits.connections, 1))
    unsafe threads = Daemon.start(engine, texts, connections: most)
    self.engine = engine
    port = listener.port
    let acceptor = Acceptor(
      listener: listener.socket, connections: engine.connections, most: most,
      headerDeadline: limits.headerDeadline.milliseconds)
    self.acceptor = acceptor
    let dealer = unsafe Dealer(threads: threads)
    let isComplete = unsafe threads.count == configuration.threads
    accepting = WorkerThread { if isComplete { unsafe acceptor.run(dealer.deal) } }
    let wake = wake
    let tick = min(max(limits.shortestDeadline / 4, 10), 250)
    keeper = WorkerThread {
      while wake.wait(timeout: .now() + .milliseconds(Int(tick))) == .timedOut {
        engine.connections.shutExpired(at: SystemClock.coarseMilliseconds())
      }
    }
    guard isComplete else {
      stop()
      close(listener.socket)
      throw .cannotStart(
        reason: configuration.tls == nil
          ? "The HTTP engine could not start."
          : "The HTTP engine could not start; are the certificate and its key a pair?")
    }
  }

  deinit {
    stop()
  }

  /// Starts an engine for each thread; fewer than asked for when one does not start.
  private static func start(
    _ engine: Engine, _ texts: Texts, connections: Int
  ) -> [OpaquePointer] {
    var settings = unsafe engine_settings()
    var flags =
      MHD_USE_EPOLL.rawValue | MHD_USE_INTERNAL_POLLING_THREAD.rawValue
      | MHD_USE_SUSPEND_RESUME.rawValue | MHD_USE_TURBO.rawValue
      | MHD_USE_NO_LISTEN_SOCKET.rawValue
    if unsafe texts.certificate != nil { flags |= MHD_USE_TLS.rawValue }
    unsafe settings.flags = flags
    unsafe settings.connections = UInt32(connections)
    unsafe settings.memory = memory(for: engine.configuration.limits)
    unsafe settings.certificate = texts.certificate.map { unsafe UnsafePointer($0) }
    unsafe settings.key = texts.key.map { unsafe UnsafePointer($0) }
    unsafe settings.priorities = texts.priorities.map { unsafe UnsafePointer($0) }
    unsafe settings.context = Unmanaged.passUnretained(engine).toOpaque()
    unsafe settings.handle = Callbacks.handle
    unsafe settings.begin = Callbacks.begin
    unsafe settings.complete = Callbacks.complete
    unsafe settings.notice = Callbacks.notice
    var threads: [OpaquePointer] = unsafe []
    while unsafe threads.count < engine.configuration.threads {
      guard let thread = unsafe engine_start(&settings) else { break }
      unsafe threads.append(thread)
    }
    return unsafe threads
  }

  /// Takes no more connections; who tries is told at once.
  func quiesce() {
    guard !isQuiet.exchange(true, ordering: .acquiringAndReleasing) else { return }
    acceptor.stop()
    accepting.join()
  }

  /// Ends every thread and connection; suspended handlers are answered for.
  func stop() {
    guard !hasStopped.exchange(true, ordering: .acquiringAndReleasing) else { return }
    engine.isStopping.store(true, ordering: .releasing)
    quiesce()
    wake.signal()
    keeper.join()
    engine.giveUpSuspended()
    unsafe threads.forEach { unsafe MHD_stop_daemon($0) }
  }

  /// The engine's memory for one connection: room for the header, its index and the answer's.
  private static func memory(for limits: Limits) -> Int {
    min(max(limits.headers, 4 << 10), 64 << 10) * 2
  }
}

/// Deals connections to the engine's threads.
///
/// `@unchecked Sendable`, because:
/// 1. the pointers are constant, and the acceptor ends before what they point to;
/// 2. the engine takes connections from any thread.
@safe private struct Dealer: @unchecked Sendable {
  let threads: [OpaquePointer]

  func deal(_ connection: Connection, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) -> Bool
  {
    unsafe MHD_add_connection(threads[connection.thread], connection.socket, address, size)
      == MHD_Result.YES
  }
}

/// What the engine is told in C strings, which must live as long as it does.
///
/// `@unchecked Sendable`, because:
/// 1. the strings are made in `init`, freed in `deinit` and never changed between.
@safe private final class Texts: @unchecked Sendable {
  let certificate: UnsafeMutablePointer<CChar>?
  let key: UnsafeMutablePointer<CChar>?
  let priorities: UnsafeMutablePointer<CChar>?

  /// Reads certificate and key, when there are any.
  init(_ tls: ServerConfiguration.TLS?) throws(ServerError) {
    let certificate = try tls.map { tls throws(ServerError) in try readText(tls.certificate) }
    let key = try tls.map { tls throws(ServerError) in try readText(tls.key) }
    unsafe self.certificate = certificate.map { unsafe strdup($0) }
    unsafe self.key = key.map { unsafe strdup($0) }
    unsafe priorities = tls.map { _ in unsafe strdup("NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2") }
  }

  deinit {
    unsafe free(certificate)
    unsafe free(key)
    unsafe free(priorities)
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
