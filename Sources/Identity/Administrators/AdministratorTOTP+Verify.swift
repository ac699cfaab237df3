import Database

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
    _ typed: String, of id: ID<Administrator>, at now: Instant, _ connection: borrowing Connection
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
    _ typed: String, of administrator: Administrator, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Result<Proof, AdministratorFactorError> {
    try check(
      typed, of: administrator.id, named: administrator.displayName, by: author, at: now, connection
    )
  }

  /// Verifies a code, and records a refused code under the administrator's name, which is empty for
  /// a visitor who is still signing in.
  func check(
    _ typed: String, of id: ID<Administrator>, named name: String, by author: Author,
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
