import Crypto
import Database

extension AuditChain {
  /// The minimum number of days for which entries are kept: reviews and reports look back a year.
  public static let shortestRetention = 365
  private static let longestRetention = 36_500
  private static let setting = InstanceValue("audit_retention_days")

  /// Reads the number of days for which entries are kept; nil for ever.
  static func retention(_ connection: borrowing Connection) throws -> Int? {
    try setting.readNumber(connection).map { Int($0) }
  }

  /// Changes for how many days entries are kept; nil keeps them for ever.
  ///
  /// - Returns: False if nothing changes.
  public func setRetention(
    days: Int?, _ request: ActionRequest
  ) async throws -> ActionOutcome<Bool> {
    if let days, !(Self.shortestRetention...Self.longestRetention).contains(days) {
      throw InstanceSettingError.retentionOutOfRange
    }
    return try await store.run(.changeAuditRetention, by: .console(request), in: .instance) {
      context, connection in
      let old = try Self.retention(connection)
      guard old != days else { return false }
      try Self.setting.store(days.map { String($0) }, connection)
      var entry = AuditEntry(.auditChangeRetention, of: nil)
      let seconds = { (days: Int?) in
        days.map { AuditValue.duration($0 * 86_400) } ?? .code("forever")
      }
      entry.add(.auditRetention, from: seconds(old), to: seconds(days))
      try context.record(entry, connection)
      return true
    }
  }

  /// Removes the next entries that are older than the retention, and signs a record of them.
  ///
  /// Only entries that a signed head covers and that match the chain are removed, so that removal
  /// doesn't hide a change.
  func removeExpired() async throws -> Bool {
    let now = store.clock.now()
    let found = try await store.read { try Self.expired(at: now, $0) }
    guard let found else { return false }
    let section = try await section(
      after: found.start, through: found.end, try await known())
    guard section.faults.isEmpty, let first = section.first, let last = section.last else {
      return false
    }
    let signer = try await keys.signer()
    return try await store.write { connection in
      let earlier = try AuditTombstone.latest(connection)
      // No lease: of transactions that remove the same entries, only one is stored. The server that
      // removes needn't be the one that seals.
      guard earlier?.last ?? 0 == found.start else { return false }
      try AuditTombstone(from: first, through: last, after: earlier, at: now, by: signer)
        .store(connection)
      let (from, to) = (earlier?.lastEntry ?? 0, last.entry)
      for statement: SQL in [
        "DELETE FROM audit_change WHERE audit_id > \(from) AND audit_id <= \(to)",
        "DELETE FROM audit_erasure WHERE audit_id > \(from) AND audit_id <= \(to)",
        "DELETE FROM audit WHERE audit_id > \(from) AND audit_id <= \(to)",
        "DELETE FROM audit_link WHERE sequence > \(found.start) AND sequence <= \(found.end)",
        "DELETE FROM audit_head WHERE sequence > \(found.start) AND sequence <= \(found.end)",
      ] {
        try connection.run(statement)
      }
      return true
    }
  }

  private struct Expired: Sendable {
    let start: Int64
    let end: Int64
  }

  /// Returns the positions of the next entries that are too old; the last sealed entry stays.
  private static func expired(
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Expired? {
    guard let days = try retention(connection), let head = try AuditHead.last(connection),
      let last = try ChainLink.last(connection)
    else { return nil }
    let oldest = now.advanced(bySeconds: Int64(-days) * 86_400)
    let start = try AuditTombstone.latest(connection)?.last ?? 0
    let end = min(start + batch, head.sequence, last.sequence - 1)
    let times: [Int64?] = try connection.all(
      """
      SELECT (SELECT at FROM audit WHERE audit_id = l.audit_id) FROM audit_link l
      WHERE l.sequence > \(start) AND l.sequence <= \(end) ORDER BY l.sequence
      """
    ) { try $0.next() }
    let old = times.prefix { at in at.map { $0 < oldest.microseconds } ?? false }
    return old.isEmpty ? nil : Expired(start: start, end: start + Int64(old.count))
  }
}

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
