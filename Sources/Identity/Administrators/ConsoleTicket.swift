import Crypto
import Database

/// Sealed data that the browser holds for an administrator, either between two steps (single use,
/// valid for ten minutes) or to identify a known device.
struct ConsoleTicket {
  enum Kind: String {
    /// The password was accepted; a code is required.
    case signIn
    /// A new secret was shown; its first code is required.
    case enrollment
    /// A device that signed in before; its failed attempts are counted separately.
    case device

    /// The lifetime, in seconds.
    var lifetime: Int64 { self == .device ? ConsoleSessions.deviceLifetime : 600 }
  }

  let id: [UInt8]
  let issuedAt: Instant
  let administrator: ID<Administrator>
  /// The password mark for a sign-in, the shared secret for an enrollment, empty for a device.
  let secret: Secret

  init(
    _ administrator: ID<Administrator>, secret: Secret, id known: [UInt8]? = nil, at now: Instant,
    random: RandomSource
  ) {
    id = known ?? TimeOrderedID.make(at: now, random: random)
    issuedAt = now
    self.administrator = administrator
    self.secret = secret
  }

  func sealed(_ kind: Kind, by sealer: Sealer) throws(CryptoError) -> Secret {
    var bytes = id
    for shift in stride(from: Int64(56), through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: issuedAt.microseconds >> shift))
    }
    let name = Array(administrator.text.utf8)
    bytes.append(UInt8(truncatingIfNeeded: name.count))
    bytes += name
    bytes += secret.revealedBytes
    return Secret(Base64URL.encode(try sealer.seal(bytes, with: Array(kind.rawValue.utf8))))
  }

  /// Opens a sealed ticket; nil if it's forged, of another kind, or expired.
  init?(_ text: String, _ kind: Kind, at now: Instant, by sealer: Sealer) {
    guard
      text.utf8.count < 1_024, let box = Base64URL.decode(text),
      let opened = try? sealer.open(box, with: Array(kind.rawValue.utf8))
    else { return nil }
    let bytes = opened.revealedBytes
    let head = TimeOrderedID.length + 9
    guard bytes.count >= head, bytes.count >= head + Int(bytes[head - 1]) else { return nil }
    id = Array(bytes[..<TimeOrderedID.length])
    issuedAt = Instant(
      microseconds: bytes[TimeOrderedID.length..<(head - 1)].reduce(Int64(0)) {
        $0 << 8 | Int64($1)
      })
    let end = head + Int(bytes[head - 1])
    administrator = ID(String(decoding: bytes[head..<end], as: UTF8.self))
    secret = Secret(Array(bytes[end...]))
    guard now <= issuedAt.advanced(bySeconds: kind.lifetime) else { return nil }
  }

  /// Marks the ticket as used; returns false if it was used before.
  func use(_ connection: borrowing Connection) throws -> Bool {
    if try RestoreMark.ends(issuedAt, connection) { return false }
    return try connection.run(
      """
      INSERT INTO ticket (ticket_id, uses, failures) VALUES (\(id), 1, 0)
      ON CONFLICT (ticket_id) DO NOTHING
      """) == 1
  }

  func isUsed(_ connection: borrowing Connection) throws -> Bool {
    if try RestoreMark.ends(issuedAt, connection) { return true }
    return try connection.first("SELECT 1 FROM ticket WHERE ticket_id = \(id)") { _ in true }
      ?? false
  }
}
