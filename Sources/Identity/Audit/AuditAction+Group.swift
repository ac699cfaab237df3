extension AuditAction {
  public enum Group: String, CaseIterable, Sendable {
    case policy
    case enrollment
    case removal
    case backupCode = "backup-code"
    /// Other changes of second factors.
    case factor
    case account
    case session
    /// Support rules and agents.
    case support
    case approval
    case bulkRemoval = "bulk"
    case message
    case project
    case tenant
    case guidance
    case apiKey = "api-key"
    case serviceToken = "service-token"
    case provider
    case trustedTokenKey = "signer"
    case secret
    case administrator
    case signingKey = "key"
    case masterKey = "master-key"
    case instance
    case audit

    public var actions: [AuditAction] { AuditAction.allCases.filter { $0.group == self } }
  }

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
