/// What an action on a user changes, which decides which marks of the account prevent it.
enum UserActionEffect: Sendable {
  /// Second factors, or the whole account: prevented by protection and by locked changes.
  case secondFactors
  /// Nothing about second factors: prevented by protection.
  case account
}

extension ConsoleAction {
  var effect: UserActionEffect {
    switch self {
    case .endSessions, .protectUser, .exemptUser, .endExemption, .allowChanges, .disableUser,
      .enableUser, .verifyEmail, .sendCallerCode, .exportUserData:
      .account
    default: .secondFactors
    }
  }
}

extension Administrator {
  /// Returns why the administrator can't perform an action on a user, whatever the input; nil if
  /// they can.
  ///
  /// Pages ask it which actions to offer, and every action asks it again in its transaction.
  public func denial(
    of action: ConsoleAction, on account: Account, in pool: Pool
  ) -> ActionDenial? {
    guard may(action.requirements.permission, in: pool) else { return .notAllowed }
    return obstacle(to: action, on: account, in: pool)
  }

  /// Returns what about a user keeps the administrator from an action, regardless of whether they
  /// have the permission; nil if nothing does.
  public func obstacle(
    to action: ConsoleAction, on account: Account, in pool: Pool
  ) -> ActionDenial? {
    // Includes the original email and those from providers, because users can change their email.
    if account.hasOnFile(email) { return .ownAccount }
    if account.isProtected, !may(.protectUsers, in: pool) { return .protectedAccount }
    return action.effect == .secondFactors && account.changesLockedAt != nil ? .changesLocked : nil
  }
}
