import Database

public enum SignInWithoutFactor: Sendable, Equatable {
  case accepted
  /// The server enforces enrollment from a time on; nil if it already does.
  case enforced(Enforcement.Mode, from: Instant?)
}

extension Store {
  /// Users who couldn't be sent an enrollment link aren't refused.
  ///
  /// `account` is given without factors that are to be removed.
  func signInWithoutFactor(
    of account: Account, under policy: StoredPolicy, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> SignInWithoutFactor {
    guard policy.enforcement != nil,
      let dueAt = try EnrollmentDuty(of: account, policy, at: now, connection).dueAt
    else { return .accepted }
    let isRefused = try refusalEmail(of: account, under: policy, connection) != nil
    return .enforced(isRefused ? .refuse : .claim, from: dueAt > now ? dueAt : nil)
  }
}

extension Policies {
  /// Returns the strictest of what happens when users of a pool without a second factor sign in.
  ///
  /// - Returns: A refusal if the pool refuses users, or else a claim if it reports them, from the
  ///   first time at which a user can be due. A server that sends no email refuses no one.
  public func signInWithoutFactor(
    in pool: Pool
  ) async throws -> SignInWithoutFactor {
    let (now, carriesMail) = (store.clock.now(), store.outbox.carriesMail)
    return try await store.read { connection in
      let edit = try Policies.stored(pool.key, connection).edit
      guard let enforcement = edit.effectiveEnforcement, let due = edit.firstDue else {
        return .accepted
      }
      return .enforced(
        enforcement.applied(carriesMail: carriesMail).mode, from: due > now ? due : nil)
    }
  }
}
