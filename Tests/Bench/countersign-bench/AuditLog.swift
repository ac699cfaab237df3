import Identity

/// The data set for benchmarks of the audit log's hash chain.
struct AuditLog {
  let identity: Identity

  /// Writes entries that change two fields, seals all, and verifies them.
  ///
  /// - Returns: The seconds of each step.
  func measure(_ count: Int) async throws -> [String: String] {
    let clock = ContinuousClock()
    var (seconds, start) = ([String: String](), clock.now)
    func note(_ step: String) {
      seconds[step] = "\((clock.now - start) / .seconds(1))"
      start = clock.now
    }
    for first in stride(from: 0, to: count, by: 1_000) {
      try await identity.store.write { connection in
        for number in first..<min(count, first + 1_000) {
          var entry = AuditEntry(.accountChange, .account, "uid-\(number)", name: "User \(number)")
          entry.add(.email, .text("user-\(number)@example.com"))
          entry.add(.displayName, .text("User \(number)"))
          let author = Author(
            actor: .administrator(ID("owner"), name: "Owner"), address: "192.0.2.1",
            requestID: "request-\(number)")
          try entry.record(by: author, at: Instant(seconds: 1_800_000_000), connection)
        }
      }
    }
    note("write")
    while try await identity.auditChain.seal() {}
    note("seal")
    let one = try await identity.auditChain.verify()
    note("verify")
    let two = try await identity.auditChain.verify(width: 2)
    note("verifyWithTwoThreads")
    seconds["entries"] = "\(one.entries)"
    seconds["faults"] = "\(one.faults.count + two.faults.count)"
    return seconds
  }
}
