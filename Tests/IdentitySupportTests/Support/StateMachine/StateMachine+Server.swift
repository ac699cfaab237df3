import Database

@testable import Identity

/// The server's own actions.
extension StateMachine {
  /// Purges expired data, as the server does every minute.
  func purgeExpired() async throws {
    var expectation = Expectation(name: "purgeExpired", isOrdered: false)
    for index in approvals.indices.sorted(by: { approvals[$0].expires < approvals[$1].expires })
    where approvals[index].isOpen && approvals[index].expires <= now {
      approvals[index].isOpen = false
      if let job = approvals[index].job { jobs[job].state = .over }
      expectation.rows.append("approval.expire by server on \(object(of: approvals[index]))")
    }
    for index in jobs.indices
    where jobs[index].state == .draft && now.seconds - jobs[index].madeAt.seconds > 3_600 {
      jobs[index].state = .over
    }
    for index in users.indices {
      for removal in users[index].removals where removal.until <= now {
        users[index].ended += removal.factors.map { (removal.id, $0) }
        users[index].purged += removal.factors
        users[index].purgedRemovals.append(removal.id)
      }
      users[index].removals.removeAll { $0.until <= now }
      let uid = users[index].uid
      expectation.rows += users[index].ended.map { _ in "factor.purge by server on \(uid)" }
      users[index].ended = []
      if let until = users[index].blockedUntil, until <= now { users[index].blockedUntil = nil }
      if let temporary = users[index].temporary, temporary.until <= now {
        users[index].endTemporary()
      }
    }
    let result = await attempt { try await identity.purgeExpired() }
    try await reconcile(expectation, result)
  }
}
