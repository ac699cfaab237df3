import Identity
import Localization

enum AuditText {
  /// The display name of the entry's action; the stored name if it's unknown.
  static func action(_ row: AuditRow) -> Message {
    row.action.map { name(of: $0) } ?? .verbatim(row.actionName)
  }

  static func name(of action: AuditAction) -> Message {
    switch action {
    case .accountAllowChanges: Message("audit.action-account-allow-changes")
    case .accountChange: Message("audit.action-account-change")
    case .accountChangeEmail: Message("audit.action-account-change-email")
    case .accountCreate: Message("audit.action-account-create")
    case .accountErase: Message("audit.action-account-erase")
    case .accountExportData: Message("audit.action-account-export-data")
    case .accountDelete: Message("audit.action-account-delete")
    case .accountDeleteAll: Message("audit.action-account-delete-all")
    case .accountDownload: Message("audit.action-account-download")
    case .accountEndExemption: Message("audit.action-account-end-exemption")
    case .accountExempt: Message("audit.action-account-exempt")
    case .accountExpire: Message("audit.action-account-expire")
    case .accountImport: Message("audit.action-account-import")
    case .accountLink: Message("audit.action-account-link")
    case .accountProtect: Message("audit.action-account-protect")
    case .accountRecoverEmail: Message("audit.action-account-recover-email")
    case .accountResetPassword: Message("audit.action-account-reset-password")
    case .accountSendCallerCode: Message("audit.action-account-send-caller-code")
    case .accountRefuseCallerCode: Message("audit.action-account-refuse-caller-code")
    case .accountSignUp: Message("audit.action-account-sign-up")
    case .accountUnlock: Message("audit.action-account-unlock")
    case .accountUnprotect: Message("audit.action-account-unprotect")
    case .accountVerifyEmail: Message("audit.action-account-verify-email")
    case .administratorBlock: Message("audit.action-administrator-block")
    case .administratorCodeDue: Message("audit.action-administrator-code-due")
    case .administratorCodeRefused: Message("audit.action-administrator-code-refused")
    case .administratorCreate: Message("audit.action-administrator-create")
    case .administratorEndSessions: Message("audit.action-administrator-end-sessions")
    case .administratorEnroll: Message("audit.action-administrator-enroll")
    case .administratorGrant: Message("audit.action-administrator-grant")
    case .administratorGrantChange: Message("audit.action-administrator-grant-change")
    case .administratorGrantEnd: Message("audit.action-administrator-grant-end")
    case .administratorInvite: Message("audit.action-administrator-invite")
    case .administratorBreakGlass: Message("audit.action-administrator-break-glass")
    case .administratorLinkProvider: Message("audit.action-administrator-link-provider")
    case .administratorProviderRefused: Message("audit.action-administrator-provider-refused")
    case .administratorPasskeyCreate: Message("audit.action-administrator-passkey-create")
    case .administratorPasskeyRefused: Message("audit.action-administrator-passkey-refused")
    case .administratorPasskeyRemove: Message("audit.action-administrator-passkey-remove")
    case .administratorPasskeyRename: Message("audit.action-administrator-passkey-rename")
    case .administratorPassword: Message("audit.action-administrator-password")
    case .administratorPreferences: Message("audit.action-administrator-preferences")
    case .administratorRecoveryCodes: Message("audit.action-administrator-recovery-codes")
    case .administratorRemove: Message("audit.action-administrator-remove")
    case .administratorResetFactor: Message("audit.action-administrator-reset-factor")
    case .administratorResetPassword: Message("audit.action-administrator-reset-password")
    case .administratorRevoke: Message("audit.action-administrator-revoke")
    case .administratorRevokeInvitation: Message("audit.action-administrator-revoke-invitation")
    case .administratorSignIn: Message("audit.action-administrator-sign-in")
    case .administratorSignInRefused: Message("audit.action-administrator-sign-in-refused")
    case .administratorStepUp: Message("audit.action-administrator-step-up")
    case .administratorSignOut: Message("audit.action-administrator-sign-out")
    case .administratorWithdraw: Message("audit.action-administrator-withdraw")
    case .apiKeyCreate: Message("audit.action-api-key-create")
    case .apiKeyRevoke: Message("audit.action-api-key-revoke")
    case .approvalApprove: Message("audit.action-approval-approve")
    case .approvalAsk: Message("audit.action-approval-ask")
    case .approvalExpire: Message("audit.action-approval-expire")
    case .approvalOvertake: Message("audit.action-approval-overtake")
    case .approvalRefuse: Message("audit.action-approval-refuse")
    case .approvalWithdraw: Message("audit.action-approval-withdraw")
    case .auditDownload: Message("audit.action-audit-download")
    case .auditRead: Message("audit.action-audit-read")
    case .auditChangeRetention: Message("audit.action-audit-change-retention")
    case .bulkFinish: Message("audit.action-bulk-finish")
    case .bulkFinishUndo: Message("audit.action-bulk-finish-undo")
    case .bulkStart: Message("audit.action-bulk-start")
    case .bulkStop: Message("audit.action-bulk-stop")
    case .bulkStopUndo: Message("audit.action-bulk-stop-undo")
    case .bulkUndo: Message("audit.action-bulk-undo")
    case .supportChange: Message("audit.action-support-change")
    case .supportHold: Message("audit.action-support-hold")
    case .supportRelease: Message("audit.action-support-release")
    case .supportStepUp: Message("audit.action-support-step-up")
    case .factorEndRecoveryCodes: Message("audit.action-factor-end-recovery-codes")
    case .factorEndTemporaryCode: Message("audit.action-factor-end-temporary-code")
    case .factorEnroll: Message("audit.action-factor-enroll")
    case .factorReport: Message("audit.action-factor-report")
    case .factorPurge: Message("audit.action-factor-purge")
    case .factorPurgeNow: Message("audit.action-factor-purge-now")
    case .factorRecoveryCodes: Message("audit.action-factor-recovery-codes")
    case .factorRemove: Message("audit.action-factor-remove")
    case .factorRemoveAll: Message("audit.action-factor-remove-all")
    case .factorRename: Message("audit.action-factor-rename")
    case .factorRestore: Message("audit.action-factor-restore")
    case .factorResume: Message("audit.action-factor-resume")
    case .factorRevert: Message("audit.action-factor-revert")
    case .factorSendLink: Message("audit.action-factor-send-link")
    case .factorSuspend: Message("audit.action-factor-suspend")
    case .factorTemporaryCode: Message("audit.action-factor-temporary-code")
    case .factorUseRecoveryCode: Message("audit.action-factor-use-recovery-code")
    case .factorUseTemporaryCode: Message("audit.action-factor-use-temporary-code")
    case .factorWithdraw: Message("audit.action-factor-withdraw")
    case .guidanceChange: Message("audit.action-guidance-change")
    case .instanceChangeSessionLimits: Message("audit.action-instance-change-session-limits")
    case .instanceConfirmClock: Message("audit.action-instance-confirm-clock")
    case .instanceMove: Message("audit.action-instance-move")
    case .instancePasskeyRequirement: Message("audit.action-instance-passkey-requirement")
    case .instanceChangeSignInProvider: Message("audit.action-instance-change-sign-in-provider")
    case .instancePasswordSignIn: Message("audit.action-instance-password-sign-in")
    case .instanceRemoveSignInProvider: Message("audit.action-instance-remove-sign-in-provider")
    case .instanceRestore: Message("audit.action-instance-restore")
    case .evidenceKeyCreate: Message("audit.action-evidence-key-create")
    case .evidenceKeyRotate: Message("audit.action-evidence-key-rotate")
    case .signingKeyCreate: Message("audit.action-signing-key-create")
    case .signingKeyRetire: Message("audit.action-signing-key-retire")
    case .signingKeyRotate: Message("audit.action-signing-key-rotate")
    case .masterKeyDrop: Message("audit.action-master-key-drop")
    case .masterKeyReseal: Message("audit.action-master-key-reseal")
    case .masterKeyRotate: Message("audit.action-master-key-rotate")
    case .messageRead: Message("audit.action-message-read")
    case .policyChange: Message("audit.action-policy-change")
    case .policySignOff: Message("audit.action-policy-sign-off")
    case .policyWiden: Message("audit.action-policy-widen")
    case .projectChange: Message("audit.action-project-change")
    case .projectCreate: Message("audit.action-project-create")
    case .projectDelete: Message("audit.action-project-delete")
    case .providerChange: Message("audit.action-provider-change")
    case .providerCreate: Message("audit.action-provider-create")
    case .providerDelete: Message("audit.action-provider-delete")
    case .secretUnreadable: Message("audit.action-secret-unreadable")
    case .serviceTokenCreate: Message("audit.action-service-token-create")
    case .serviceTokenRevoke: Message("audit.action-service-token-revoke")
    case .sessionsEnd: Message("audit.action-sessions-end")
    case .trustedTokenKeyAdd: Message("audit.action-trusted-token-key-add")
    case .trustedTokenKeyRevoke: Message("audit.action-trusted-token-key-revoke")
    case .tenantChange: Message("audit.action-tenant-change")
    case .tenantCreate: Message("audit.action-tenant-create")
    case .tenantDelete: Message("audit.action-tenant-delete")
    }
  }

  static func name(of group: AuditAction.Group) -> Message {
    switch group {
    case .policy: Message("common.mfa-policy")
    case .enrollment: Message("audit.group-enrollment")
    case .removal: Message("audit.group-removal")
    case .backupCode: Message("audit.group-backup-code")
    case .factor: Message("audit.group-factor")
    case .account: Message("common.users")
    case .session: Message("audit.group-session")
    case .support: Message("audit.group-support")
    case .approval: Message("audit.group-approval")
    case .bulkRemoval: Message("audit.group-bulk-removal")
    case .message: Message("audit.group-message")
    case .project: Message("audit.group-project")
    case .tenant: Message("audit.group-tenant")
    case .guidance: Message("audit.group-guidance")
    case .apiKey: Message("audit.group-api-key")
    case .serviceToken: Message("audit.group-service-token")
    case .provider: Message("audit.group-provider")
    case .trustedTokenKey: Message("audit.group-trusted-token-key")
    case .secret: Message("audit.group-secret")
    case .administrator: Message("audit.group-administrator")
    case .signingKey: Message("audit.group-signing-key")
    case .masterKey: Message("audit.group-master-key")
    case .instance: Message("audit.group-instance")
    case .audit: Message("common.audit-log")
    }
  }

  /// Whether the group's actions belong to no project.
  static func isOfInstance(_ group: AuditAction.Group) -> Bool {
    switch group {
    case .administrator, .signingKey, .masterKey, .instance: true
    default: false
    }
  }

  static func name(of resource: AuditResource) -> Message {
    switch resource {
    case .policy: Message("common.mfa-policy")
    case .policyWindow: Message("audit.type-policy-window")
    case .account: Message("audit.type-account")
    case .erasure: Message("audit.type-erasure")
    case .project: Message("audit.type-project")
    case .tenant: Message("audit.type-tenant")
    case .scope: Message("audit.type-scope")
    case .guidance: Message("audit.type-guidance")
    case .message: Message("audit.type-message")
    case .bulkRemoval: Message("audit.type-bulk-removal")
    case .apiKey: Message("audit.type-api-key")
    case .serviceToken: Message("audit.type-service-token")
    case .provider: Message("audit.type-provider")
    case .trustedTokenKey: Message("audit.type-trusted-token-key")
    case .administrator: Message("audit.type-administrator")
    case .signingKey: Message("audit.type-signing-key")
    case .masterKey: Message("audit.type-master-key")
    case .instance: Message("audit.type-instance")
    }
  }

  /// Whether resources of the type belong to no project.
  static func isOfInstance(_ resource: AuditResource) -> Bool {
    switch resource {
    case .signingKey, .masterKey, .instance: true
    default: false
    }
  }

  static func name(of actor: Actor.Kind) -> Message {
    switch actor {
    case .administrator: Message("audit.actors-administrator")
    case .user: Message("audit.actors-user")
    case .serviceToken: Message("audit.actors-service-token")
    case .commandLine: Message("audit.actors-command-line")
    case .emulatorOwner: Message("audit.actors-emulator-owner")
    case .server: Message("audit.actors-server")
    case .visitor: Message("audit.actors-visitor")
    }
  }

  static func actorKind(_ row: AuditRow) -> Message {
    switch row.actor {
    case .administrator: Message("audit.actor-administrator")
    case .user: Message("audit.actor-user")
    case .serviceToken: Message("audit.actor-service-token")
    case .commandLine: Message("audit.actor-command-line")
    case .emulatorOwner: Message("audit.actor-emulator")
    case .server: Message("audit.actor-server")
    case .visitor: Message("audit.actor-visitor")
    case nil: .verbatim(row.actorKind)
    }
  }

  /// Whether the entry is of a user who acted on their own account.
  static func isOwn(_ row: AuditRow) -> Bool {
    row.actor == .user && row.actorID == row.objectID
  }

  /// A user who acted on their own account is “End user”: the entry already names the account.
  static func who(_ row: AuditRow) -> Message {
    if isOwn(row) { return Message("audit.end-user") }
    guard row.actorID.isEmpty else { return .verbatim(row.actorName) }
    if row.actorName.isEmpty { return actorKind(row) }
    // An actor without an ID has no name; most are stored with that of their kind.
    if row.actorName == row.actorKind { return actorKind(row) }
    return row.actor == .emulatorOwner && row.actorName == Actor.emulatorOwner.name
      ? Message("audit.emulator-owner") : .verbatim(row.actorName)
  }

  static func object(_ row: AuditRow) -> Message {
    guard row.objectName.isEmpty else { return .verbatim(row.objectName) }
    return switch row.object {
    case .bulkRemoval: Message("audit.bulk-removal", ["id": .text(row.objectID)])
    case .erasure: Message("audit.erasure", ["id": .text(row.objectID)])
    // Other entries without a resource are the instance's.
    case .account where row.objectID.isEmpty: Message("audit.erased-user")
    case .instance: Message("audit.type-instance")
    default: .verbatim(row.objectID)
    }
  }

  /// The display name of a stored reason; the stored text if it's unknown.
  static func reason(_ stored: String) -> Message {
    SupportReason(rawValue: stored)?.name ?? .verbatim(stored)
  }
}
