import Database

/// Used codes and time steps that a replaced database knows and the restored one doesn't.
struct FormerState: Sendable {
  struct UsedCode: Sendable {
    let account: Int64
    let digest: [UInt8]
  }

  struct UsedAdministratorCode: Sendable {
    let administrator: String
    let digest: [UInt8]
  }

  /// The used time steps of secrets with which a step was accepted after those that become used.
  var steps: [RestoredSteps] = []
  /// The steps that stay unused, because no server ran at that time; nil for none.
  var unused: ClosedRange<Int64>?
  /// Recovery codes of users that were used or replaced.
  var codes: [UsedCode] = []
  /// Recovery codes of administrators that were used or replaced.
  var administratorCodes: [UsedAdministratorCode] = []

  private static let share = 5_000

  init() {}

  /// Compares the two databases in parts.
  init(_ restored: any Database, _ former: any Database, at now: Instant) async throws {
    let present = now.seconds / TOTPFactor.period
    let newest = [
      try await former.read { try StoredTime.latest($0) },
      try await restored.read { try StoredTime.latest($0) },
    ].compactMap(\.self).max()
    unused = RestoredSteps.unused(since: newest, until: present)
    let end = unused.map { $0.lowerBound - 1 } ?? present
    steps = try await former.read { try RestoredSteps.after(end, $0) }
    administratorCodes = try await Self.administratorCodes(restored).filter {
      [
        known =
          Set(try await Self.administratorCodes(former).map(\.digest))
      ] code in
      !known.contains(code.digest)
    }
    var last: Int64 = 0
    while let part = try await Self.codes(restored, after: last) {
      let (first, end) = (last, part.end)
      let known = try await former.read { connection in
        try Set(
          connection.all(
            """
            SELECT code_digest FROM backup_code
            WHERE account_key > \(first) AND account_key <= \(end) AND kind = 'recovery'
            """
          ) { try $0.next() as [UInt8] })
      }
      codes += part.codes.filter { !known.contains($0.digest) }
      last = end
    }
  }

  /// Reads the recovery codes of the next accounts, never splitting an account; nil at the end.
  private static func codes(
    _ database: any Database, after last: Int64
  ) async throws -> (codes: [UsedCode], end: Int64)? {
    try await database.read { connection in
      let accounts = try connection.all(
        """
        SELECT DISTINCT account_key FROM backup_code_set
        WHERE account_key > \(last) ORDER BY account_key LIMIT \(share)
        """
      ) { try $0.next() as Int64 }
      guard let end = accounts.last else { return nil }
      let codes = try connection.all(
        """
        SELECT account_key, code_digest FROM backup_code
        WHERE account_key > \(last) AND account_key <= \(end) AND kind = 'recovery'
        """
      ) { UsedCode(account: try $0.next(), digest: try $0.next()) }
      return (codes, end)
    }
  }

  private static func administratorCodes(
    _ database: any Database
  ) async throws -> [UsedAdministratorCode] {
    try await database.read { connection in
      try connection.all(
        "SELECT administrator_id, code_digest FROM recovery_code WHERE administrator_id > ''"
      ) { UsedAdministratorCode(administrator: try $0.next(), digest: try $0.next()) }
    }
  }
}
