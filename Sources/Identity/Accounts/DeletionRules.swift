import Database

/// Decides who may delete an account: who may not remove its second factors may not get rid of them by
/// deleting it, because the account could be created again without them.
enum DeletionRules {
  /// - Throws: ``AccountError`` for a user or a service token, ``ActionDenial`` for an administrator,
  ///   database errors.
  static func check(
    deletionOf account: Account, in pool: Pool, by author: Author, _ session: UserSession?,
    at now: Instant, _ connection: borrowing Connection
  ) throws {
    switch author.actor {
    case .user, .visitor:
      guard let session else { throw AccountError.adminOnly }
      do {
        try Enrollments.checkWithdrawal(
          of: account.factors, from: account, in: session, at: now, connection)
      } catch EnrollmentError.secondFactorNeeded {
        throw AccountError.secondFactorNeeded
      } catch EnrollmentError.factorSuspended {
        throw AccountError.factorSuspended
      } catch EnrollmentError.changesLocked {
        throw AccountError.changesLocked
      }
    case .serviceToken(let token, _):
      guard account.changesLockedAt == nil else { throw AccountError.changesLocked }
      try TokenFactorRules.checkDeletion(of: account, in: pool, by: token, at: now, connection)
    case .administrator:
      guard account.changesLockedAt == nil else { throw ActionDenial.changesLocked }
      guard !account.factors.isEmpty else { return }
      let rules = try SupportRules.find(pool, connection)
      let policy = try Policies.stored(pool.key, connection)
      let removal = try FactorRemovals.removal(of: nil, from: account, rules, policy)
      guard Approval.Cause(of: removal, policy, at: now) == nil else {
        throw ActionDenial.factorsNeedApproval
      }
    case .commandLine, .emulatorOwner, .server:
      return
    }
  }

  static func canDeleteAll(_ actor: Actor) -> Bool {
    switch actor {
    case .commandLine, .emulatorOwner, .server: true
    case .administrator, .serviceToken, .user, .visitor: false
    }
  }
}
