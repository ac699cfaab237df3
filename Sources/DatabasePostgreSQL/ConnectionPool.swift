import Database
import Dispatch
import Synchronization

/// A number of connections, each used by one transaction at a time.
///
/// A connection that becomes free goes to the caller that has waited the longest, on the
/// connection's own thread. When the server refuses further connections, callers wait for those
/// that are open.
final class ConnectionPool: Sendable {
  /// A connection and its thread: a serial queue.
  final class Slot: Sendable {
    let session: PostgreSQLSession
    let queue = DispatchQueue(label: "countersign.database.postgresql")
    private static let key = DispatchSpecificKey<ObjectIdentifier>()

    init(_ session: PostgreSQLSession) {
      self.session = session
      queue.setSpecific(key: Self.key, value: ObjectIdentifier(self))
    }

    var isCurrent: Bool { DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(self) }
  }

  private enum Work {
    case use(@Sendable (PostgreSQLSession) -> Void)
    /// Receives a connection, and gives it back later.
    case borrow(@Sendable (Slot) -> Void)
  }

  private struct Entry {
    let id: UInt64
    let work: Work
    let start = ContinuousClock.now
    let fail: @Sendable (any Error) -> Void
  }

  private struct State {
    var free: [Slot]
    /// Until when no further connection is opened, since the server has too many.
    var isRefusedUntil: ContinuousClock.Instant?
    var waiting = FIFO<Entry>()
    var lastID: UInt64 = 0
    var begun = 0
    var isClosed = false
    var whenIdle: [CheckedContinuation<Void, Never>] = []
  }

  /// How long a transaction of reads stays open on a connection that nobody uses.
  private static let longestRest = DispatchTimeInterval.milliseconds(10)

  private let slots: [Slot]
  private let kind: SlowUse.Kind
  private let limit: Int
  private let watch: UseWatch
  private let state: Mutex<State>

  /// Creates a pool of connections that are opened when they're needed; when `limit` callers wait,
  /// further ones fail with `.busy`.
  init(
    _ sessions: [PostgreSQLSession], for kind: SlowUse.Kind, waiting limit: Int, watch: UseWatch
  ) {
    slots = sessions.map(Slot.init)
    (self.kind, self.limit, self.watch) = (kind, limit, watch)
    state = Mutex(State(free: slots))
  }

  /// The number of times a connection was used or borrowed.
  var begun: Int { state.withLock { $0.begun } }

  var used: Int { state.withLock { slots.count - $0.free.count } }

  var open: Int { slots.count { $0.session.isOpen } }

  var waiting: Int { state.withLock { $0.waiting.count } }

  // MARK: - For callers

  nonisolated(nonsending) func use<T: Sendable>(
    _ work: @escaping @Sendable (PostgreSQLSession) throws -> T
  ) async throws -> T {
    let work = OneTimeWork(work)
    return try await wait(discard: work.discard) { continuation in
      .use { session in
        let result = work.run(session)
        continuation.resume(with: result)
        session.settle()
      }
    }
  }

  nonisolated(nonsending) func borrow() async throws -> Slot {
    try await wait(discard: {}) { continuation in .borrow { continuation.resume(returning: $0) } }
  }

  private nonisolated(nonsending) func wait<T: Sendable>(
    discard: @escaping @Sendable () -> Void, _ work: (CheckedContinuation<T, any Error>) -> Work
  ) async throws -> T {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let entry = Entry(id: id, work: work(continuation)) { error in
          discard()
          continuation.resume(throwing: error)
        }
        add(entry)
        if Task.isCancelled { cancel(id) }
      }
    } onCancel: {
      cancel(id)
    }
  }

  private func add(_ entry: Entry) {
    let found: Result<Slot?, DatabaseError> = state.withLock { state in
      guard !state.isClosed else { return .failure(.closed) }
      if let slot = takeFree(&state) {
        state.begun += 1
        return .success(slot)
      }
      guard state.waiting.count < limit else {
        return .failure(DatabaseError(.busy, "\(limit) transactions wait already"))
      }
      state.waiting.append(entry)
      return .success(nil)
    }
    switch found {
    case .failure(let error): entry.fail(error)
    case .success(nil): break
    case .success(let slot?): start(entry, on: slot)
    }
  }

  /// Returns a free connection, unless it would have to be opened and can't.
  private func takeFree(_ state: inout State) -> Slot? {
    if let until = state.isRefusedUntil {
      if let open = takeOpen(&state) { return open }
      if ContinuousClock.now < until, slots.contains(where: \.session.isOpen) { return nil }
      state.isRefusedUntil = nil
    }
    return state.free.popLast()
  }

  private func takeOpen(_ state: inout State) -> Slot? {
    state.free.lastIndex(where: \.session.isOpen).map { state.free.remove(at: $0) }
  }

  private func cancel(_ id: UInt64) {
    let entry = state.withLock { $0.waiting.remove { $0.id == id } }
    guard let entry else { return }
    watch.noteWait(for: kind, since: entry.start)
    entry.fail(CancellationError())
  }

  /// Takes back a borrowed connection after a last use of it, which runs on its thread.
  func giveBack(_ slot: Slot, after work: @escaping @Sendable () -> Void = {}) {
    let isCurrent = slot.isCurrent
    @Sendable func takeBack() {
      work()
      guard let entry = next(for: slot) else { return resumeClosersWhenIdle() }
      // The caller doesn't wait for the next one's work.
      if isCurrent {
        slot.queue.async { self.run(entry, on: slot) }
      } else {
        run(entry, on: slot)
      }
    }
    if isCurrent { takeBack() } else { slot.queue.async(execute: takeBack) }
  }

  // MARK: - On the threads

  private func start(_ entry: Entry, on slot: Slot) {
    if case .borrow(let receive) = entry.work, slot.session.isOpen { return receive(slot) }
    slot.queue.async { self.run(entry, on: slot) }
  }

  /// Runs a caller's work and that of those who wait, on the connection's thread.
  private func run(_ first: Entry, on slot: Slot) {
    var entry = first
    while true {
      if !slot.session.open(), wait(entry, insteadOfUsing: slot) { return }
      watch.noteWait(for: kind, since: entry.start)
      switch entry.work {
      case .use(let work): work(slot.session)
      case .borrow(let receive): return receive(slot)
      }
      guard let next = next(for: slot) else { return resumeClosersWhenIdle() }
      entry = next
    }
  }

  /// Lets a caller wait for an open connection, since the server refuses a further one.
  ///
  /// - Returns: False if none is open; the caller then receives the server's refusal.
  private func wait(_ entry: Entry, insteadOfUsing slot: Slot) -> Bool {
    watch.noteRefusal()
    let open: Slot? = state.withLock { state in
      state.isRefusedUntil = .now + .seconds(1)
      guard slots.contains(where: \.session.isOpen) else { return slot }
      state.free.insert(slot, at: 0)
      let open = takeOpen(&state)
      // An open one that's in use takes the next caller afterwards.
      if open == nil { state.waiting.prepend(entry) }
      return open
    }
    if open === slot { return false }
    slot.session.forgetRefusal()
    if let open { start(entry, on: open) }
    return true
  }

  /// Returns the next caller for a connection, which is free if nobody waits.
  private func next(for slot: Slot) -> Entry? {
    endLast(on: slot)
    return state.withLock { state in
      guard let entry = state.waiting.popFirst() else {
        state.free.append(slot)
        return nil
      }
      state.begun += 1
      return entry
    }
  }

  /// Ends the last transaction of a connection in a moment, unless another begins until then.
  private func endLast(on slot: Slot) {
    let session = slot.session
    guard session.isEnding, !session.willEndLast else { return }
    session.willEndLast = true
    slot.queue.asyncAfter(deadline: .now() + Self.longestRest) { session.endLast() }
  }

  // MARK: - Closing

  /// Rejects further callers, gives those that wait their turn or an error, and closes the
  /// connections.
  func close(completingWaiting isCompleting: Bool) async {
    let waiting = state.withLock { state -> [Entry] in
      state.isClosed = true
      var waiting: [Entry] = []
      while !isCompleting, let entry = state.waiting.popFirst() { waiting.append(entry) }
      return waiting
    }
    for entry in waiting { entry.fail(DatabaseError.closed) }
    await withCheckedContinuation { continuation in
      state.withLock { $0.whenIdle.append(continuation) }
      resumeClosersWhenIdle()
    }
  }

  private func resumeClosersWhenIdle() {
    let (closers, slots) = state.withLock { state in
      guard state.isClosed, state.free.count == self.slots.count else {
        return ([CheckedContinuation<Void, Never>](), [Slot]())
      }
      defer { state.whenIdle = [] }
      return (state.whenIdle, state.free)
    }
    guard !closers.isEmpty else { return }
    let group = DispatchGroup()
    for slot in slots { slot.queue.async(group: group) { slot.session.close() } }
    group.notify(queue: .global()) { for closer in closers { closer.resume() } }
  }
}

/// Work that is released before its result is known to anyone, since a closure that isn't escaping
/// must not be kept longer than its caller waits.
final class OneTimeWork<T: Sendable>: Sendable {
  private let work: Mutex<(@Sendable (PostgreSQLSession) throws -> T)?>

  init(_ work: @escaping @Sendable (PostgreSQLSession) throws -> T) {
    self.work = Mutex(work)
  }

  /// Releases the work without running it.
  @Sendable func discard() {
    _ = work.withLock { $0.take() }
  }

  /// Runs the work, and releases it.
  func run(_ session: PostgreSQLSession) -> Result<T, any Error> {
    guard let work = work.withLock({ $0.take() }) else { return .failure(CancellationError()) }
    return Result { try work(session) }
  }
}

/// What the connections of a process know of a server that doesn't answer.
///
/// Opening a connection to it takes seconds. Callers that each found that out for themselves would
/// wait for one another.
final class Outage: Sendable {
  private struct State {
    /// The latest failure; nil while the server answers.
    var failure: PostgreSQLError?
    /// Whether a caller is finding out whether it answers again.
    var isBeingChecked = false
  }

  private let state = Mutex(State())

  /// Returns if the caller may open a connection: anyone, or during an outage the one who finds out
  /// whether it's over; throws the latest failure, while someone else is finding out.
  func check() throws(PostgreSQLError) {
    let failure = state.withLock { state -> PostgreSQLError? in
      guard let failure = state.failure else { return nil }
      guard !state.isBeingChecked else { return failure }
      state.isBeingChecked = true
      return nil
    }
    if let failure { throw failure }
  }

  func begin(_ failure: PostgreSQLError) {
    state.withLock { $0 = State(failure: failure) }
  }

  func end() {
    state.withLock { $0 = State() }
  }
}
