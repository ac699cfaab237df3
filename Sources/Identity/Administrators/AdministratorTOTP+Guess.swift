import Database

extension AdministratorTOTP {
  /// Which kind of code let somebody pass.
  enum Proof: Sendable {
    case code
    case recoveryCode(left: Int)
  }

  /// What became of a code.
  enum Outcome: Sendable {
    case passed(Proof)
    case wrong([Guess])
    case throttled(until: Instant)
  }

  /// The name under which wrong codes of an administrator are counted.
  static func throttle(_ id: ID<Administrator>) -> String { "administrator code \(id.text)" }

  /// Looks at a code of the factor or a recovery code, which is counted before as a wrong one.
  func prove(
    _ typed: String, of id: ID<Administrator>, at now: Instant, _ connection: borrowing Connection
  ) throws -> Outcome {
    let counter = GuessCounter(Self.throttle(id), .codes, .account)
    let guesses: [Guess]
    switch try Guess.take([counter], at: now, connection) {
    case .taken(let taken): guesses = taken
    case .blocked(let until): return .throttled(until: until)
    }
    if try accept(AdministratorFactors.digits(of: typed), of: id, at: now, connection) {
      try Guess.right(guesses, connection)
      return .passed(.code)
    }
    if try RecoveryCodes.use(typed, of: id, connection) {
      try Guess.right(guesses, connection)
      return .passed(.recoveryCode(left: try RecoveryCodes.left(of: id, connection)))
    }
    return .wrong(guesses)
  }

  /// The same for a change that asks for a code; nil when it was right.
  func check(
    _ typed: String, of id: ID<Administrator>, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> AdministratorFactorError? {
    switch try prove(typed, of: id, at: now, connection) {
    case .passed: return nil
    case .wrong(let guesses):
      try Guess.recordBlocks(guesses, of: id, by: author, at: now, connection)
      return .wrongCurrentCode
    case .throttled(let until): return .throttled(until: until)
    }
  }
}
