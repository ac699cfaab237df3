/// An action in the console that changes something or reveals a secret.
///
/// ``requirements`` is the only table of what each action requires.
public enum ConsoleAction: String, CaseIterable, Sendable {
  // Administrators.
  case inviteAdministrator
  case revokeInvitation
  case grantRole
  case revokeRole
  case resetAdministratorFactor
  case removeAdministrator
  case endAdministratorSessions
  case changeReauthenticationInterval
  /// Requires passkeys of administrators who manage others, or no longer requires them.
  case changePasskeyRequirement
  /// Sets up or changes the provider with which administrators sign in, or turns sign-in with passwords
  /// and passkeys off or on.
  case changeSignInProvider
  case removeSignInProvider

  // The instance.
  case changeSessionLimits
  case changeAuditRetention
  /// Confirms that the machine's clock is correct when the server doubts it.
  case confirmClock

  // Projects, tenants, and their settings.
  /// Creates a project with an API key.
  case createProject
  case createTenant
  case deleteProject
  case deleteTenant
  /// Changes settings of a project or tenant without weakening security.
  case changeSettings
  case weakenSettings
  case enableSignIn
  case disableSignIn
  case editGuidance

  // MFA policy.
  /// Changes the MFA policy without weakening it.
  case changePolicy
  case weakenPolicy
  case signOffReview

  // Keys, tokens, and identity providers.
  case createAPIKey
  case revokeAPIKey
  case createServiceToken
  case revokeServiceToken
  case registerTokenSigningKey
  case revokeTokenSigningKey
  case addIdentityProvider
  /// Changes an identity provider, or enables or disables it.
  case changeIdentityProvider
  case removeIdentityProvider

  // User data.
  case openMessage
  case exportUsers
  case createUser

  // Support.
  case changeSupportRules
  /// Unblocks an agent who hit the hourly action limit.
  case unblockAgent
  case removeFactor
  case removeAllFactors
  /// Restores second factors that another administrator removed.
  case restoreFactors
  case purgeFactors
  case suspendFactor
  case resumeFactor
  case renameFactor
  /// Resets a user's count of incorrect codes.
  case unlockCodes
  case endSessions
  case exemptUser
  case endExemption
  /// Protects a user, or ends the protection.
  case protectUser
  /// Allows changes to second factors again after a user reported a change.
  case allowChanges
  case disableUser
  case enableUser
  case verifyEmail
  case deleteUser
  case exportUserData
  case eraseUser
  case eraseDeletedUser
  case createTemporaryCode
  case revokeTemporaryCode
  case revokeRecoveryCodes
  /// Sends a user a code to read back to the agent.
  case sendCallerCode
  /// Sends a user a link to set up an authenticator app.
  case sendEnrollmentLink
  case previewBulkRemoval
  case startBulkRemoval
  case stopBulkRemoval
  /// Undoes a bulk removal of another administrator.
  case undoBulkRemoval
  case approveRequest
  case rejectRequest
  case withdrawRequest
  case approvePolicyChange
  case rejectPolicyChange
  case withdrawPolicyChange
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

  init(
    _ permission: Permission, _ reauthentication: ReauthenticationRule = .none,
    _ reason: ReasonRule = .none, _ secondApprover: SecondApproverRule = .never
  ) {
    self.permission = permission
    self.reauthentication = reauthentication
    self.reason = reason
    self.secondApprover = secondApprover
  }
}

extension ConsoleAction {
  public var requirements: ActionRequirements {
    switch self {
    case .inviteAdministrator: ActionRequirements(.manageAdministrators, .recent)
    // Revoking access requires nothing more, so that it's immediate when something looks
    // suspicious.
    case .revokeInvitation: ActionRequirements(.manageAdministrators)
    case .grantRole: ActionRequirements(.manageAdministrators, .recent)
    case .revokeRole: ActionRequirements(.manageAdministrators, .recent)
    case .resetAdministratorFactor: ActionRequirements(.manageAdministrators, .recent, .written)
    case .removeAdministrator: ActionRequirements(.manageAdministrators, .recent)
    // Like revoking access: immediate when something looks suspicious.
    case .endAdministratorSessions: ActionRequirements(.manageAdministrators)
    case .changeReauthenticationInterval: ActionRequirements(.protectUsers, .secondFactor)
    case .changePasskeyRequirement, .changeSignInProvider, .removeSignInProvider:
      ActionRequirements(.manageAdministrators, .secondFactor, .written)

    case .changeSessionLimits: ActionRequirements(.manageAdministrators, .secondFactor)
    case .changeAuditRetention:
      ActionRequirements(.manageAdministrators, .secondFactor, .written)
    case .confirmClock: ActionRequirements(.protectUsers, .secondFactor)

    case .createProject: ActionRequirements(.createProject)
    case .createTenant: ActionRequirements(.manageTenants)
    case .deleteProject: ActionRequirements(.deleteProject, .recent)
    case .deleteTenant: ActionRequirements(.manageTenants, .recent)
    case .changeSettings: ActionRequirements(.changeScope)
    case .weakenSettings: ActionRequirements(.changeScope, .recent)
    case .enableSignIn: ActionRequirements(.changeScope, .recent)
    case .disableSignIn: ActionRequirements(.changeScope)
    case .editGuidance: ActionRequirements(.changeScope)

    case .changePolicy: ActionRequirements(.changePolicy)
    case .weakenPolicy: ActionRequirements(.changePolicy, .recent, .written, .affectedUsers)
    case .signOffReview: ActionRequirements(.signOffReview, .secondFactor)

    case .createAPIKey: ActionRequirements(.manageKeys, .recent)
    case .revokeAPIKey: ActionRequirements(.manageKeys, .recent)
    case .createServiceToken: ActionRequirements(.manageKeys, .recent)
    case .revokeServiceToken: ActionRequirements(.manageKeys)
    case .registerTokenSigningKey: ActionRequirements(.manageTrust, .recent)
    case .revokeTokenSigningKey: ActionRequirements(.manageTrust, .recent)
    case .addIdentityProvider: ActionRequirements(.manageTrust, .recent)
    case .changeIdentityProvider: ActionRequirements(.manageTrust, .recent)
    case .removeIdentityProvider: ActionRequirements(.manageTrust, .recent)

    case .openMessage: ActionRequirements(.readMessages, .recent)
    case .exportUsers: ActionRequirements(.exportUsers, .recent)
    case .createUser: ActionRequirements(.changeUsers)

    case .changeSupportRules: ActionRequirements(.editSupportRules, .secondFactor)
    case .unblockAgent: ActionRequirements(.protectUsers, .secondFactor)
    case .removeFactor, .removeAllFactors:
      ActionRequirements(.removeFactors, .secondFactor, .chosen, .lastFactor)
    case .restoreFactors, .purgeFactors, .suspendFactor, .resumeFactor, .renameFactor,
      .unlockCodes, .createTemporaryCode, .revokeTemporaryCode, .revokeRecoveryCodes,
      .sendEnrollmentLink, .undoBulkRemoval:
      ActionRequirements(.removeFactors, .secondFactor, .chosen)
    case .sendCallerCode: ActionRequirements(.removeFactors)
    case .endSessions: ActionRequirements(.endSessions, .secondFactor, .chosen)
    case .protectUser, .exemptUser, .endExemption, .allowChanges:
      ActionRequirements(.protectUsers, .secondFactor, .chosen)
    case .disableUser, .enableUser, .verifyEmail, .deleteUser:
      ActionRequirements(.changeUsers, .secondFactor, .chosen)
    case .exportUserData: ActionRequirements(.exportUsers, .secondFactor, .chosen)
    case .eraseUser: ActionRequirements(.changeUsers, .secondFactor, .chosen)
    case .eraseDeletedUser: ActionRequirements(.changeUsers, .secondFactor, .written)
    case .previewBulkRemoval, .stopBulkRemoval: ActionRequirements(.removeFactors)
    case .startBulkRemoval:
      ActionRequirements(.removeFactors, .secondFactor, .chosen, .manyUsers)
    case .approveRequest, .rejectRequest: ActionRequirements(.removeFactors, .secondFactor)
    case .withdrawRequest: ActionRequirements(.removeFactors)
    case .approvePolicyChange, .rejectPolicyChange:
      ActionRequirements(.changePolicy, .secondFactor)
    case .withdrawPolicyChange: ActionRequirements(.changePolicy)
    }
  }
}
