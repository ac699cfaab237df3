/// An action in the console that changes something or reveals a secret.
///
/// ``requirements`` is the only table of what each action requires.
public enum ConsoleAction: String, CaseIterable, Sendable {
  // Administrators.
  /// Invites an administrator with a link.
  case inviteAdministrator
  /// Revokes a pending invitation.
  case revokeInvitation
  /// Grants a role to an administrator.
  case grantRole
  /// Revokes a role.
  case revokeRole
  /// Resets the second factor of another administrator.
  case resetAdministratorFactor
  /// Removes an administrator.
  case removeAdministrator
  /// Ends sessions of another administrator.
  case endAdministratorSessions
  /// Changes the re-authentication interval.
  case changeReauthenticationInterval
  /// Requires passkeys of administrators who manage others, or no longer requires them.
  case changePasskeyRequirement
  /// Sets up or changes the provider with which administrators sign in, or turns sign-in with passwords
  /// and passkeys off or on.
  case changeSignInProvider
  /// Removes the provider with which administrators sign in.
  case removeSignInProvider

  // The instance.
  /// Changes how long sessions of administrators last.
  case changeSessionLimits
  /// Changes how long the audit log is kept.
  case changeAuditRetention
  /// Confirms that the machine's clock is correct when the server doubts it.
  case confirmClock

  // Projects, tenants, and their settings.
  /// Creates a project with an API key.
  case createProject
  /// Creates a tenant.
  case createTenant
  /// Deletes a project with its tenants and users.
  case deleteProject
  /// Deletes a tenant with its users.
  case deleteTenant
  /// Changes settings of a project or tenant without weakening security.
  case changeSettings
  /// Weakens the security settings of a project or tenant.
  case weakenSettings
  /// Enables sign-in to a project or tenant.
  case enableSignIn
  /// Disables sign-in to a project or tenant.
  case disableSignIn
  /// Edits the support playbook of a project or tenant.
  case editGuidance

  // MFA policy.
  /// Changes the MFA policy without weakening it.
  case changePolicy
  /// Weakens the MFA policy.
  case weakenPolicy
  /// Signs off the MFA policies of a project.
  case signOffReview

  // Keys, tokens, and identity providers.
  /// Creates an API key.
  case createAPIKey
  /// Revokes an API key.
  case revokeAPIKey
  /// Creates a service token.
  case createServiceToken
  /// Revokes a service token.
  case revokeServiceToken
  /// Registers a custom token signing key.
  case registerTokenSigningKey
  /// Revokes a custom token signing key.
  case revokeTokenSigningKey
  /// Adds an identity provider.
  case addIdentityProvider
  /// Changes an identity provider, or enables or disables it.
  case changeIdentityProvider
  /// Removes an identity provider.
  case removeIdentityProvider

  // User data.
  /// Opens a message to a user.
  case openMessage
  /// Downloads a list of users.
  case exportUsers
  /// Creates a user.
  case createUser

  // Support.
  /// Changes the support rules of a project or tenant.
  case changeSupportRules
  /// Unblocks an agent who hit the hourly action limit.
  case unblockAgent
  /// Removes a second factor of a user.
  case removeFactor
  /// Removes all second factors of a user.
  case removeAllFactors
  /// Restores second factors that another administrator removed.
  case restoreFactors
  /// Deletes removed second factors permanently.
  case purgeFactors
  /// Suspends a second factor.
  case suspendFactor
  /// Ends the suspension of a second factor.
  case resumeFactor
  /// Renames a second factor.
  case renameFactor
  /// Resets a user's count of incorrect codes.
  case unlockCodes
  /// Ends all sessions of a user.
  case endSessions
  /// Exempts a user from MFA for a while.
  case exemptUser
  /// Ends an exemption early.
  case endExemption
  /// Protects a user, or ends the protection.
  case protectUser
  /// Allows changes to second factors again after a user reported a change.
  case allowChanges
  /// Disables a user.
  case disableUser
  /// Enables a user.
  case enableUser
  /// Marks a user's email address as verified.
  case verifyEmail
  /// Deletes a user.
  case deleteUser
  /// Exports everything that's stored about a user.
  case exportUserData
  /// Erases everything that's stored about a user.
  case eraseUser
  /// Erases everything that's stored about a deleted user.
  case eraseDeletedUser
  /// Generates a temporary code for a user.
  case createTemporaryCode
  /// Revokes a user's temporary code.
  case revokeTemporaryCode
  /// Revokes a user's recovery codes.
  case revokeRecoveryCodes
  /// Sends a user a code to read back to the agent.
  case sendCallerCode
  /// Sends a user a link to set up an authenticator app.
  case sendEnrollmentLink
  /// Previews a bulk removal.
  case previewBulkRemoval
  /// Starts a bulk removal.
  case startBulkRemoval
  /// Stops a bulk removal.
  case stopBulkRemoval
  /// Undoes a bulk removal of another administrator.
  case undoBulkRemoval
  /// Approves another administrator's request.
  case approveRequest
  /// Rejects another administrator's request.
  case rejectRequest
  /// Withdraws the administrator's own request.
  case withdrawRequest
  /// Approves another administrator's request to weaken the policy.
  case approvePolicyChange
  /// Rejects another administrator's request to weaken the policy.
  case rejectPolicyChange
  /// Withdraws the administrator's own request to weaken the policy.
  case withdrawPolicyChange
}

/// Whether an action requires recent re-authentication.
public enum ReauthenticationRule: String, CaseIterable, Sendable {
  /// Not required.
  case none
  /// Required within the re-authentication interval.
  ///
  /// For an administrator without a second factor, a sign-in within the interval is enough.
  case recent
  /// Required within the re-authentication interval, always with a second factor.
  case secondFactor
}

/// Whether an action requires a reason.
public enum ReasonRule: String, CaseIterable, Sendable {
  /// Not required.
  case none
  /// One of the reasons in ``SupportReason``, with the pool's ticket, note, and identity checks.
  case chosen
  /// A reason as free text.
  case written
}

/// Whether an action requires a second administrator.
public enum SecondApproverRule: String, CaseIterable, Sendable {
  /// Never.
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
  /// The required permission.
  public let permission: Permission
  /// Whether a recent re-authentication is required.
  public let reauthentication: ReauthenticationRule
  /// Whether a reason is required.
  public let reason: ReasonRule
  /// Whether a second administrator is required.
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
  /// The action's requirements.
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
