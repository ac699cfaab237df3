import Database

extension Store {
  /// Returns why a user can't take an email address; nil if no account of the pool has it.
  ///
  /// Clients learn that an address is in use, as in Google's service. Each such answer counts as a
  /// wrong password of their network, so that it can find out as few addresses in this way as by
  /// guessing passwords; once it's blocked, it learns nothing about any address.
  ///
  /// The result is returned and not thrown, so that the count is kept.
  func refusal(
    ofNewEmail email: String, in pool: Pool, from client: ClientAddress, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> AccountError? {
    let counters = ThrottleCounter.client(client, in: pool, profile)
    guard try AccountRecord.find(pool, email: email, connection) != nil else {
      let until = try counters.compactMap {
        try ThrottleCharge.blockedUntil($0, at: now, connection)
      }.max()
      return until.map { .tooManyAttempts(until: $0) }
    }
    switch try ThrottleCharge.charge(counters, at: now, connection) {
    case .blocked(let until): return .tooManyAttempts(until: until)
    case .charged: return .emailExists
    }
  }
}
