import Glibc
import Synchronization

/// The running parts of a server: the engine's threads, the acceptor, and the deadline thread.
final class Daemon: Sendable {
  let port: Int
  /// The maximum number of connections, limited by the system's open file limit.
  let most: Int
  private let engine: Engine
  private let generations: Generations
  /// Held while a certificate is loaded, so that the last one requested is used.
  private let reloading = Mutex(())
  private let acceptor: Acceptor
  private let accepting: WorkerThread
  private let keeper: WorkerThread
  private let isQuiet = Atomic<Bool>(false)
  private let hasStopped = Atomic<Bool>(false)

  init(_ engine: Engine) throws(ServerError) {
    let configuration = engine.configuration
    let limits = configuration.limits
    let listener = try Listener(host: configuration.host, port: configuration.port)
    most = raiseFileLimit(toConnections: max(limits.connections, 1))
    var started: (generations: Generations?, keeper: WorkerThread?) = (nil, nil)
    do throws(ServerError) {
      let acceptor = try Acceptor(
        listener: listener.socket, connections: engine.connections, most: most,
        headerDeadline: limits.headerDeadline.milliseconds)
      let generations = Generations(
        try EngineThreads(engine, generation: 0, connections: most))
      started.generations = generations
      let tick = min(max(limits.shortestDeadline / 4, 10), 250)
      // No deadline of a connection that is accepted meanwhile ends earlier.
      let rest = max(min(limits.shortestDeadline, 1000), tick)
      let keeper = try WorkerThread {
        while engine.lingering.discard(for: engine.connections.count == 0 ? rest : tick) {
          let now = SystemClock.coarseMilliseconds()
          engine.connections.shutExpired(at: now)
          engine.giveUpLate(at: now)
          generations.stopRetired(engine.connections)
        }
      }
      started.keeper = keeper
      accepting = try WorkerThread {
        unsafe acceptor.run { unsafe generations.add($0, $1, $2) }
      }
      (self.acceptor, self.generations, self.keeper) = (acceptor, generations, keeper)
    } catch {
      if let keeper = started.keeper {
        engine.lingering.stop()
        keeper.join()
      }
      started.generations?.stop()
      close(listener.socket)
      throw error
    }
    self.engine = engine
    port = listener.port
  }

  deinit {
    stop()
  }

  /// Reloads the certificate and key for new connections.
  ///
  /// Existing connections keep the previous ones until their next response or idle timeout.
  ///
  /// - Throws: `ServerError`; the previous certificate then stays in use.
  func reload() throws(ServerError) {
    guard engine.configuration.tls != nil else { return }
    try reloading.withLock { _ throws(ServerError) in
      guard !hasStopped.load(ordering: .acquiring) else { return }
      let number = generations.number + 1
      let threads = try EngineThreads(engine, generation: number, connections: most)
      generations.begin(threads)
      engine.connections.begin(generation: number)
    }
  }

  /// Stops accepting connections, after those that are established already; new clients are
  /// refused.
  func quiesce() {
    guard !isQuiet.exchange(true, ordering: .acquiringAndReleasing) else { return }
    acceptor.stop()
    accepting.join()
  }

  /// Ends all threads and connections, and answers suspended requests.
  func stop() {
    guard !hasStopped.exchange(true, ordering: .acquiringAndReleasing) else { return }
    engine.isStopping.store(true, ordering: .releasing)
    quiesce()
    engine.lingering.stop()
    keeper.join()
    engine.giveUpSuspended()
    reloading.withLock { _ in generations.stop() }
    engine.lingering.closeAll()
  }
}

/// The current threads, and retired ones that still serve connections with an earlier certificate.
private final class Generations: Sendable {
  private struct State {
    var current: EngineThreads
    var retired: [EngineThreads] = []
  }

  private let state: Mutex<State>

  init(_ first: EngineThreads) {
    state = Mutex(State(current: first))
  }

  var number: Int { state.withLock(\.current.generation) }

  /// Passes a connection to the threads of its generation.
  func add(_ connection: Connection, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) -> Bool
  {
    let threads = state.withLock { state in
      ([state.current] + state.retired).first { $0.generation == connection.generation }
    }
    return unsafe threads?.add(connection, address, size) ?? false
  }

  /// Retires the current threads in favor of new ones.
  func begin(_ threads: EngineThreads) {
    state.withLock { state in
      state.retired.append(state.current)
      state.current = threads
    }
  }

  /// Ends retired threads that have no connections left.
  func stopRetired(_ connections: Connections) {
    let ended = state.withLock { state in
      let ended = state.retired.filter { connections.forget(generation: $0.generation) }
      state.retired.removeAll { one in ended.contains { $0 === one } }
      return ended
    }
    for threads in ended { threads.stop() }
  }

  func stop() {
    for threads in state.withLock({ [$0.current] + $0.retired }) { threads.stop() }
  }
}
