public import Crypto
public import Database

/// How many stored secrets of second factors a master key decrypts.
public struct SecretSample: Sendable, Equatable {
  /// The maximum number of secrets to decrypt.
  public static let largest = 20

  public let readable: Int
  public let unreadable: Int

  /// Decrypts a few secrets.
  ///
  /// - Returns: The counts; both are 0 if no user has a TOTP factor.
  /// - Throws: `DatabaseError`, `CryptoError`.
  public static func take(
    _ database: any Database, keys: KeyRing
  ) async throws -> SecretSample {
    let factor = try TOTPFactor(keys: keys, random: .system)
    let results = try await database.read { connection in
      try connection.all(
        """
        SELECT sealed_secret, scope.project_id, scope.tenant_id, account.uid, enrollment_id
        FROM factor JOIN account USING (account_key) JOIN scope USING (scope_key)
        WHERE sealed_secret IS NOT NULL LIMIT \(largest)
        """
      ) { row in
        let sealed: [UInt8] = try row.next()
        return factor.opened(
          sealed, project: try row.next(), tenant: try row.next(), account: try row.next(),
          factor: try row.next()) != nil
      }
    }
    let readable = results.count { $0 }
    return SecretSample(readable: readable, unreadable: results.count - readable)
  }
}
