import Crypto
import Database
import JSON
import Text

/// The hash chain of the audit log, which shows whether entries were changed afterwards.
///
/// Entries get a link each, in their order, shortly after they were committed; the newest link is
/// signed once a minute and at every 1,000th entry.
public struct AuditChain: Sendable {
  /// The number of entries after which a link is always signed.
  public static let headInterval: Int64 = 1_000
  /// The seconds after which new links are signed; with a look every 5 s, at most a minute.
  static let headSeconds: Int64 = 55
  /// The maximum number of entries per transaction.
  static let batch: Int64 = 500

  let store: Store
  let keys: EvidenceKeys
  let lease: Lease

  init(store: Store, keys: EvidenceKeys) {
    self.store = store
    self.keys = keys
    lease = Lease(name: "audit-chain", holder: RandomSource.system.uuid(), length: 15)
  }

  /// Seals the next entries, and signs the newest link when it's due.
  ///
  /// The digests are computed from a snapshot, so that the writer only inserts the links.
  ///
  /// - Returns: True if there are more entries to seal.
  public func seal() async throws -> Bool { try await seal(signing: false) }

  /// Seals the next entries, signs the newest link, and lets another process take over; for the
  /// end of a server.
  public func finish() async throws {
    _ = try await seal(signing: true)
    let now = store.clock.now()
    try await store.write { try lease.end(at: now, $0) }
  }

  func seal(signing signs: Bool) async throws -> Bool {
    let (random, now) = (store.random, store.clock.now())
    guard let settled = try await store.settledEntry() else { return false }
    let next = try await store.read { try Batch(through: settled, $0, random) }
    let isDue =
      signs || next.end % Self.headInterval == 0
      || next.signedAt.map { abs(now.seconds - $0.seconds) >= Self.headSeconds } ?? true
    let signer = isDue && next.end > next.signed ? try await keys.signer() : nil
    guard signer != nil || !next.links.isEmpty else { return false }
    return try await store.write { connection in
      guard try lease.take(at: now, connection),
        try ChainLink.last(connection)?.sequence ?? 0 == next.start
      else { return false }
      for link in next.links {
        try connection.run(
          """
          INSERT INTO audit_link (\(ChainLink.columns))
          VALUES (\(link.sequence), \(link.entry), \(link.salts), \(link.link))
          """)
      }
      if let signer {
        try AuditHead(sequence: next.end, at: now, link: next.link, by: signer).store(connection)
      }
      return !next.links.isEmpty
    }
  }

  private struct Batch {
    /// The position before the first link.
    let start: Int64
    private(set) var links: [ChainLink] = []
    /// The last link, and its position.
    private(set) var link: [UInt8]
    private(set) var end: Int64
    /// The position of the newest head, and when it was signed.
    let signed: Int64
    let signedAt: Instant?

    init(
      through settled: Int64, _ connection: borrowing Connection, _ random: RandomSource
    ) throws {
      let last = try ChainLink.last(connection)
      let head = try AuditHead.last(connection)
      (signed, signedAt) = (head?.sequence ?? 0, head?.at)
      start = last?.sequence ?? 0
      (end, link) = (start, last?.link ?? ChainLink.origin)
      // Ends at a multiple of the interval, so that each of them gets a head.
      let limit = min(batch, headInterval - start % headInterval)
      let entries = try AuditParts.read(
        after: last?.entry ?? 0, through: settled, limit: Int(limit), connection)
      for entry in entries {
        let next = ChainLink(entry, sequence: end + 1, after: link, random)
        (end, link) = (next.sequence, next.link)
        links.append(next)
      }
    }
  }

  public func heads(
    after sequence: Int64 = 0, limit: Int = 1_000
  ) async throws -> [AuditHead] {
    try await store.read { connection in
      try connection.all(
        """
        SELECT \(AuditHead.columns) FROM audit_head WHERE sequence > \(sequence)
        ORDER BY sequence LIMIT \(limit)
        """
      ) { try AuditHead(&$0) }
    }
  }
}

/// A signed link of the audit log's hash chain: it covers all entries up to its own.
public struct AuditHead: Sendable, Equatable {
  /// The position of the last entry that it covers.
  public let sequence: Int64
  public let at: Instant
  public let link: [UInt8]
  /// The fingerprint of the evidence key that signed it.
  public let keyID: String
  let signature: [UInt8]

  static let schema = "countersign-audit-head/1"
  static let columns: SQL = "sequence, signed_at, link, key_id, signature"

  init(sequence: Int64, at: Instant, link: [UInt8], by signer: EvidenceSigner) throws {
    (self.sequence, self.at, self.link) = (sequence, at, link)
    keyID = signer.key.id
    signature = try signer.sign(Self.message(sequence, at, link))
  }

  init(_ row: inout Row) throws {
    sequence = try row.next()
    at = try row.next()
    link = try row.next()
    keyID = try row.next()
    signature = try row.next()
  }

  public init?(line: some Sequence<UInt8>) {
    guard let json = try? JSON.parse(Array(line)), json["schema"]?.textValue?.text == Self.schema,
      let sequence = json["sequence"]?.numberValue?.int64, sequence > 0,
      let time = json["signedAt"]?.textValue?.text, let at = Instant(rfc3339: time),
      let digits = json["link"]?.textValue?.text, let link = Hex.decode(Array(digits.utf8)),
      let keyID = json["key"]?.textValue?.text, let value = json["signature"]?.textValue?.text,
      let signature = Base64URL.decode(value)
    else { return nil }
    (self.sequence, self.at, self.link) = (sequence, at, link)
    (self.keyID, self.signature) = (keyID, signature)
  }

  /// The head as a line of JSON, without a line break.
  public var line: [UInt8] { json.serialized() }

  var json: JSON {
    [
      "schema": .string(Self.schema), "sequence": .number(JSON.Number(sequence)),
      "signedAt": .string(at.rfc3339), "link": .string(Hex.encode(link)), "key": .string(keyID),
      "signature": .string(Base64URL.encodeStandard(signature)),
    ]
  }

  /// The bytes that are signed.
  private static func message(_ sequence: Int64, _ at: Instant, _ link: [UInt8]) -> [UInt8] {
    var bytes = Array("countersign-audit-head-1\n".utf8)
    bytes.append(bigEndian: sequence)
    bytes.append(bigEndian: at.microseconds)
    return bytes + link
  }

  /// Whether a key with the head's fingerprint signed it.
  func isSigned(by keys: [String: Ed25519PublicKey]) -> Bool {
    keys[keyID]?.verify(signature, of: Self.message(sequence, at, link)) ?? false
  }

  static func last(_ connection: borrowing Connection) throws -> AuditHead? {
    try connection.first(
      "SELECT \(columns) FROM audit_head WHERE sequence > 0 ORDER BY sequence DESC LIMIT 1"
    ) { try AuditHead(&$0) }
  }

  static func all(
    after sequence: Int64, _ connection: borrowing Connection
  ) throws -> [AuditHead] {
    try connection.all(
      "SELECT \(columns) FROM audit_head WHERE sequence > \(sequence) ORDER BY sequence"
    ) { try AuditHead(&$0) }
  }

  func store(_ connection: borrowing Connection) throws {
    try connection.run(
      """
      INSERT INTO audit_head (\(Self.columns))
      VALUES (\(sequence), \(at), \(link), \(keyID), \(signature))
      """)
  }
}
