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
    /// A page that creates a passkey, signs in with one alone or after the password, or
    /// re-authenticates with one.
    case passkeyCreation, passkeySignIn, passkeySecondFactor, passkeyReauthentication
    /// A sign-in at the provider, which signs in, or links or re-authenticates an administrator.
    case providerSignIn, providerConfirmation

    /// The lifetime, in seconds.
    var lifetime: Int64 { self == .device ? ConsoleSessions.deviceLifetime : 600 }

    fileprivate func associated(_ binding: String) -> [UInt8] {
      Array((binding.isEmpty ? rawValue : "\(rawValue)\n\(binding)").utf8)
    }
  }

  let id: [UInt8]
  let issuedAt: Instant
  let administrator: ID<Administrator>
  /// The password mark for a sign-in, the shared secret for an enrollment, the challenge for a
  /// passkey, the secret of the request for a provider, empty for a device.
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

  /// Seals the ticket; with a binding, it can only be opened with the same one.
  func sealed(
    _ kind: Kind, by sealer: Sealer, boundTo binding: String = ""
  ) throws(CryptoError) -> Secret {
    var bytes = id
    for shift in stride(from: Int64(56), through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: issuedAt.microseconds >> shift))
    }
    let name = Array(administrator.text.utf8)
    bytes.append(UInt8(truncatingIfNeeded: name.count))
    bytes += name
    bytes += secret.revealedBytes
    return Secret(Base64URL.encode(try sealer.seal(bytes, with: kind.associated(binding))))
  }

  /// Opens a sealed ticket; nil if it's forged, of another kind or binding, or expired, unless expired
  /// ones are asked for.
  init?(
    _ text: String, _ kind: Kind, at now: Instant, by sealer: Sealer,
    boundTo binding: String = "", evenExpired: Bool = false
  ) {
    guard
      text.utf8.count < 1_024, let box = Base64URL.decode(text),
      let opened = try? sealer.open(box, with: kind.associated(binding))
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
    guard evenExpired || issuedAt.lasts(kind.lifetime, at: now) else { return nil }
  }

  /// Marks the ticket as used; returns false if it was used before.
  func use(_ connection: borrowing Connection) throws -> Bool {
    if try RestoreMark.ends(issuedAt, connection) { return false }
    return try connection.run(
      """
      INSERT INTO ticket (scope_key, ticket_id, uses, failures) VALUES (0, \(id), 1, 0)
      ON CONFLICT (ticket_id) DO UPDATE SET uses = 1
      WHERE ticket.uses = 0 AND ticket.failures < \(Self.mostReleases)
      """) == 1
  }

  private static let mostReleases = 3

  /// Lets the ticket be used again, because what it was used for had no effect.
  ///
  /// The number of times is limited, so that nothing is repeated without end.
  func release(_ connection: borrowing Connection) throws {
    try connection.run(
      """
      UPDATE ticket SET uses = 0, failures = failures + 1 WHERE scope_key = 0 AND ticket_id = \(id)
      """)
  }

  func isUsed(_ connection: borrowing Connection) throws -> Bool {
    if try RestoreMark.ends(issuedAt, connection) { return true }
    return try connection.first(
      """
      SELECT 1 FROM ticket WHERE scope_key = 0 AND ticket_id = \(id)
        AND (uses > 0 OR failures >= \(Self.mostReleases))
      """
    ) { _ in true } ?? false
  }
}
