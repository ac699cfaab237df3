import Crypto
import Database

struct ChainLink: Sendable {
  /// The version of the encoding, which each digest begins with.
  static let version: UInt8 = 1
  /// The link before the first one.
  static let origin = [UInt8](repeating: 0, count: HashFunction.sha256.digestLength)

  let sequence: Int64
  /// The number of the entry.
  let entry: Int64
  let salts: [UInt8]
  let link: [UInt8]

  static let columns: SQL = "sequence, audit_id, salts, link"

  init(sequence: Int64, entry: Int64, salts: [UInt8], link: [UInt8]) {
    (self.sequence, self.entry) = (sequence, entry)
    (self.salts, self.link) = (salts, link)
  }

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
