import Database

@testable import Identity

/// The server's own actions.
extension StateMachine {
  /// Purges expired data, as the server does every minute.
  func purgeExpired() async throws {
    var took = Took(name: "purgeExpired", isOrdered: false)
    for index in approvals.indices.sorted(by: { approvals[$0].expires < approvals[$1].expires })
    where approvals[index].isOpen && approvals[index].expires <= now {
      approvals[index].isOpen = false
      if let job = approvals[index].job { jobs[job].state = .over }
      took.rows.append("approval.expire by server on \(object(of: approvals[index]))")
    }
    for index in jobs.indices
    where jobs[index].state == .draft && now.seconds - jobs[index].madeAt.seconds > 3_600 {
      jobs[index].state = .over
    }
    for index in users.indices {
      for apart in users[index].aparts where apart.until <= now {
        users[index].ended += apart.factors.map { (apart.id, $0) }
        users[index].purged += apart.factors
        users[index].purgedRemovals.append(apart.id)
      }
      users[index].aparts.removeAll { $0.until <= now }
      let uid = users[index].uid
      took.rows += users[index].ended.map { _ in "factor.purge by server on \(uid)" }
      users[index].ended = []
      if let until = users[index].blockedUntil, until <= now { users[index].blockedUntil = nil }
      if let temporary = users[index].temporary, temporary.until <= now {
        users[index].endTemporary()
      }
    }
    let result = await attempt { try await identity.purgeExpired() }
    try await reconcile(took, result)
  }
}
