import Identity
import Localization

/// The server's background tasks.
///
/// Of several servers on one database, one does the tasks that change the database, and another one
/// takes over if it stops.
struct Housekeeping: Sendable {
  private let identity: Identity
  private let sealing: AuditSealing
  private let connections: ConnectionTask
  private let log: Log
  private let tasks: [Task<Void, Never>]

  /// Starts all tasks, beginning with deletions left from an earlier run.
  init(
    _ identity: Identity, keeper: KeyRotationTask, integrity: IntegrityWatch,
    file: OpenedDatabaseFile?, place: String, log: Log
  ) {
    (self.identity, self.log) = (identity, log)
    let sealing = AuditSealing(identity, log: log)
    let watches = ServerWatches(identity, file, place: place, log: log)
    let connections = ConnectionTask(identity, log: log)
    (self.sealing, self.connections) = (sealing, connections)
    let repeated = Self.repeated(
      identity, keeper, integrity, sealing, connections, watches, log)
    tasks =
      repeated.map { task in Task { await task.run(identity.taskLease, identity.pacer, log) } } + [
        Task { await integrity.reportDamage() },
        // So that the key that signs evidence is published before there is any.
        Task {
          await log.failure(of: .createEvidenceKey) {
            _ = try await identity.evidenceKeys.current()
          }
        },
      ]
  }

  /// The tasks that are repeated until the server stops.
  static func repeated(
    _ identity: Identity, _ keeper: KeyRotationTask, _ integrity: IntegrityWatch,
    _ sealing: AuditSealing, _ connections: ConnectionTask, _ watches: ServerWatches, _ log: Log
  ) -> [RepeatedTask] {
    let bulk = identity.bulkRemovals
    return [
      .init(.renewLease, every: .seconds(TaskLease.interval)) { await watches.renewLease() },
      .init(.loadKeys, inPartsEvery: .seconds(KeyRotationTask.interval)) {
        try await keeper.look()
      },
      .init(.watchClock, every: .seconds(1), atOnce: false) { try await watches.checkClock() },
      .init(.watchClock, every: .seconds(30)) { try await watches.checkDatabaseClock() },
      .init(nil, every: .seconds(2)) { await watches.checkFile() },
      .init(.checkIntegrity, every: .seconds(600), atOnce: false) { try await integrity.look() },
      // Also at startup, for data that expired while no server ran.
      .init(.deleteExpired, every: .seconds(60), orOn: watches.trust) {
        if identity.taskLease.isHeld {
          try await identity.purgeExpired()
        } else {
          // Those that this server noted.
          try await identity.recordUses()
        }
      },
      .init(.purge, inPartsEvery: .seconds(5), alone: true, identity.purge),
      .init(
        .indexAuditLog, inPartsEvery: .seconds(2), atOnce: false, alone: true, identity.audit.file),
      .init(
        .indexUsers, inPartsEvery: .seconds(600), atOnce: false, alone: true, identity.indexUsers),
      .init(.foldActivity, inPartsEvery: .seconds(15), alone: true, identity.foldActivity),
      .init(
        .deleteCodeAttempts, inPartsEvery: .seconds(60), alone: true, identity.expireCodeAttempts),
      .init(.sealAuditLog, every: .seconds(5)) { await sealing.seal() },
      .init(
        .deleteAuditEntries, inPartsEvery: .seconds(60), atOnce: false, alone: true,
        identity.removeExpiredAuditEntries),
      .init(.watchActivity, every: .seconds(60), atOnce: false, alone: true) {
        try await identity.watchActivity()
      },
      .init(
        .bulkRemovals, inPartsEvery: .seconds(2), orOn: bulk.work, afterFailure: .seconds(5),
        alone: true
      ) {
        try await bulk.step { log.add(.taskFailed(.bulkRemovals, reason: $0.description)) }
      },
      .init(.readConnections, every: .seconds(2), orOn: identity.connections.work) {
        try await connections.look()
      },
      .init(nil, every: Log.period, atOnce: false) { log.reportSuppressed() },
    ]
  }

  /// Stops all tasks, writes usage times held in memory to the database, and folds new activity.
  func stop() async {
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
    await connections.stop()
    await sealing.finish()
    await log.failure(of: .recordUses) {
      try await identity.recordUses()
      // Numbers of users are recorded under the current hour.
      while try await identity.foldActivity() {}
    }
  }

  /// Lets another server take over, after everything that depends on it has stopped.
  func release() async {
    await log.failure(of: .renewLease) {
      try await identity.taskLease.release()
      try await identity.nodes.leave()
    }
  }
}

/// A task that the server repeats until it stops, and whose failures are logged.
struct RepeatedTask: Sendable {
  /// Nil for one that can't fail.
  let name: BackgroundTask?
  let pause: Duration
  /// What ends the pause early.
  let signal: WorkSignal
  /// A pause before that, which nothing ends.
  let pauseAfterFailure: Duration
  /// Whether it begins with the work instead of the pause.
  let atOnce: Bool
  /// Whether only one of several servers does it.
  let alone: Bool
  /// Whether it has parts, which take turns with those of other tasks.
  let isInParts: Bool
  /// Does a part of the work, and returns whether there's more.
  let part: @Sendable () async throws -> Bool

  init(
    _ name: BackgroundTask?, inPartsEvery pause: Duration, orOn signal: WorkSignal = WorkSignal(),
    afterFailure: Duration = .zero, atOnce: Bool = true, alone: Bool = false,
    isInParts: Bool = true, _ part: @escaping @Sendable () async throws -> Bool
  ) {
    (self.name, self.pause, self.signal) = (name, pause, signal)
    (pauseAfterFailure, self.atOnce, self.alone) = (afterFailure, atOnce, alone)
    (self.isInParts, self.part) = (isInParts, part)
  }

  init(
    _ name: BackgroundTask?, every pause: Duration, orOn signal: WorkSignal = WorkSignal(),
    atOnce: Bool = true, alone: Bool = false, _ work: @escaping @Sendable () async throws -> Void
  ) {
    self.init(
      name, inPartsEvery: pause, orOn: signal, atOnce: atOnce, alone: alone, isInParts: false
    ) {
      try await work()
      return false
    }
  }

  /// Does all parts, with time for other writes in between, and then pauses.
  func run(_ lease: TaskLease, _ pacer: Pacer, _ log: Log) async {
    if !atOnce, await !signal.pause(atMost: pause) { return }
    repeat {
      let isDone = await log.failure(of: name) {
        func next() async throws -> Bool { !alone || lease.isHeld ? try await part() : false }
        if isInParts { try await pacer.run { try await next() } } else { _ = try await next() }
      }
      if !isDone, await !slept(pauseAfterFailure) { return }
    } while await signal.pause(atMost: pause)
  }
}

/// What the server watches, with what it reported last.
actor ServerWatches {
  private let identity: Identity
  private let file: OpenedDatabaseFile?
  private let place: String
  private let log: Log
  /// Tells that the clock is trusted again, and what was due meanwhile can be done.
  let trust = WorkSignal()
  private var wasHeld = false
  private var doubt: ClockDoubt?
  private var differs = false
  private var wasInPlace = true

  init(_ identity: Identity, _ file: OpenedDatabaseFile?, place: String, log: Log) {
    (self.identity, self.file, self.place, self.log) = (identity, file, place, log)
    doubt = identity.clockGuard.doubt
  }

  /// Reports this server to the others, and takes and renews the lease of the tasks that only one
  /// server should do, and that it can do; reports when that changes.
  func renewLease() async {
    let lease = identity.taskLease
    await log.failure(of: .renewLease) {
      if identity.isUsable, try await identity.nodes.report(place) {
        try await lease.renew()
      } else {
        try await lease.release()
      }
    }
    let isHeld = lease.isShared && lease.isHeld
    if isHeld != wasHeld { log.add(isHeld ? .tasksTaken : .tasksLost) }
    wasHeld = isHeld
  }

  /// Reports each jump of the system clock, when it stops being trusted, and when it's trusted again.
  func checkClock() async throws {
    let (last, new) = (doubt, try await identity.checkClock())
    if let change = identity.clockGuard.takeJump() { log.add(.clockJumped(change)) }
    if let new, last == nil { log.add(.clockDoubted(new)) }
    doubt = new
    guard new == nil, last != nil else { return }
    log.add(.clockTrusted)
    trust.send()
  }

  /// Reports when the clock differs from that of the database's server, with which all servers on
  /// the database can be compared, and when it doesn't any longer.
  func checkDatabaseClock() async throws {
    switch try await identity.databaseClock() {
    case .shared: break
    case .agrees:
      if differs { log.add(.databaseClockAgrees) }
      differs = false
    case .differs(let seconds):
      if !differs { log.add(.databaseClockDiffers(seconds: seconds)) }
      differs = true
    }
  }

  /// Reports when the database's file is deleted, moved, or replaced, and when it's back.
  func checkFile() {
    guard let file else { return }
    let isInPlace = file.isInPlace
    if wasInPlace, !isInPlace { log.add(.databaseFileLost(path: file.path)) }
    if !wasInPlace, isInPlace { log.add(.databaseFileFound(path: file.path)) }
    wasInPlace = isInPlace
  }
}

extension Log {
  /// Does a part of a task, and logs its failure; returns false if it failed.
  @discardableResult
  fileprivate nonisolated(nonsending) func failure(
    of task: BackgroundTask?, _ work: nonisolated(nonsending) () async throws -> Void
  ) async -> Bool {
    do {
      try await work()
      return true
    } catch {
      if let task { add(.taskFailed(task, reason: "\(error)")) }
      return false
    }
  }
}

/// Seals new entries of the audit log, and verifies sealed entries: new ones every minute, and all of
/// them every day. Continues erasures of users' data.
actor AuditSealing {
  private let chain: AuditChain
  private let userData: UserData
  private let lease: TaskLease
  private let pacer: Pacer
  private let log: Log
  /// The position of the background check.
  private var verified: Int64 = 0
  private var round = ContinuousClock.now
  private var lastCheck: ContinuousClock.Instant?
  private var isDelayed = false

  init(_ identity: Identity, log: Log) {
    (chain, userData, lease) = (identity.auditChain, identity.userData, identity.taskLease)
    (pacer, self.log) = (identity.pacer, log)
  }

  /// One step that fails doesn't prevent the others.
  func seal() async {
    await log.failure(of: .sealAuditLog) {
      try await pacer.run { try await chain.seal() }
    }
    await log.failure(of: .sealAuditLog) { try await reportDelay() }
    // Erases parts of entries, which must be sealed.
    await log.failure(of: .sealAuditLog) {
      try await pacer.run {
        guard lease.isHeld else { return false }
        return try await userData.continueErasures()
      }
    }
    await log.failure(of: .sealAuditLog) { if lease.isHeld { try await check() } }
  }

  func finish() async {
    await log.failure(of: .sealAuditLog) { try await chain.finish() }
  }

  /// Verifies a bounded number of entries, so that sealing goes on meanwhile.
  private func check() async throws {
    let now = ContinuousClock.now
    if now - round > .seconds(86_400) { (verified, round) = (0, now) }
    if let lastCheck, now - lastCheck < .seconds(60) { return }
    var steps = 0
    try await pacer.run {
      guard let step = try await chain.check(after: verified) else {
        lastCheck = now
        return false
      }
      verified = step.through
      for fault in step.faults.prefix(10) { log.add(.auditFault(fault.message)) }
      steps += 1
      return steps < 50
    }
  }

  /// Reports when entries can't be sealed, with those that prevent it, and when they are sealed
  /// again.
  private func reportDelay() async throws {
    let delay = try await chain.delay()
    if let delay, !isDelayed { log.add(.auditNotSealed(delay)) }
    if delay == nil, isDelayed { log.add(.auditSealed) }
    isDelayed = delay != nil
  }
}
