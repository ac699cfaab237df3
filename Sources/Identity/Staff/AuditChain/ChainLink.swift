import Crypto
import Database

struct ChainLink: Sendable {
  /// The version of the encoding, which each digest begins with.
  static let version: UInt8 = 1
  /// The link before the first one.
  static let origin = [UInt8](repeating: 0, count: HashFunction.sha256.digestLength)

  let sequence: Int64
  let entry: Int64
  let salts: [UInt8]
  let link: [UInt8]

  static let columns: SQL = "sequence, audit_id, salts, link"
}

extension ChainLink {
  init(_ row: inout Row) throws {
    self.init(
      sequence: try row.next(), entry: try row.next(), salts: try row.next(), link: try row.next())
  }

  init(_ parts: AuditParts, sequence: Int64, after previous: [UInt8], _ random: RandomSource) {
    let salts = random.bytes(parts.encoded.count * AuditParts.saltLength)
    let digests = parts.encoded.indices.map { part in
      parts.digest(part, salt: Self.salt(part, in: salts))
    }
    self.init(
      sequence: sequence, entry: parts.id, salts: salts,
      link: Self.link(after: previous, sequence, digests))
  }

  static func salt(_ part: Int, in salts: [UInt8]) -> ArraySlice<UInt8> {
    salts[(part * AuditParts.saltLength)..<((part + 1) * AuditParts.saltLength)]
  }

  static func link(
    after previous: [UInt8], _ sequence: Int64, _ digests: [[UInt8]]
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(14 + previous.count * (digests.count + 1))
    bytes += [UInt8(ascii: "L"), version]
    bytes += previous
    bytes.append(bigEndian: sequence)
    bytes.append(bigEndian: UInt32(digests.count))
    for digest in digests { bytes += digest }
    return HashFunction.sha256.digest(bytes)
  }

  /// Returns whether the link is that of an entry after the link `previous`, with the digests of
  /// erased parts.
  func matches(
    _ parts: AuditParts, after previous: [UInt8], erased: [Int: [UInt8]]
  ) -> Bool {
    guard salts.count == parts.encoded.count * AuditParts.saltLength else { return false }
    var digests: [[UInt8]] = []
    digests.reserveCapacity(parts.encoded.count)
    for part in parts.encoded.indices {
      if let digest = erased[part] {
        guard parts.isBlank[part] else { return false }
        digests.append(digest)
      } else {
        digests.append(parts.digest(part, salt: Self.salt(part, in: salts)))
      }
    }
    return link == Self.link(after: previous, sequence, digests)
  }

  static func last(_ connection: borrowing Connection) throws -> ChainLink? {
    try connection.first(
      "SELECT \(columns) FROM audit_link WHERE sequence > 0 ORDER BY sequence DESC LIMIT 1"
    ) { try ChainLink(&$0) }
  }

  static func find(_ sequence: Int64, _ connection: borrowing Connection) throws -> ChainLink? {
    try connection.first(
      "SELECT \(columns) FROM audit_link WHERE sequence = \(sequence)"
    ) { try ChainLink(&$0) }
  }
}

/// The parts of an audit entry that have a digest of their own, so that each can be erased:
/// the facts, the actor, the resource, the texts, and then each field.
struct AuditParts: Sendable {
  /// The number of parts before the fields.
  static let fixed = 4
  static let saltLength = 16
  /// What a salt of an erased part is replaced by.
  static let noSalt = [UInt8](repeating: 0, count: saltLength)

  let id: Int64
  let at: Instant
  private(set) var encoded: [[UInt8]]
  /// Whether each part could be an erased one, which has no values.
  private(set) var isBlank: [Bool]
  /// Whether the entry and all its fields are in the indexes for filters; not part of a digest.
  private(set) var isFiled: Bool

  /// Reads the entries after `start` up to `end`, in order.
  static func read(
    after start: Int64, through end: Int64, limit: Int, _ connection: borrowing Connection
  ) throws -> [AuditParts] {
    var entries = try connection.all(
      """
      SELECT audit_id, at, actor_kind, project_id, tenant_id, action, object_kind, request_id,
        actor_id, actor_name, address, object_id, object_name, from_value, to_value, reason, note,
        ticket, proof, filed
      FROM audit WHERE audit_id > \(start) AND audit_id <= \(end) ORDER BY audit_id LIMIT \(limit)
      """
    ) { try AuditParts(&$0) }
    guard let last = entries.last?.id else { return [] }
    var index = 0
    _ = try connection.all(
      """
      SELECT audit_id, position, field, old_kind, old_value, new_kind, new_value, filed
      FROM audit_change
      WHERE audit_id > \(start) AND audit_id <= \(last) ORDER BY audit_id, position
      """
    ) { row in
      let id: Int64 = try row.next()
      while index < entries.count, entries[index].id < id { index += 1 }
      // A field without an entry belongs to nothing that's sealed.
      guard index < entries.count, entries[index].id == id else { return }
      try entries[index].addField(&row)
    }
    return entries
  }

  private init(_ row: inout Row) throws {
    id = try row.next()
    at = try row.next()
    var facts = PartEncoder(capacity: 160)
    facts.add(id)
    facts.add(at.microseconds)
    for _ in 1...6 { facts.add(try row.next() as String) }
    var actor = PartEncoder(capacity: 96)
    var resource = PartEncoder(capacity: 96)
    var texts = PartEncoder(capacity: 32)
    for _ in 1...3 { actor.add(try row.next() as String) }
    for _ in 1...2 { resource.add(try row.next() as String) }
    for _ in 1...6 { texts.add(try row.next() as String?) }
    encoded = [facts.bytes, actor.bytes, resource.bytes, texts.bytes]
    isBlank = [false, actor.isBlank, resource.isBlank, texts.isBlank]
    isFiled = try row.next() as Int64 == 1
  }

  private mutating func addField(_ row: inout Row) throws {
    var name = PartEncoder(capacity: 128)
    name.add(try row.next() as Int64)
    name.add(try row.next() as String)
    var values = PartEncoder(capacity: 64)
    for _ in 1...4 { values.add(try row.next() as String?) }
    encoded.append(name.bytes + values.bytes)
    isBlank.append(values.isBlank)
    if try row.next() as Int64 != 1 { isFiled = false }
  }

  func digest(_ part: Int, salt: ArraySlice<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(2 + salt.count + 4 + encoded[part].count)
    bytes += [UInt8(ascii: "P"), ChainLink.version]
    bytes += salt
    bytes.append(bigEndian: UInt32(part))
    bytes += encoded[part]
    return HashFunction.sha256.digest(bytes)
  }
}

/// Encodes values so that no two lists of values have the same bytes.
private struct PartEncoder {
  private(set) var bytes: [UInt8] = []
  /// Whether all values are absent or empty.
  private(set) var isBlank = true

  init(capacity: Int) { bytes.reserveCapacity(capacity) }

  mutating func add(_ number: Int64) {
    isBlank = false
    bytes.append(2)
    bytes.append(bigEndian: UInt64(bitPattern: number))
  }

  mutating func add(_ text: String?) {
    guard let text else {
      bytes.append(0)
      return
    }
    let utf8 = text.utf8
    if !utf8.isEmpty { isBlank = false }
    bytes.append(1)
    bytes.append(bigEndian: UInt32(utf8.count))
    bytes.append(contentsOf: utf8)
  }
}

extension [UInt8] {
  mutating func append(bigEndian number: some FixedWidthInteger) {
    for shift in stride(from: number.bitWidth - 8, through: 0, by: -8) {
      append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }
}
