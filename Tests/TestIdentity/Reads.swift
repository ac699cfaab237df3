import Database
import TestDatabases

@testable import Identity

extension Approvals {
  func waiting(
    for account: ID<Account>, in pool: Pool
  ) async throws -> Approval? {
    let now = store.clock.now()
    return try await store.read { connection in
      try Self.waiting(for: account, in: pool, at: now, connection)
    }
  }
}

extension Audit {
  func erase(_ part: AuditPart, of id: Int64) async throws -> Bool {
    let now = store.clock.now()
    return try await store.write { connection in
      try Self.erase(part, of: id, at: now, connection)
    }
  }
}

extension ServiceToken {
  func author(address: String, requestID: String) -> Author {
    Author(actor: .serviceToken(id, name: name), address: address, requestID: requestID)
  }
}

extension Instance {
  func contents() async throws -> [String: [[SQLValue]]] {
    try await TestDatabase.contents(of: database)
  }
}
