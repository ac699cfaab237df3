import Crypto
import Database
import OTP

/// Recovery codes for administrators who lose their second factor's device, an authenticator app or
/// a passkey.
///
/// Sixteen characters from an alphabet of 31 are 79 bits, so a plain digest is enough. The digest
/// covers the administrator and the code, so that no one can attack all administrators' codes at
/// once.
enum RecoveryCodes {
  static let count = 10
  private static let length = CodeText.recoveryLength

  /// Creates a new set of codes, replacing any previous set.
  static func make(
    for id: ID<Administrator>, random: RandomSource, _ connection: borrowing Connection
  ) throws -> [Secret] {
    try clear(id, connection)
    var codes: [Secret] = []
    while codes.count < count {
      let letters = random.text(length, from: CodeText.alphabet)
      let added = try connection.run(
        """
        INSERT INTO recovery_code (administrator_id, code_digest)
        VALUES (\(id), \(digest(letters, of: id))) ON CONFLICT DO NOTHING
        """)
      guard added == 1 else { continue }
      codes.append(Secret(CodeText.grouped(letters)))
    }
    return codes
  }

  static func isCode(_ typed: TypedCode) -> Bool {
    CodeText.letters(of: typed)?.utf8.count == length
  }

  static func use(
    _ typed: TypedCode, of id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> Bool {
    guard let letters = CodeText.letters(of: typed), letters.utf8.count == length else {
      return false
    }
    return try connection.run(
      """
      DELETE FROM recovery_code
      WHERE administrator_id = \(id) AND code_digest = \(digest(letters, of: id))
      """) == 1
  }

  static func left(of id: ID<Administrator>, _ connection: borrowing Connection) throws -> Int {
    try connection.first(
      "SELECT count(*) FROM recovery_code WHERE administrator_id = \(id)"
    ) { try $0.next() } ?? 0
  }

  /// Returns a digest that identifies the codes that are left.
  static func fingerprint(
    of id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> [UInt8] {
    let digests: [[UInt8]] = try connection.all(
      """
      SELECT code_digest FROM recovery_code
      WHERE administrator_id = \(id) ORDER BY code_digest
      """
    ) { try $0.next() }
    return HashFunction.sha256.digest(Array(digests.joined()))
  }

  static func clear(_ id: ID<Administrator>, _ connection: borrowing Connection) throws {
    try connection.run("DELETE FROM recovery_code WHERE administrator_id = \(id)")
  }

  private static func digest(_ letters: String, of id: ID<Administrator>) -> [UInt8] {
    Store.digest("recovery code\n\(id.text)\n\(letters)")
  }
}

extension AdministratorFactors {
  /// Returns a text that identifies the administrator's current recovery codes.
  ///
  /// A form that replaces them holds it: if the page with the new codes is reloaded, the codes that
  /// the form was about are gone, and the new ones aren't replaced.
  ///
  /// - Returns: A digest of the codes that are left, in hexadecimal digits.
  public func recoveryCodeSet(
    of id: ID<Administrator>
  ) async throws -> String {
    try await store.read { connection in
      Hex.encode(try RecoveryCodes.fingerprint(of: id, connection))
    }
  }
}
