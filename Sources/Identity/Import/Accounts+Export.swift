public import Crypto
import Database

public struct ExportedAccount: Sendable {
  public let account: Account
  public let passwordHash: PasswordHash?
}

extension Accounts {
  /// Reads accounts with their password hashes, ordered by uid.
  ///
  /// Second factors are returned without their secrets, as everywhere. A caller that reads hashes
  /// records it with ``recordHashDownload(of:count:by:)``.
  public func export(
    _ pool: Pool, after: String?, limit: Int
  ) async throws -> Page<ExportedAccount> {
    let limit = Page<Account>.size(limit)
    return try await store.read { connection in
      let here: SQL = "a.scope_key = \(pool.key) AND a.uid > \(after ?? "")"
      let accounts = try AccountRecord.many(
        here, order: "ORDER BY a.uid", limit: limit + 1, connection)
      let hashes = try connection.all(
        "SELECT a.password_hash FROM account a WHERE \(here) ORDER BY a.uid LIMIT \(limit + 1)"
      ) { try $0.next() as String? }
      let rows = zip(accounts, hashes).map { account, hash in
        ExportedAccount(
          account: account, passwordHash: hash.map(PasswordHash.init(encoded:)))
      }
      return Page(rows, limit: limit) { $0.account.id.text }
    }
  }
}
