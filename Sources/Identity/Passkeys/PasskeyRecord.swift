import Database
import WebAuthn

/// A stored passkey with what verifies its signatures.
struct PasskeyRecord {
  let passkey: Passkey
  let administrator: ID<Administrator>
  let credential: [UInt8]
  let key: [UInt8]
  let signCount: UInt32

  private static let columns: SQL = """
    passkey_id, name, created_at, last_used_at, is_backed_up, administrator_id, credential_id,
    cose_key, sign_count
    """

  private init(_ row: inout Row) throws {
    passkey = Passkey(
      id: try row.next(), name: try row.next(), createdAt: try row.next(),
      lastUsedAt: try row.next(), isBackedUp: try row.next())
    administrator = try row.next()
    credential = try row.next()
    key = try row.next()
    signCount = UInt32(clamping: try row.next() as Int64)
  }

  /// Finds the passkeys of an administrator, oldest first.
  static func all(
    of id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> [PasskeyRecord] {
    try connection.all(
      "SELECT \(columns) FROM passkey WHERE administrator_id = \(id)"
    ) { try PasskeyRecord(&$0) }.sorted {
      ($0.passkey.createdAt, $0.passkey.id.text) < ($1.passkey.createdAt, $1.passkey.id.text)
    }
  }

  static func find(
    credential: [UInt8], _ connection: borrowing Connection
  ) throws -> PasskeyRecord? {
    try connection.first(
      "SELECT \(columns) FROM passkey WHERE credential_id = \(credential)"
    ) { try PasskeyRecord(&$0) }
  }

  static func insert(
    _ new: RegisteredPasskey, _ id: ID<Passkey>, name: String, transports: [String],
    of administrator: ID<Administrator>, at now: Instant, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      INSERT INTO passkey (passkey_id, administrator_id, credential_id, cose_key, sign_count,
        aaguid, transports, is_backup_eligible, is_backed_up, name, created_at)
      VALUES (\(id), \(administrator), \(new.id), \(new.key), \(Int64(new.signCount)),
        \(new.aaguid), \(transports.joined(separator: " ")), \(new.isBackupEligible),
        \(new.isBackedUp), \(name), \(now))
      """)
  }

  /// Stores what a use changed; false if another use was faster.
  func record(
    _ use: PasskeyUse, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    try connection.run(
      """
      UPDATE passkey SET sign_count = \(Int64(use.signCount)), is_backed_up = \(use.isBackedUp),
        last_used_at = \(now)
      WHERE passkey_id = \(passkey.id) AND sign_count = \(Int64(signCount))
      """) == 1
  }

  /// Removes all passkeys of an administrator, and returns their number.
  static func clear(_ id: ID<Administrator>, _ connection: borrowing Connection) throws -> Int {
    try connection.run("DELETE FROM passkey WHERE administrator_id = \(id)")
  }
}
