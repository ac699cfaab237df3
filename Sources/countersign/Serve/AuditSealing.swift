import Identity
import Localization

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

  init(_ identity: Identity, log: Log) {
    (chain, userData, lease) = (identity.auditChain, identity.userData, identity.taskLease)
    self.log = log
  }

  func run() async {
    repeat {
      await complaining {
        while try await chain.seal(), await slept(.milliseconds(5)) {}
      }
      // Erases parts of entries, which must be sealed.
      await complaining {
        while lease.isHeld, try await userData.continueErasures(), await slept(.milliseconds(5)) {}
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
