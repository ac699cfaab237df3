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
    tasks = [
      Task { await Self.renewLease(identity, at: place, log) },
      Task { await Self.keep(keeper, log) },
      Task { await Self.watchClock(identity, log) },
      Task { await Self.watchDatabaseClock(identity, log) },
      Task { await integrity.run() },
      Task { await Self.watchFile(file, log) },
      Task { await Self.purgeExpired(identity, log) },
      Task { await Self.purge(identity, log) },
      Task { await Self.file(identity, log) },
      Task { await Self.indexUsers(identity, log) },
      Task { await Self.foldActivity(identity, log) },
      Task { await Self.age(identity, log) },
      Task { await sealing.run() },
      Task { await Self.removeAuditEntries(identity, log) },
      Task { await Self.watchActivity(identity, log) },
      Task { await Self.removeMany(identity, log) },
      Task { await Self.createEvidenceKey(identity, log) },
      Task { while await slept(Log.period) { log.reportSuppressed() } },
    ]
  }

  /// Stops all tasks, writes usage times held in memory to the database, and folds new activity.
  func stop() async {
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
    await sealing.finish()
    do {
      try await identity.recordUses()
      // Numbers of users are recorded under the current hour.
      while try await identity.foldActivity() {}
    } catch { log.add(.taskFailed(.recordUses, reason: "\(error)")) }
  }

  /// Lets another server take over, after everything that depends on it has stopped.
  func release() async {
    do {
      try await identity.taskLease.release()
      try await identity.nodes.leave()
    } catch {
      log.add(.taskFailed(.renewLease, reason: "\(error)"))
    }
  }

  /// Reports this server to the others, and takes and renews the lease of the tasks that only one
  /// server should do, and that it can do; reports when that changes.
  private static func renewLease(_ identity: Identity, at place: String, _ log: Log) async {
    let lease = identity.taskLease
    var wasHeld = false
    repeat {
      do {
        if identity.isUsable, try await identity.nodes.report(place) {
          try await lease.renew()
        } else {
          try await lease.release()
        }
      } catch {
        log.add(.taskFailed(.renewLease, reason: "\(error)"))
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
        purge = Task { await purgeOnce(identity, log) }
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

  private static func purgeExpired(_ identity: Identity, _ log: Log) async {
    // Also at startup, for data that expired while no server ran.
    repeat { await purgeOnce(identity, log) } while await slept(.seconds(60))
  }

  private static func purgeOnce(_ identity: Identity, _ log: Log) async {
    do {
      if identity.taskLease.isHeld {
        try await identity.purgeExpired()
      } else {
        // Those that this server noted.
        try await identity.recordUses()
      }
    } catch {
      log.add(.taskFailed(.deleteExpired, reason: "\(error)"))
    }
  }

  /// Deletes marked data in batches, pausing for other writes in between.
  private static func purge(_ identity: Identity, _ log: Log) async {
    repeat {
      do {
        try await Pacer.run {
          guard identity.taskLease.isHeld else { return false }
          return try await identity.purge()
        }
      } catch {
        log.add(.taskFailed(.purge, reason: "\(error)"))
      }
    } while await slept(.seconds(5))
  }

  private static func file(_ identity: Identity, _ log: Log) async {
    while await slept(.seconds(2)) {
      do {
        try await Pacer.run {
          guard identity.taskLease.isHeld else { return false }
          return try await identity.audit.file()
        }
      } catch {
        log.add(.taskFailed(.indexAuditLog, reason: "\(error)"))
      }
    }
  }

  /// Indexes users again whom nodes of the previous version changed, in batches.
  private static func indexUsers(_ identity: Identity, _ log: Log) async {
    while await slept(.seconds(600)) {
      do {
        try await Pacer.run {
          guard identity.taskLease.isHeld else { return false }
          return try await identity.indexUsers()
        }
      } catch {
        log.add(.taskFailed(.indexUsers, reason: "\(error)"))
      }
    }
  }

  /// Adds new activity to the counts by hour in batches, pausing for other writes in between.
  private static func foldActivity(_ identity: Identity, _ log: Log) async {
    repeat {
      do {
        try await Pacer.run {
          guard identity.taskLease.isHeld else { return false }
          return try await identity.foldActivity()
        }
      } catch {
        log.add(.taskFailed(.foldActivity, reason: "\(error)"))
      }
    } while await slept(.seconds(15))
  }

  private static func watchActivity(_ identity: Identity, _ log: Log) async {
    while await slept(.seconds(60)) {
      guard identity.taskLease.isHeld else { continue }
      do { try await identity.watchActivity() } catch {
        log.add(.taskFailed(.watchActivity, reason: "\(error)"))
      }
    }
  }

  /// Deletes old code attempts in batches, pausing for other writes in between.
  private static func age(_ identity: Identity, _ log: Log) async {
    repeat {
      do {
        try await Pacer.run {
          guard identity.taskLease.isHeld else { return false }
          return try await identity.expireCodeAttempts()
        }
      } catch {
        log.add(.taskFailed(.deleteCodeAttempts, reason: "\(error)"))
      }
    } while await slept(.seconds(60))
  }

  private static func removeAuditEntries(_ identity: Identity, _ log: Log) async {
    while await slept(.seconds(60)) {
      do {
        try await Pacer.run {
          guard identity.taskLease.isHeld else { return false }
          return try await identity.removeExpiredAuditEntries()
        }
      } catch {
        log.add(.taskFailed(.deleteAuditEntries, reason: "\(error)"))
      }
    }
  }

  /// Runs bulk removals in batches.
  private static func removeMany(_ identity: Identity, _ log: Log) async {
    repeat {
      do {
        try await Pacer.run {
          guard identity.taskLease.isHeld else { return false }
          return try await identity.bulkRemovals.step { failure in
            log.add(.taskFailed(.bulkRemovals, reason: failure.description))
          }
        }
      } catch {
        log.add(.taskFailed(.bulkRemovals, reason: "\(error)"))
        guard await slept(.seconds(5)) else { return }
      }
    } while await slept(.milliseconds(250))
  }

  /// Creates the key that signs evidence, so that it's published before there is any.
  private static func createEvidenceKey(_ identity: Identity, _ log: Log) async {
    do { _ = try await identity.evidenceKeys.current() } catch {
      log.add(.taskFailed(.createEvidenceKey, reason: "\(error)"))
    }
  }

  private static func keep(_ keeper: KeyRotationTask, _ log: Log) async {
    repeat {
      do {
        try await Pacer.run { try await keeper.look() }
      } catch {
        log.add(.taskFailed(.loadKeys, reason: "\(error)"))
      }
    } while await slept(.seconds(KeyRotationTask.interval))
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
      await complaining {
        try await Pacer.run { try await chain.seal() }
      }
      await complaining { try await reportDelay() }
      // Erases parts of entries, which must be sealed.
      await complaining {
        try await Pacer.run {
          guard lease.isHeld else { return false }
          return try await userData.continueErasures()
        }
      }
      await complaining { if lease.isHeld { try await check() } }
    } while await slept(.seconds(5))
  }

  func finish() async {
    await complaining { try await chain.finish() }
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

  private func complaining(_ body: () async throws -> Void) async {
    do { try await body() } catch { log.add(.taskFailed(.sealAuditLog, reason: "\(error)")) }
  }
}
