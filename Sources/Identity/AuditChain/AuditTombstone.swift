import Crypto
import Database

/// A signed record of entries that were removed because of their age.
public struct AuditTombstone: Sendable {
  /// The position of the first removed entry.
  public let first: Int64
  /// The position of the last removed entry.
  public let last: Int64
  public let at: Instant
  /// The number of the last removed entry.
  let lastEntry: Int64
  /// The link before the first removed entry.
  let linkBefore: [UInt8]
  /// The link of the last removed entry, which the first kept one is linked to.
  let linkAfter: [UInt8]
  let keyID: String
  let signature: [UInt8]

  private static let columns: SQL =
    """
    first_sequence, last_sequence, last_audit_id, removed_at, link_before, link_after, key_id, \
    signature
    """

  private init(_ row: inout Row) throws {
    (first, last) = (try row.next(), try row.next())
    lastEntry = try row.next()
    at = try row.next()
    (linkBefore, linkAfter) = (try row.next(), try row.next())
    (keyID, signature) = (try row.next(), try row.next())
  }

  /// Creates the record of removed entries, which includes those of the same day before them.
  init(
    from start: Int64, through end: ChainLink, after earlier: AuditTombstone?, at now: Instant,
    by signer: EvidenceSigner
  ) throws {
    let merged = earlier?.at.day == now.day ? earlier : nil
    first = merged?.first ?? start
    linkBefore = merged?.linkBefore ?? earlier?.linkAfter ?? ChainLink.origin
    (last, lastEntry, linkAfter) = (end.sequence, end.entry, end.link)
    at = now
    keyID = signer.key.id
    signature = try signer.sign(
      Self.message(first, last, lastEntry, at, linkBefore, linkAfter))
  }

  /// The bytes that are signed.
  private static func message(
    _ first: Int64, _ last: Int64, _ lastEntry: Int64, _ at: Instant, _ before: [UInt8],
    _ after: [UInt8]
  ) -> [UInt8] {
    var bytes = Array("countersign-audit-removal-1\n".utf8)
    for number in [first, last, lastEntry, at.microseconds] { bytes.append(bigEndian: number) }
    return bytes + before + after
  }

  /// Whether a key with the record's fingerprint signed it.
  func isSigned(by keys: [String: Ed25519PublicKey]) -> Bool {
    let message = Self.message(first, last, lastEntry, at, linkBefore, linkAfter)
    return keys[keyID]?.verify(signature, of: message) ?? false
  }

  static func all(_ connection: borrowing Connection) throws -> [AuditTombstone] {
    try connection.all(
      "SELECT \(columns) FROM audit_tombstone WHERE last_sequence > 0 ORDER BY last_sequence"
    ) { try AuditTombstone(&$0) }
  }

  static func latest(_ connection: borrowing Connection) throws -> AuditTombstone? {
    try connection.first(
      """
      SELECT \(columns) FROM audit_tombstone WHERE last_sequence > 0
      ORDER BY last_sequence DESC LIMIT 1
      """
    ) { try AuditTombstone(&$0) }
  }

  /// Returns whether the log still has all entries since a time, so that later changes can be undone.
  static func areEntriesKept(
    since moment: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    guard let removed = try latest(connection) else { return true }
    let first = try connection.first(
      "SELECT at FROM audit WHERE audit_id > \(removed.lastEntry) ORDER BY audit_id LIMIT 1"
    ) { try $0.next() as Instant }
    return first.map { $0 <= moment } ?? false
  }

  func store(_ connection: borrowing Connection) throws {
    try connection.run(
      "DELETE FROM audit_tombstone WHERE last_sequence >= \(first) AND last_sequence < \(last)")
    try connection.run(
      """
      INSERT INTO audit_tombstone (\(Self.columns))
      VALUES (\(first), \(last), \(lastEntry), \(at), \(linkBefore), \(linkAfter),
        \(keyID), \(signature))
      """)
  }
}
