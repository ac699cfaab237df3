import Identity
import Localization

/// Seals new entries of the audit log, exports signed heads, and verifies sealed entries: new ones
/// every minute, and all of them every day. Continues erasures of users' data.
actor AuditSealing {
  private let chain: AuditChain
  private let userData: UserData
  private let lease: TaskLease
  private let export: AuditHeadExport?
  private let log: Log
  /// The last exported position; nil before the first export.
  private var exported: Int64?
  /// The position of the background check.
  private var verified: Int64 = 0
  private var round = ContinuousClock.now
  private var lastCheck: ContinuousClock.Instant?

  init(_ identity: Identity, exportingTo export: AuditHeadExport?, log: Log) {
    (chain, userData, lease) = (identity.auditChain, identity.userData, identity.taskLease)
    (self.export, self.log) = (export, log)
  }

  func run() async {
    repeat {
      await complaining {
        while try await chain.seal(), await slept(.milliseconds(5)) {}
      }
      await complaining { try await exportHeads() }
      // Erases parts of entries, which must be sealed.
      await complaining {
        while lease.isHeld, try await userData.continueErasures(), await slept(.milliseconds(5)) {}
      }
      await complaining { if lease.isHeld { try await check() } }
    } while await slept(.seconds(5))
  }

  /// Seals and signs what's left.
  func finish() async {
    await complaining { try await chain.finish() }
    await complaining { try await exportHeads() }
  }

  private func exportHeads() async throws {
    guard let export else { return }
    guard lease.isHeld else {
      // Another server may write to the same file.
      exported = nil
      export.pause()
      return
    }
    var last: Int64
    if let exported {
      last = exported
    } else {
      let lines = export.attempt { (file) throws(ConfigurationError) in
        try file.create()
        return try file.lines()
      }
      guard let lines else { return }
      // After a restore, the file's last heads are those of entries that no longer exist.
      last = try await chain.position(of: lines.compactMap(\.head))
    }
    while true {
      exported = last
      let heads = try await chain.heads(after: last)
      guard let newest = heads.last else { return }
      let isWritten: Void? = export.attempt { (file) throws(ConfigurationError) in
        try file.append(heads)
      }
      guard isWritten != nil else { return }
      last = newest.sequence
    }
  }

  /// Verifies a bounded number of entries, so that sealing goes on meanwhile.
  private func check() async throws {
    let now = ContinuousClock.now
    if now - round > .seconds(86_400) { (verified, round) = (0, now) }
    if let lastCheck, now - lastCheck < .seconds(60) { return }
    for _ in 0..<50 {
      guard let step = try await chain.check(after: verified) else {
        lastCheck = now
        return
      }
      verified = step.through
      for fault in step.faults.prefix(10) { log.add(.auditFault(fault.message)) }
      guard await slept(.milliseconds(20)) else { return }
    }
  }

  private func complaining(_ body: () async throws -> Void) async {
    do { try await body() } catch { log.add(.taskFailed(.sealAuditLog, reason: "\(error)")) }
  }
}
