import Identity
import Localization

/// The server's background tasks.
///
/// Of several servers on one database, one does the tasks that change the database, and another one
/// takes over if it stops.
struct Housekeeping: Sendable {
  private let identity: Identity
  private let sealing: AuditSealing
  private let log: Log
  private let tasks: [Task<Void, Never>]

  /// Starts all tasks, beginning with deletions left from an earlier run.
  init(
    _ identity: Identity, keeper: KeyRotationTask, integrity: IntegrityWatch,
    file: OpenedDatabaseFile?, place: String, log: Log
  ) {
    self.identity = identity
    self.log = log
    let sealing = AuditSealing(identity, log: log)
    self.sealing = sealing
    let work = RepeatedWork(lease: identity.taskLease, log: log)
    tasks = [
      Task { await Self.renewLease(identity, at: place, log) },
      work.repeated(every: .seconds(KeyRotationTask.interval), .loadKeys) {
        try await Pacer.run { try await keeper.look() }
      },
      Task { await Self.watchClock(identity, log) },
      Task { await Self.watchDatabaseClock(identity, log) },
      Task { await integrity.run() },
      Task { await Self.watchFile(file, log) },
      // Also at startup, for data that expired while no server ran.
      work.repeated(every: .seconds(60), .deleteExpired) { try await Self.purgeExpired(identity) },
      work.alone(every: .seconds(5), .purge, identity.purge),
      work.alone(every: .seconds(2), .indexAuditLog, atOnce: false, identity.audit.file),
      work.alone(every: .seconds(600), .indexUsers, atOnce: false, identity.indexUsers),
      work.alone(every: .seconds(15), .foldActivity, identity.foldActivity),
      work.alone(every: .seconds(60), .deleteCodeAttempts, identity.expireCodeAttempts),
      Task { await sealing.run() },
      work.alone(
        every: .seconds(60), .deleteAuditEntries, atOnce: false, identity.removeExpiredAuditEntries),
      work.repeated(every: .seconds(60), .watchActivity, atOnce: false) {
        if identity.taskLease.isHeld { try await identity.watchActivity() }
      },
      work.alone(every: .milliseconds(250), .bulkRemovals, pauseAfterFailure: .seconds(5)) {
        try await identity.bulkRemovals.step { failure in
          log.add(.taskFailed(.bulkRemovals, reason: failure.description))
        }
      },
      // So that the key that signs evidence is published before there is any.
      Task {
        await log.failure(of: .createEvidenceKey) { _ = try await identity.evidenceKeys.current() }
      },
      Task { while await slept(Log.period) { log.reportSuppressed() } },
    ]
  }

  /// Stops all tasks, writes usage times held in memory to the database, and folds new activity.
  func stop() async {
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
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

  /// Reports this server to the others, and takes and renews the lease of the tasks that only one
  /// server should do, and that it can do; reports when that changes.
  private static func renewLease(_ identity: Identity, at place: String, _ log: Log) async {
    let lease = identity.taskLease
    var wasHeld = false
    repeat {
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
    } while await slept(.seconds(TaskLease.interval))
  }

  /// Reports each jump of the system clock, when it stops being trusted, and when it's trusted again.
  private static func watchClock(_ identity: Identity, _ log: Log) async {
    var last = identity.clockGuard.doubt
    var purge: Task<Void, Never>?
    while await slept(.seconds(1)) {
      do {
        let doubt = try await identity.checkClock()
        if let change = identity.clockGuard.takeJump() { log.add(.clockJumped(change)) }
        if let doubt, last == nil { log.add(.clockDoubted(doubt)) }
        let isTrustedAgain = doubt == nil && last != nil
        last = doubt
        guard isTrustedAgain else { continue }
        log.add(.clockTrusted)
        // The next scheduled purge may be a minute away. Meanwhile, the clock is still watched.
        await purge?.value
        purge = Task { await log.failure(of: .deleteExpired) { try await purgeExpired(identity) } }
      } catch {
        log.add(.taskFailed(.watchClock, reason: "\(error)"))
      }
    }
    purge?.cancel()
    await purge?.value
  }

  /// Reports when the clock differs from that of the database's server, with which all servers on
  /// the database can be compared, and when it doesn't any longer.
  private static func watchDatabaseClock(_ identity: Identity, _ log: Log) async {
    var differs = false
    repeat {
      do {
        switch try await identity.databaseClock() {
        case .shared: return
        case .agrees:
          if differs { log.add(.databaseClockAgrees) }
          differs = false
        case .differs(let seconds):
          if !differs { log.add(.databaseClockDiffers(seconds: seconds)) }
          differs = true
        }
      } catch {
        log.add(.taskFailed(.watchClock, reason: "\(error)"))
      }
    } while await slept(.seconds(30))
  }

  /// Reports when the database's file is deleted, moved, or replaced, and when it's back.
  private static func watchFile(_ file: OpenedDatabaseFile?, _ log: Log) async {
    guard let file else { return }
    var wasInPlace = true
    repeat {
      let isInPlace = file.isInPlace
      if wasInPlace, !isInPlace { log.add(.databaseFileLost(path: file.path)) }
      if !wasInPlace, isInPlace { log.add(.databaseFileFound(path: file.path)) }
      wasInPlace = isInPlace
    } while await slept(.seconds(2))
  }

  private static func purgeExpired(_ identity: Identity) async throws {
    if identity.taskLease.isHeld {
      try await identity.purgeExpired()
    } else {
      // Those that this server noted.
      try await identity.recordUses()
    }
  }
}

/// Work that's repeated until its task is canceled, and whose failures are logged.
private struct RepeatedWork: Sendable {
  let lease: TaskLease
  let log: Log

  /// Repeats work after a pause, and begins with it or with the pause.
  func repeated(
    every pause: Duration, _ task: BackgroundTask, atOnce: Bool = true,
    pauseAfterFailure: Duration = .zero, _ work: @escaping @Sendable () async throws -> Void
  ) -> Task<Void, Never> {
    Task {
      if !atOnce, await !slept(pause) { return }
      repeat {
        if await log.failure(of: task, work), await !slept(pauseAfterFailure) { return }
      } while await slept(pause)
    }
  }

  /// Repeats the batches of a task that one of several servers does, pausing for other writes in
  /// between.
  func alone(
    every pause: Duration, _ task: BackgroundTask, atOnce: Bool = true,
    pauseAfterFailure: Duration = .zero, _ batch: @escaping @Sendable () async throws -> Bool
  ) -> Task<Void, Never> {
    repeated(every: pause, task, atOnce: atOnce, pauseAfterFailure: pauseAfterFailure) {
      try await Pacer.run { lease.isHeld ? try await batch() : false }
    }
  }
}

extension Log {
  /// Does a part of a task, and logs its failure; returns whether it failed.
  @discardableResult
  fileprivate nonisolated(nonsending) func failure(
    of task: BackgroundTask, _ work: nonisolated(nonsending) () async throws -> Void
  ) async -> Bool {
    do { try await work() } catch {
      add(.taskFailed(task, reason: "\(error)"))
      return true
    }
    return false
  }
}

/// Seals new entries of the audit log, and verifies sealed entries: new ones every minute, and all of
/// them every day. Continues erasures of users' data.
actor AuditSealing {
  private let chain: AuditChain
  private let userData: UserData
  private let lease: TaskLease
  private let log: Log
  /// The position of the background check.
  private var verified: Int64 = 0
  private var round = ContinuousClock.now
  private var lastCheck: ContinuousClock.Instant?
  private var isDelayed = false

  init(_ identity: Identity, log: Log) {
    (chain, userData, lease) = (identity.auditChain, identity.userData, identity.taskLease)
    self.log = log
  }

  func run() async {
    repeat {
      await log.failure(of: .sealAuditLog) {
        try await Pacer.run { try await chain.seal() }
      }
      await log.failure(of: .sealAuditLog) { try await reportDelay() }
      // Erases parts of entries, which must be sealed.
      await log.failure(of: .sealAuditLog) {
        try await Pacer.run {
          guard lease.isHeld else { return false }
          return try await userData.continueErasures()
        }
      }
      await log.failure(of: .sealAuditLog) { if lease.isHeld { try await check() } }
    } while await slept(.seconds(5))
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
    try await Pacer.run {
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
