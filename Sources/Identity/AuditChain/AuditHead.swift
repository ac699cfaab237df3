import Crypto
import Database
import JSON
import Text

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
