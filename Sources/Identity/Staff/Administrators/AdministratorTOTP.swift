import Crypto
import Database
import OTP

package struct AdministratorTOTP: Sendable {
  /// One interval before and after the current one, for network delay (RFC 6238, section 5.2).
  static let window = Window.narrow

  private let sealer: Sealer
  private let expected: ExpectedTime

  init(keys: KeyRing, random: RandomSource, expected: ExpectedTime) throws(CryptoError) {
    self.expected = expected
    sealer = try Sealer(keys, purpose: "administrator totp secret", random: random)
  }

  /// Stores a secret, replacing any previous one.
  func store(
    _ secret: Secret, lastStep: Int64, of id: ID<Administrator>, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    let sealed = try sealer.seal(secret.revealedBytes, with: Self.associated(id))
    var used = UsedSteps()
    used.accept(lastStep, at: now, expecting: expected)
    try connection.run(
      """
      UPDATE administrator SET totp_secret = \(sealed), totp_enrolled_at = \(now),
        totp_last_used_at = NULL, totp_last_step = \(used.last),
        totp_unused_steps = \(used.unusedText)
      WHERE administrator_id = \(id)
      """)
  }

  /// Removes the secret and, unless another second factor remains, the recovery codes.
  static func clear(
    _ id: ID<Administrator>, keepingCodes: Bool = false, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE administrator SET totp_secret = NULL, totp_enrolled_at = NULL,
        totp_last_used_at = NULL, totp_last_step = NULL, totp_unused_steps = NULL
      WHERE administrator_id = \(id)
      """)
    if !keepingCodes { try RecoveryCodes.clear(id, connection) }
  }

  enum Comparison {
    case accepted
    case used
    case wrong
  }

  /// Verifies a code and marks its interval as used, so that a code can't be used twice.
  func accept(
    _ code: TypedCode, of id: ID<Administrator>, at now: Instant, _ connection: borrowing Connection
  ) throws -> Comparison {
    let row = try connection.first(
      """
      SELECT totp_secret, totp_last_step, totp_unused_steps FROM administrator
      WHERE administrator_id = \(id)
      """
    ) { row in
      (
        sealed: try row.next() as [UInt8]?,
        used: try UsedSteps(&row)
      )
    }
    guard let row, let sealed = row.sealed else { return .wrong }
    let secret = try StoredSecret.administratorTOTP(id.text).opening {
      try sealer.open(sealed, with: Self.associated(id))
    }
    guard let password = TOTPFactor.password(secret) else {
      throw Failure("a factor without secret")
    }
    let codeAttempt = try password.verify(
      code, at: now.seconds, window: Self.window, after: row.used)
    if case .replayed(let step, _) = codeAttempt, row.used.endsWith(step) { return .used }
    guard case .accepted(let step, _) = codeAttempt else { return .wrong }
    var used = row.used
    used.accept(step, at: now, expecting: expected)
    let moved = try connection.run(
      """
      UPDATE administrator SET totp_last_step = \(used.last),
        totp_unused_steps = \(used.unusedText), totp_last_used_at = \(now)
      WHERE administrator_id = \(id) AND totp_last_step IS NOT DISTINCT FROM \(row.used.last)
      """)
    return moved == 1 ? .accepted : .used
  }

  /// The associated data: a sealed secret can be opened only for its administrator.
  private static func associated(_ id: ID<Administrator>) -> [UInt8] { Array(id.text.utf8) }
}

extension AdministratorTOTP: ReencryptableStore {
  static let name = "administrator"

  func reseal(
    after position: String, limit: Int, _ connection: borrowing Connection
  ) throws -> ResealedPart {
    try ResealedPart(
      of: "administrator", by: "administrator_id", "totp_secret", after: position, limit: limit,
      connection
    ) { id, sealed in
      try StoredSecret.administratorTOTP(id).opening {
        try sealer.resealed(sealed, with: Self.associated(ID(id)))
      }
    }
  }
}

extension AdministratorTOTP {
  /// What was accepted as second factor.
  package enum Proof: Sendable {
    case code
    case recoveryCode(left: Int)
    case passkey(name: String)

    var method: ReauthenticationMethod {
      if case .passkey = self { .passkey } else { .totp }
    }
  }

  private enum Outcome {
    case passed(Proof)
    case wrong([ThrottleCharge])
    /// A code that was accepted before, which counts like an incorrect one.
    case used([ThrottleCharge])
    case throttled(until: Instant)
  }

  static func counter(_ id: ID<Administrator>) -> ThrottleCounter {
    ThrottleCounter(.codes(of: id), .codes, .account)
  }

  /// Verifies a TOTP or recovery code; the attempt is counted as failed before the code is checked.
  private func verify(
    _ typed: TypedCode, of id: ID<Administrator>, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Outcome {
    let charges: [ThrottleCharge]
    switch try ThrottleCharge.charge([Self.counter(id)], at: now, connection) {
    case .charged(let taken): charges = taken
    case .blocked(let until): return .throttled(until: until)
    }
    // A recovery code also works if the secret can't be decrypted.
    if RecoveryCodes.isCode(typed) {
      guard try RecoveryCodes.use(typed, of: id, connection) else { return .wrong(charges) }
      try ThrottleCharge.recordSuccess(charges, connection)
      return .passed(.recoveryCode(left: try RecoveryCodes.left(of: id, connection)))
    }
    switch try accept(typed, of: id, at: now, connection) {
    case .accepted:
      try ThrottleCharge.recordSuccess(charges, connection)
      return .passed(.code)
    case .used: return .used(charges)
    case .wrong: return .wrong(charges)
    }
  }

  /// Verifies a code for a change that requires one, and records a refused code.
  func check(
    _ typed: TypedCode, of administrator: Administrator, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Result<Proof, AdministratorFactorError> {
    try check(
      typed, of: administrator.id, named: administrator.displayName, by: author, at: now, connection
    )
  }

  /// Verifies a code, and records a refused code under the administrator's name, which is empty for
  /// a visitor who is still signing in.
  func check(
    _ typed: TypedCode, of id: ID<Administrator>, named name: String, by author: Author,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Result<Proof, AdministratorFactorError> {
    let (charges, error): ([ThrottleCharge], AdministratorFactorError)
    switch try verify(typed, of: id, at: now, connection) {
    case .passed(let proof): return .success(proof)
    case .throttled(let until): return .failure(.throttled(until: until))
    case .wrong(let taken): (charges, error) = (taken, .wrongCurrentCode)
    case .used(let taken): (charges, error) = (taken, .usedCurrentCode)
    }
    let entry = AuditEntry(.administratorCodeRefused, .administrator, id.text, name: name)
    try entry.record(by: author, at: now, connection)
    try ThrottleCharge.recordBlocks(charges, of: id, by: author, at: now, connection)
    return .failure(error)
  }
}

extension AuditEntry {
  mutating func add(_ proof: AdministratorTOTP.Proof) {
    switch proof {
    case .code: add(.verification, .code("totp"))
    case .passkey(let name):
      add(.verification, .code("passkey"))
      add(.passkey, .text(name))
    case .recoveryCode(let left):
      add(.verification, .code("recovery-code"))
      add(.codesLeft, .number(left))
    }
  }
}
