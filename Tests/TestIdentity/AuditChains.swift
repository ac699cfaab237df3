import Database
import Testing

@testable import Identity

typealias Fault = AuditVerification.Fault

extension Instance {
  var chain: AuditChain { identity.auditChain }

  /// Writes audit entries with personal values, and returns how many there are then.
  @discardableResult
  func writeEntries(_ count: Int) async throws -> Int64 {
    let (now, acme) = (now, acme)
    return try await database.write { connection in
      for number in 0..<count {
        var entry = AuditEntry(.accountChange, .account, "uid-\(number)", name: "Äda", in: acme)
        entry.add(.email, from: .text("old@example.com"), to: .text("new-\(number)@example.com"))
        entry.add(.displayName, from: .absent, to: .text("Ada"))
        entry.note = "by phone"
        try entry.record(by: Instance.support, at: now, connection)
      }
      return try connection.first("SELECT /* test */ count(*) FROM audit") { try $0.next() } ?? 0
    }
  }

  /// Seals all entries with a signed head at the end.
  func sealAll() async throws {
    // Creates the key, which is an entry too.
    _ = try await identity.evidenceKeys.current()
    while try await chain.seal() {}
    _ = try await chain.seal(signing: true)
  }

  /// Writes entries, seals all, and changes the database behind the program's back.
  func faults(
    after count: Int = 20, _ tamper: @escaping @Sendable (borrowing Connection) throws -> Void
  ) async throws -> [Fault] {
    try await writeEntries(count)
    try await sealAll()
    let before = try await chain.verify().faults
    #expect(before == [])
    try await database.write(tamper)
    return try await chain.verify().faults
  }

  /// The links as stored.
  func links() async throws -> [ChainLink] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT /* test */ sequence, audit_id, salts, link FROM audit_link ORDER BY sequence
        """
      ) { try ChainLink(&$0) }
    }
  }
}
