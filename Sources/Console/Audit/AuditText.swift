import Identity
import Localization

enum AuditText {
  /// The display name of the entry's action; the stored name if it's unknown.
  static func action(_ row: AuditRow) -> Message {
    row.action.map { name(of: $0) } ?? .verbatim(row.actionName)
  }

  static func name(of action: AuditAction) -> Message {
    switch action {
    case .accountAllowChanges: Message("Second factor changes unlocked")
    case .accountChange: Message("User changed")
    case .accountChangeEmail: Message("Email changed by end user")
    case .accountCreate: Message("User created")
    case .accountErase: Message("User data erased")
    case .accountExportData: Message("User data exported")
    case .accountDelete: Message("User deleted")
    case .accountDeleteAll: Message("All users deleted")
    case .accountDownload: Message("Users downloaded")
    case .accountEndExemption: Message("MFA exemption ended")
    case .accountExempt: Message("User exempted from MFA")
    case .accountExpire: Message("Anonymous users deleted after 30 days")
    case .accountImport: Message("Users imported")
    case .accountLink: Message("Link generated for user")
    case .accountProtect: Message("Account protected")
    case .accountRecoverEmail: Message("Previous email restored by end user")
    case .accountResetPassword: Message("Password reset by end user")
    case .accountSendCallerCode: Message("Code sent to verify a caller")
    case .accountRefuseCallerCode: Message("Incorrect code from a caller")
    case .accountSignUp: Message("User signed up")
    case .accountUnlock: Message("Codes unlocked")
    case .accountUnprotect: Message("Account protection removed")
    case .accountVerifyEmail: Message("Email verified by end user")
    case .administratorBlock: Message("Administrator sign-in throttled after failed attempts")
    case .administratorCodeDue: Message("Password accepted, MFA required")
    case .administratorCodeRefused: Message("Administrator code rejected")
    case .administratorCreate: Message("Administrator created")
    case .administratorEndSessions: Message("Administrator sessions ended")
    case .administratorEnroll: Message("Administrator second factor set up")
    case .administratorGrant: Message("Role granted")
    case .administratorGrantChange: Message("End date of role changed")
    case .administratorGrantEnd: Message("Role ended at its end date")
    case .administratorInvite: Message("Administrator invited")
    case .administratorBreakGlass: Message("Break-glass account signed in")
    case .administratorLinkProvider: Message("Administrator linked with sign-in provider")
    case .administratorProviderRefused: Message("Sign-in with provider rejected")
    case .administratorPasskeyCreate: Message("Passkey added")
    case .administratorPasskeyRefused: Message("Passkey rejected")
    case .administratorPasskeyRemove: Message("Passkey removed")
    case .administratorPasskeyRename: Message("Passkey renamed")
    case .administratorPassword: Message("Administrator password changed")
    case .administratorPreferences: Message("Preferences changed")
    case .administratorRecoveryCodes: Message("Administrator recovery codes generated")
    case .administratorRemove: Message("Administrator removed")
    case .administratorResetFactor: Message("Administrator second factor reset")
    case .administratorResetPassword: Message("Administrator password reset")
    case .administratorRevoke: Message("Role revoked")
    case .administratorRevokeInvitation: Message("Invitation revoked")
    case .administratorSignIn: Message("Administrator signed in")
    case .administratorSignInRefused: Message("Administrator sign-in rejected")
    case .administratorStepUp: Message("Administrator re-authenticated")
    case .administratorSignOut: Message("Administrator signed out")
    case .administratorWithdraw: Message("Administrator second factor removed")
    case .apiKeyCreate: Message("API key created")
    case .apiKeyRevoke: Message("API key revoked")
    case .approvalApprove: Message("Request approved")
    case .approvalAsk: Message("Approval requested")
    case .approvalExpire: Message("Approval request expired")
    case .approvalOvertake: Message("Request approved too late, no changes made")
    case .approvalRefuse: Message("Request rejected")
    case .approvalWithdraw: Message("Request withdrawn")
    case .auditDownload: Message("Audit log downloaded")
    case .auditRead: Message("Audit log viewed")
    case .auditChangeRetention: Message("Audit log retention changed")
    case .bulkFinish: Message("Bulk removal completed")
    case .bulkFinishUndo: Message("Undo of bulk removal completed")
    case .bulkStart: Message("Bulk removal started")
    case .bulkStop: Message("Bulk removal stopped")
    case .bulkStopUndo: Message("Undo of bulk removal stopped")
    case .bulkUndo: Message("Undo of bulk removal started")
    case .supportChange: Message("Support rules changed")
    case .supportHold: Message("Agent blocked at hourly action limit")
    case .supportRelease: Message("Agent unblocked")
    case .supportStepUp: Message("Re-authentication interval changed")
    case .factorEndRecoveryCodes: Message("Recovery codes revoked")
    case .factorEndTemporaryCode: Message("Temporary code revoked")
    case .factorEnroll: Message("Factor enrolled")
    case .factorReport: Message("Change reported by end user")
    case .factorPurge: Message("Removed factor permanently deleted")
    case .factorPurgeNow: Message("Removed factors permanently deleted early")
    case .factorRecoveryCodes: Message("Recovery codes generated by end user")
    case .factorRemove: Message("Factor removed")
    case .factorRemoveAll: Message("All factors removed")
    case .factorRename: Message("Factor renamed")
    case .factorRestore: Message("Removed factors restored")
    case .factorResume: Message("Factor suspension ended")
    case .factorRevert: Message("New factor removed by end user")
    case .factorSendLink: Message("Enrollment link sent")
    case .factorSuspend: Message("Factor suspended")
    case .factorTemporaryCode: Message("Temporary code generated")
    case .factorUseRecoveryCode: Message("Signed in with a recovery code")
    case .factorUseTemporaryCode: Message("Signed in with a temporary code")
    case .factorWithdraw: Message("Factor unenrolled by end user")
    case .guidanceChange: Message("Support playbook changed")
    case .instanceChangeSessionLimits: Message("Session limits changed")
    case .instanceConfirmClock: Message("Clock confirmed")
    case .instanceMove: Message("Moved to another database")
    case .instancePasskeyRequirement: Message("Passkey requirement changed")
    case .instanceChangeSignInProvider: Message("Sign-in provider changed")
    case .instancePasswordSignIn: Message("Password sign-in changed")
    case .instanceRemoveSignInProvider: Message("Sign-in provider removed")
    case .instanceRestore: Message("Backup restored")
    case .evidenceKeyCreate: Message("Evidence key created")
    case .evidenceKeyRotate: Message("Evidence key rotated")
    case .signingKeyCreate: Message("Signing key created")
    case .signingKeyRetire: Message("Signing key retired")
    case .signingKeyRotate: Message("Signing key rotated")
    case .masterKeyDrop: Message("Previous master key deleted")
    case .masterKeyReseal: Message("Data re-encrypted with new master key")
    case .masterKeyRotate: Message("Master key rotated")
    case .messageRead: Message("Message to user opened")
    case .policyChange: Message("MFA policy changed")
    case .policySignOff: Message("Policy review signed off")
    case .policyWiden: Message("Code acceptance window widened")
    case .projectChange: Message("Project changed")
    case .projectCreate: Message("Project created")
    case .projectDelete: Message("Project deleted")
    case .providerChange: Message("Identity provider changed")
    case .providerCreate: Message("Identity provider added")
    case .providerDelete: Message("Identity provider removed")
    case .secretUnreadable: Message("Stored secret couldn’t be decrypted")
    case .serviceTokenCreate: Message("Service token created")
    case .serviceTokenRevoke: Message("Service token revoked")
    case .sessionsEnd: Message("Sessions ended")
    case .trustedTokenKeyAdd: Message("Custom token signing key registered")
    case .trustedTokenKeyRevoke: Message("Custom token signing key revoked")
    case .tenantChange: Message("Tenant changed")
    case .tenantCreate: Message("Tenant created")
    case .tenantDelete: Message("Tenant deleted")
    }
  }

  static func name(of group: AuditAction.Group) -> Message {
    switch group {
    case .policy: Message("MFA policy")
    case .enrollment: Message("Enrollments")
    case .removal: Message("Factor removals")
    case .backupCode: Message("Recovery and temporary codes")
    case .factor: Message("Other second factor changes")
    case .account: Message("Users")
    case .session: Message("Sessions")
    case .support: Message("Support")
    case .approval: Message("Approvals")
    case .bulkRemoval: Message("Bulk removals")
    case .message: Message("Messages to users")
    case .project: Message("Projects")
    case .tenant: Message("Tenants")
    case .guidance: Message("Support playbook")
    case .apiKey: Message("API keys")
    case .serviceToken: Message("Service tokens")
    case .provider: Message("Identity providers")
    case .trustedTokenKey: Message("Custom token signing keys")
    case .secret: Message("Stored secrets")
    case .administrator: Message("Administrators")
    case .signingKey: Message("Signing keys")
    case .masterKey: Message("Master keys")
    case .instance: Message("Instance")
    case .audit: Message("Audit log")
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
    case .policy: Message("MFA policy")
    case .policyWindow: Message("code acceptance window")
    case .account: Message("user")
    case .erasure: Message("Erasure")
    case .project: Message("project")
    case .tenant: Message("tenant")
    case .scope: Message("user pool")
    case .guidance: Message("support playbook")
    case .message: Message("message to user")
    case .bulkRemoval: Message("bulk removal")
    case .apiKey: Message("API key")
    case .serviceToken: Message("service token")
    case .provider: Message("identity provider")
    case .trustedTokenKey: Message("custom token signing key")
    case .administrator: Message("administrator")
    case .signingKey: Message("signing key")
    case .masterKey: Message("master key")
    case .instance: Message("instance")
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
    case .administrator: Message("administrators")
    case .user: Message("end users")
    case .serviceToken: Message("service tokens")
    case .commandLine: Message("command line")
    case .emulatorOwner: Message("emulator")
    case .server: Message("server")
    case .visitor: Message("not signed in")
    }
  }

  static func actorKind(_ row: AuditRow) -> Message {
    switch row.actor {
    case .administrator: Message("administrator")
    case .user: Message("user")
    case .serviceToken: Message("service token")
    case .commandLine: Message("command line")
    case .emulatorOwner: Message("emulator")
    case .server: Message("server")
    case .visitor: Message("visitor")
    case nil: .verbatim(row.actorKind)
    }
  }

  /// Whether the entry is of a user who acted on their own account.
  static func isOwn(_ row: AuditRow) -> Bool {
    row.actor == .user && row.actorID == row.objectID
  }

  /// A user who acted on their own account is “End user”: the entry already names the account.
  static func who(_ row: AuditRow) -> Message {
    if isOwn(row) { return Message("End user") }
    guard row.actorID.isEmpty else { return .verbatim(row.actorName) }
    if row.actorName.isEmpty { return actorKind(row) }
    // An actor without an ID has no name; most are stored with that of their kind.
    if row.actorName == row.actorKind { return actorKind(row) }
    return row.actor == .emulatorOwner && row.actorName == Actor.emulatorOwner.name
      ? Message("owner") : .verbatim(row.actorName)
  }

  static func object(_ row: AuditRow) -> Message {
    guard row.objectName.isEmpty else { return .verbatim(row.objectName) }
    return switch row.object {
    case .bulkRemoval: Message("Bulk removal {id}", ["id": .text(row.objectID)])
    case .erasure: Message("Erasure {id}", ["id": .text(row.objectID)])
    // Other entries without a resource are the instance's.
    case .account where row.objectID.isEmpty: Message("Erased user")
    case .instance: Message("instance")
    default: .verbatim(row.objectID)
    }
  }

  /// The display name of a stored reason; the stored text if it's unknown.
  static func reason(_ stored: String) -> Message {
    SupportReason(rawValue: stored)?.name ?? .verbatim(stored)
  }
}
