extension AuditAction {
  /// A group of actions that are found together.
  public enum Group: String, CaseIterable, Sendable {
    /// Policy changes.
    case policy
    /// Enrollments of second factors.
    case enrollment
    /// Removals of second factors.
    case removal
    /// Recovery codes and temporary codes.
    case backupCode = "backup-code"
    /// Other changes of second factors.
    case factor
    /// User accounts.
    case account
    /// Sessions of users.
    case session
    /// Support rules and agents.
    case support
    /// Requests for approval.
    case approval
    /// Bulk removals.
    case bulkRemoval = "bulk"
    /// Messages to users.
    case message
    /// Projects.
    case project
    /// Tenants.
    case tenant
    /// Support playbooks.
    case guidance
    /// API keys.
    case apiKey = "api-key"
    /// Service tokens.
    case serviceToken = "service-token"
    /// Identity providers.
    case provider
    /// Custom token signing keys.
    case trustedTokenKey = "signer"
    /// Stored secrets.
    case secret
    /// Administrators.
    case administrator
    /// The instance's signing keys.
    case signingKey = "key"
    /// Master keys.
    case masterKey = "master-key"
    /// The instance itself.
    case instance
    /// The audit log.
    case audit

    /// The group's actions.
    public var actions: [AuditAction] { AuditAction.allCases.filter { $0.group == self } }
  }

  /// The group.
  public var group: Group {
    switch self {
    case .policyChange, .policySignOff, .policyWiden: .policy
    case .factorEndRecoveryCodes, .factorEndTemporaryCode, .factorRecoveryCodes,
      .factorTemporaryCode, .factorUseRecoveryCode, .factorUseTemporaryCode:
      .backupCode
    case .factorEnroll, .factorSendLink: .enrollment
    case .factorReport, .factorRename, .factorResume, .factorSuspend: .factor
    case .factorPurge, .factorPurgeNow, .factorRemove, .factorRemoveAll, .factorRestore,
      .factorRevert, .factorWithdraw:
      .removal
    case .accountAllowChanges, .accountChange, .accountChangeEmail, .accountCreate,
      .accountDelete, .accountDeleteAll, .accountDownload, .accountEndExemption, .accountErase,
      .accountExempt, .accountExpire, .accountExportData, .accountImport, .accountLink,
      .accountProtect,
      .accountRecoverEmail,
      .accountRefuseCallerCode, .accountResetPassword, .accountSendCallerCode, .accountSignUp,
      .accountUnlock,
      .accountUnprotect, .accountVerifyEmail:
      .account
    case .sessionsEnd: .session
    case .supportChange, .supportHold, .supportRelease, .supportStepUp: .support
    case .approvalApprove, .approvalAsk, .approvalExpire, .approvalOvertake, .approvalRefuse,
      .approvalWithdraw:
      .approval
    case .bulkFinish, .bulkFinishUndo, .bulkStart, .bulkStop, .bulkStopUndo, .bulkUndo:
      .bulkRemoval
    case .messageRead: .message
    case .projectChange, .projectCreate, .projectDelete: .project
    case .tenantChange, .tenantCreate, .tenantDelete: .tenant
    case .guidanceChange: .guidance
    case .apiKeyCreate, .apiKeyRevoke: .apiKey
    case .serviceTokenCreate, .serviceTokenRevoke: .serviceToken
    case .providerChange, .providerCreate, .providerDelete: .provider
    case .trustedTokenKeyAdd, .trustedTokenKeyRevoke: .trustedTokenKey
    case .secretUnreadable: .secret
    case .administratorBlock, .administratorBreakGlass, .administratorCodeDue,
      .administratorCodeRefused,
      .administratorCreate, .administratorEndSessions, .administratorEnroll,
      .administratorGrant, .administratorGrantChange, .administratorGrantEnd,
      .administratorInvite, .administratorLinkProvider, .administratorPasskeyCreate,
      .administratorPasskeyRefused,
      .administratorPasskeyRemove, .administratorPasskeyRename, .administratorPassword,
      .administratorPreferences, .administratorProviderRefused,
      .administratorRecoveryCodes, .administratorRemove,
      .administratorResetFactor, .administratorResetPassword, .administratorRevoke,
      .administratorRevokeInvitation, .administratorSignIn, .administratorSignInRefused,
      .administratorStepUp, .administratorSignOut,
      .administratorWithdraw:
      .administrator
    case .evidenceKeyCreate, .evidenceKeyRotate, .signingKeyCreate, .signingKeyRetire,
      .signingKeyRotate:
      .signingKey
    case .masterKeyDrop, .masterKeyReseal, .masterKeyRotate: .masterKey
    case .instanceChangeSessionLimits, .instanceChangeSignInProvider, .instanceConfirmClock,
      .instanceMove, .instancePasskeyRequirement, .instancePasswordSignIn,
      .instanceRemoveSignInProvider, .instanceRestore:
      .instance
    case .auditChangeRetention, .auditDownload, .auditRead: .audit
    }
  }
}
