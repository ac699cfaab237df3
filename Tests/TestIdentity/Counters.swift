import Database

@testable import Identity

extension Instance {
  /// Forgets the alerts that were sent about an account, as an hour later.
  func renewAlerts(of account: Account) async throws {
    try await database.write { connection in
      try ThrottleCharge.reset(OwnChange.alert.name(account.key), connection)
    }
  }

  /// The number of failed attempts counted under a kind of name.
  func guesses(at kind: String = "email") async throws -> Int {
    try await database.read { connection in
      try connection.first(
        """
        SELECT /* test */ coalesce(sum(failures), 0) FROM throttle WHERE name LIKE \(kind + " %")
        """
      ) { try $0.next() } ?? 0
    }
  }
}
