public import IdentityToolkitClient

/// An action in the console that changes something or reveals a secret: a case, and its row in
/// ``requirements``.
public enum ConsoleAction: String, CaseIterable, Sendable {
  case inviteAdministrator, revokeInvitation, grantRole, revokeRole, resetAdministratorFactor,
    removeAdministrator, endAdministratorSessions, changeReauthenticationInterval,
    changePasskeyRequirement, changeSignInProvider, removeSignInProvider
  case changeSessionLimits, changeAuditRetention, confirmClock
  case createProject, createTenant, deleteProject, deleteTenant, changeSettings, weakenSettings,
    narrowSignIn, enableSignIn, disableSignIn, editGuidance
  case changePolicy, weakenPolicy, signOffReview
  case createAPIKey, revokeAPIKey, createServiceToken, revokeServiceToken, registerTokenSigningKey,
    revokeTokenSigningKey, addIdentityProvider, changeIdentityProvider, removeIdentityProvider,
    narrowProvider
  case openMessage, exportUsers, createUser, dismissAttention
  case connectProject, changeConnection, pauseConnection, syncConnection
  case changeSupportRules, unblockAgent, removeFactor, removeAllFactors, restoreFactors,
    purgeFactors, suspendFactor, resumeFactor, renameFactor, unlockCodes, endSessions, exemptUser,
    endExemption, protectUser, allowChanges, disableUser, enableUser, verifyEmail, deleteUser,
    exportUserData, eraseUser, eraseDeletedUser, createTemporaryCode, revokeTemporaryCode,
    revokeRecoveryCodes, resynchronizeFactor, clearClockOffset, sendCallerCode,
    sendEnrollmentLink, startCampaign, previewBulkRemoval, startBulkRemoval, stopBulkRemoval,
    undoBulkRemoval, approveRequest, rejectRequest, withdrawRequest, approvePolicyChange,
    rejectPolicyChange, withdrawPolicyChange

  /// The only table of what each action requires.
  public var requirements: ActionRequirements {
    switch self {
    // MARK: Administrators
    case .inviteAdministrator: .init(.manageAdministrators, .recent)
    // Revoking access requires nothing more, so that it's immediate when something looks
    // suspicious.
    case .revokeInvitation: .init(.manageAdministrators)
    case .grantRole: .init(.manageAdministrators, .recent)
    case .revokeRole: .init(.manageAdministrators, .recent)
    case .resetAdministratorFactor: .init(.manageAdministrators, .recent, .written)
    case .removeAdministrator: .init(.manageAdministrators, .recent)
    // Like revoking access: immediate when something looks suspicious.
    case .endAdministratorSessions: .init(.manageAdministrators)
    case .changeReauthenticationInterval: .init(.protectUsers, .secondFactor)
    // Requires passkeys of administrators who manage others, or no longer requires them.
    case .changePasskeyRequirement: .init(.manageAdministrators, .secondFactor, .written)
    // Sets up or changes the provider with which administrators sign in, or turns sign-in with
    // passwords and passkeys off or on.
    case .changeSignInProvider: .init(.manageAdministrators, .secondFactor, .written)
    case .removeSignInProvider: .init(.manageAdministrators, .secondFactor, .written)

    // MARK: The instance
    case .changeSessionLimits: .init(.manageAdministrators, .secondFactor)
    case .changeAuditRetention: .init(.manageAdministrators, .secondFactor, .written)
    // Confirms that the machine's clock is correct when the server doubts it.
    case .confirmClock: .init(.protectUsers, .secondFactor)

    // MARK: Projects, tenants, and their settings
    // Creates a project with an API key.
    case .createProject: .init(.createProject)
    case .createTenant: .init(.manageTenants, needs: .hosting)
    case .deleteProject: .init(.deleteProject, .recent, needs: .hosting)
    case .deleteTenant: .init(.manageTenants, .recent, needs: .hosting)
    // Changes settings of a project or tenant without weakening security.
    case .changeSettings: .init(.changePool, needs: .hosting)
    case .weakenSettings: .init(.changePool, .recent, needs: .hosting)
    // Changes sign-in methods so that users with a second factor have no way to sign in.
    case .narrowSignIn: .init(.changePool, .recent, .written, needs: .hosting)
    case .enableSignIn: .init(.changePool, .recent, needs: .hosting)
    case .disableSignIn: .init(.changePool, needs: .hosting)
    case .editGuidance: .init(.changePool)

    // MARK: MFA policy
    // Changes the MFA policy without weakening it.
    case .changePolicy: .init(.changePolicy, needs: .policyChanges)
    case .weakenPolicy:
      .init(.changePolicy, .recent, .written, .affectedUsers, needs: .policyChanges)
    case .signOffReview: .init(.signOffReview, .secondFactor)

    // MARK: Keys, tokens, and identity providers
    case .createAPIKey: .init(.manageKeys, .recent, needs: .hosting)
    case .revokeAPIKey: .init(.manageKeys, .recent, needs: .hosting)
    case .createServiceToken: .init(.manageKeys, .recent, needs: .hosting)
    case .revokeServiceToken: .init(.manageKeys, needs: .hosting)
    case .registerTokenSigningKey: .init(.manageTrust, .recent, needs: .hosting)
    case .revokeTokenSigningKey: .init(.manageTrust, .recent, needs: .hosting)
    case .addIdentityProvider: .init(.manageTrust, .recent, needs: .hosting)
    // Changes an identity provider, or enables or disables it.
    case .changeIdentityProvider: .init(.manageTrust, .recent, needs: .hosting)
    case .removeIdentityProvider: .init(.manageTrust, .recent, needs: .hosting)
    // Changes or removes one so that users with a second factor have no way to sign in.
    case .narrowProvider: .init(.manageTrust, .recent, .written, needs: .hosting)

    // MARK: Connections
    // Connects a project of another server, or one that was disconnected.
    case .connectProject: .init(.manageTrust, .secondFactor, .written, needs: .connection)
    // Replaces the credential, resumes, accepts that users are gone, or disconnects.
    case .changeConnection: .init(.manageTrust, .secondFactor, .written, needs: .connection)
    case .pauseConnection: .init(.changePool, needs: .connection)
    // Reads everything again now, also to keep users whom a walk didn't see.
    case .syncConnection: .init(.changePool, needs: .connection)

    // MARK: User data
    case .openMessage: .init(.readMessages, .recent, needs: .hosting)
    case .exportUsers: .init(.exportUsers, .recent)
    case .createUser: .init(.changeUsers, needs: .hosting)

    // Dismisses what needs attention, or shows it again, for oneself.
    case .dismissAttention: .init(.seePool)

    // MARK: Support
    case .changeSupportRules: .init(.editSupportRules, .secondFactor)
    // Unblocks an agent who hit the hourly action limit.
    case .unblockAgent: .init(.protectUsers, .secondFactor)
    case .removeFactor:
      .init(.removeFactors, .secondFactor, .chosen, .lastFactor, needs: .userChanges)
    case .removeAllFactors:
      .init(.removeFactors, .secondFactor, .chosen, .lastFactor, needs: .userChanges)
    // Restores second factors that another administrator removed.
    case .restoreFactors: .init(.removeFactors, .secondFactor, .chosen, needs: .secrets)
    case .purgeFactors: .init(.removeFactors, .secondFactor, .chosen, needs: .secrets)
    case .suspendFactor: .init(.removeFactors, .secondFactor, .chosen, needs: .secrets)
    case .resumeFactor: .init(.removeFactors, .secondFactor, .chosen, needs: .secrets)
    case .renameFactor: .init(.removeFactors, .secondFactor, .chosen, needs: .hostedUsers)
    // Resets a user's count of incorrect codes.
    case .unlockCodes: .init(.removeFactors, .secondFactor, .chosen, needs: .secrets)
    case .endSessions: .init(.endSessions, .secondFactor, .chosen, needs: .userChanges)
    case .exemptUser: .init(.protectUsers, .secondFactor, .chosen)
    case .endExemption: .init(.protectUsers, .secondFactor, .chosen)
    // Protects a user, or ends the protection.
    case .protectUser: .init(.protectUsers, .secondFactor, .chosen)
    // Allows changes to second factors again after a user reported a change.
    case .allowChanges: .init(.protectUsers, .secondFactor, .chosen)
    case .disableUser: .init(.changeUsers, .secondFactor, .chosen, needs: .userChanges)
    case .enableUser: .init(.changeUsers, .secondFactor, .chosen, needs: .userChanges)
    case .verifyEmail: .init(.changeUsers, .secondFactor, .chosen, needs: .hostedUsers)
    case .deleteUser: .init(.changeUsers, .secondFactor, .chosen, needs: .hosting)
    case .exportUserData: .init(.exportUsers, .secondFactor, .chosen)
    case .eraseUser: .init(.changeUsers, .secondFactor, .chosen)
    case .eraseDeletedUser: .init(.changeUsers, .secondFactor, .written)
    case .createTemporaryCode: .init(.removeFactors, .secondFactor, .chosen, needs: .secrets)
    case .revokeTemporaryCode: .init(.removeFactors, .secondFactor, .chosen, needs: .secrets)
    case .revokeRecoveryCodes: .init(.removeFactors, .secondFactor, .chosen, needs: .secrets)
    // Stores how far the clock of a user's device is off.
    case .resynchronizeFactor: .init(.removeFactors, .secondFactor, .chosen, needs: .secrets)
    // Undoes a resynchronization.
    case .clearClockOffset: .init(.removeFactors, .secondFactor, .chosen, needs: .secrets)
    // Sends a user a code to read back to the agent.
    case .sendCallerCode: .init(.removeFactors, needs: .secrets)
    // Sends a user a link to set up an authenticator app.
    case .sendEnrollmentLink: .init(.removeFactors, .secondFactor, .chosen, needs: .secrets)
    // Sends the users of a previewed list a link each, and reminds them.
    case .startCampaign: .init(.removeFactors, .secondFactor, .none, .manyUsers, needs: .secrets)
    case .previewBulkRemoval: .init(.removeFactors, needs: .hostedUsers)
    case .startBulkRemoval:
      .init(.removeFactors, .secondFactor, .chosen, .manyUsers, needs: .hostedUsers)
    case .stopBulkRemoval: .init(.removeFactors, needs: .hostedUsers)
    // Undoes a bulk removal of another administrator.
    case .undoBulkRemoval: .init(.removeFactors, .secondFactor, .chosen, needs: .secrets)
    case .approveRequest: .init(.removeFactors, .secondFactor, needs: .userChanges)
    case .rejectRequest: .init(.removeFactors, .secondFactor, needs: .userChanges)
    case .withdrawRequest: .init(.removeFactors, needs: .userChanges)
    case .approvePolicyChange: .init(.changePolicy, .secondFactor, needs: .policyChanges)
    case .rejectPolicyChange: .init(.changePolicy, .secondFactor, needs: .policyChanges)
    case .withdrawPolicyChange: .init(.changePolicy, needs: .policyChanges)
    }
  }
}

extension ConsoleAction {
  /// The reasons that its form offers, “other” last; empty unless its rule is
  /// ``ReasonRule/chosen``.
  public var reasons: [SupportReason] {
    switch self {
    case .removeFactor, .removeAllFactors, .startBulkRemoval:
      [.lost, .stolen, .compromised, .replaced, .locked, .left, .other]
    case .restoreFactors, .undoBulkRemoval: [.found, .mistake, .other]
    case .purgeFactors: [.stolen, .compromised, .left, .other]
    case .suspendFactor: [.lost, .stolen, .compromised, .other]
    case .resumeFactor, .enableUser: [.found, .resolved, .mistake, .other]
    case .renameFactor: [.asked, .replaced, .mistake, .other]
    case .unlockCodes: [.locked, .mistake, .other]
    case .endSessions: [.lost, .stolen, .compromised, .left, .other]
    case .exemptUser: [.lost, .stolen, .replaced, .other]
    case .endExemption: [.found, .replaced, .asked, .mistake, .other]
    case .protectUser: [.compromised, .asked, .left, .mistake, .other]
    case .allowChanges: [.resolved, .mistake, .other]
    case .disableUser: [.left, .compromised, .stolen, .other]
    case .verifyEmail: [.confirmed, .mistake, .other]
    case .deleteUser: [.left, .asked, .mistake, .other]
    case .exportUserData: [.dataRequest, .left, .other]
    case .eraseUser: [.dataRequest, .left, .mistake, .other]
    case .createTemporaryCode: [.lost, .replaced, .locked, .other]
    case .revokeTemporaryCode: [.found, .replaced, .compromised, .mistake, .other]
    case .revokeRecoveryCodes: [.stolen, .compromised, .left, .asked, .other]
    case .resynchronizeFactor: [.locked, .other]
    case .clearClockOffset: [.mistake, .replaced, .other]
    case .sendEnrollmentLink: [.enrollment, .replaced, .asked, .other]
    default: []
    }
  }
}

public enum ReauthenticationRule: String, CaseIterable, Sendable {
  case none
  /// Required within the re-authentication interval.
  ///
  /// For an administrator without a second factor, a sign-in within the interval is enough.
  case recent
  /// Required within the re-authentication interval, always with a second factor.
  case secondFactor
}

public enum ReasonRule: String, CaseIterable, Sendable {
  case none
  /// One of the reasons in ``SupportReason``, with the pool's ticket, note, and identity checks.
  case chosen
  case written
}

public enum SecondApproverRule: String, CaseIterable, Sendable {
  case never
  /// If the user would lose the last factor and the pool's support rules require approval for it.
  case lastFactor
  /// Above the number of users in the pool's support rules, and beyond the hourly action limit.
  case manyUsers
  /// Above the number of affected users in the pool's support rules.
  case affectedUsers
}

/// The requirements of an action beyond a session.
public struct ActionRequirements: Sendable, Equatable {
  public let permission: Permission
  public let reauthentication: ReauthenticationRule
  public let reason: ReasonRule
  public let secondApprover: SecondApproverRule
  public let needs: Capability

  init(
    _ permission: Permission, _ reauthentication: ReauthenticationRule = .none,
    _ reason: ReasonRule = .none, _ secondApprover: SecondApproverRule = .never,
    needs: Capability = .bookkeeping
  ) {
    self.permission = permission
    self.reauthentication = reauthentication
    self.reason = reason
    self.secondApprover = secondApprover
    self.needs = needs
  }
}

extension Permission {
  /// The capabilities of the actions that require each permission.
  private static let needs: [Permission: Set<Capability>] = Dictionary(
    ConsoleAction.allCases.map { ($0.requirements.permission, [$0.requirements.needs] as Set) },
    uniquingKeysWith: { $0.union($1) })

  /// Whether pools of a kind offer an action that requires the permission, or no action does.
  public func isOffered(by kind: PoolKind, at access: AccessLevel) -> Bool {
    guard kind != .hosted, let needs = Self.needs[self] else { return true }
    return !needs.isDisjoint(with: kind.offers(at: access))
  }
}

extension Pool {
  /// - Throws: ``ActionDenial/notOffered(_:)`` if the pool doesn't offer a capability.
  public func check(_ capability: Capability) throws(ActionDenial) {
    guard offers.contains(capability) else { throw .notOffered(capability) }
  }
}

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
    let requirements = action.requirements
    guard pool.offers.contains(requirements.needs) else {
      return .notOffered(requirements.needs)
    }
    guard may(requirements.permission, in: pool) else { return .notAllowed }
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

extension ConsoleAction {
  /// The permission that administrators need for the action on a user, who may be protected.
  public func permission(on account: Account) -> Permission {
    account.isProtected ? .protectUsers : requirements.permission
  }
}
