import Identity
import Localization

enum AuditText {
  /// The display name of the entry's action; the stored name if it's unknown.
  static func action(_ row: AuditRow) -> Message {
    row.action.map { name(of: $0) } ?? .verbatim(row.actionName)
  }

  static func name(of action: AuditAction) -> Message { entry(action).name }

  /// The group that the action is filtered with, and its display name.
  static func entry(_ action: AuditAction) -> (group: AuditGroup, name: Message) {
    switch action {
    case .accountAllowChanges: (.account, Message("Second factor changes unlocked"))
    case .accountChange: (.account, Message("User changed"))
    case .accountChangeEmail: (.account, Message("Email changed by end user"))
    case .accountCreate: (.account, Message("User created"))
    case .accountErase: (.account, Message("User data erased"))
    case .accountExportData: (.account, Message("User data exported"))
    case .accountDelete: (.account, Message("User deleted"))
    case .accountDeleteAll: (.account, Message("All users deleted"))
    case .accountDownload: (.account, Message("Users downloaded"))
    case .accountEndExemption: (.account, Message("MFA exemption ended"))
    case .accountExempt: (.account, Message("User exempted from MFA"))
    case .accountGone: (.account, Message("User gone from the connected project, or back"))
    case .accountExpire: (.account, Message("Anonymous users deleted after 30 days"))
    case .accountImport: (.account, Message("Users imported"))
    case .accountList: (.account, Message("Users viewed in lists"))
    case .accountLink: (.account, Message("Link generated for user"))
    case .accountProtect: (.account, Message("Account protected"))
    case .accountRecoverEmail: (.account, Message("Previous email restored by end user"))
    case .accountResetPassword: (.account, Message("Password reset by end user"))
    case .accountSendCallerCode: (.account, Message("Code sent to verify a caller"))
    case .accountRefuseCallerCode: (.account, Message("Incorrect code from a caller"))
    case .accountSignUp: (.account, Message("User signed up"))
    case .accountUnlock: (.account, Message("Codes unlocked"))
    case .accountUnprotect: (.account, Message("Account protection removed"))
    case .accountVerifyEmail: (.account, Message("Email verified by end user"))
    case .administratorBlock:
      (.administrator, Message("Administrator sign-in throttled after failed attempts"))
    case .administratorCodeDue: (.administrator, Message("Password accepted, MFA required"))
    case .administratorCodeRefused: (.administrator, Message("Administrator code rejected"))
    case .administratorCreate: (.administrator, Message("Administrator created"))
    case .administratorEndSessions: (.administrator, Message("Administrator sessions ended"))
    case .administratorEnroll: (.administrator, Message("Administrator second factor set up"))
    case .administratorGrant: (.administrator, Message("Role granted"))
    case .administratorGrantChange: (.administrator, Message("End date of role changed"))
    case .administratorGrantEnd: (.administrator, Message("Role ended at its end date"))
    case .administratorInvite: (.administrator, Message("Administrator invited"))
    case .administratorBreakGlass: (.administrator, Message("Break-glass account signed in"))
    case .administratorLinkProvider:
      (.administrator, Message("Administrator linked with sign-in provider"))
    case .administratorProviderRefused: (.administrator, Message("Sign-in with provider rejected"))
    case .administratorPasskeyCreate: (.administrator, Message("Passkey added"))
    case .administratorPasskeyRefused: (.administrator, Message("Passkey rejected"))
    case .administratorPasskeyRemove: (.administrator, Message("Passkey removed"))
    case .administratorPasskeyRename: (.administrator, Message("Passkey renamed"))
    case .administratorPassword: (.administrator, Message("Administrator password changed"))
    case .administratorPreferences: (.administrator, Message("Preferences changed"))
    case .administratorRecoveryCodes:
      (.administrator, Message("Administrator recovery codes generated"))
    case .administratorRemove: (.administrator, Message("Administrator removed"))
    case .administratorResetFactor: (.administrator, Message("Administrator second factor reset"))
    case .administratorResetPassword: (.administrator, Message("Administrator password reset"))
    case .administratorRevoke: (.administrator, Message("Role revoked"))
    case .administratorRevokeInvitation: (.administrator, Message("Invitation revoked"))
    case .administratorSignIn: (.administrator, Message("Administrator signed in"))
    case .administratorSignInRefused: (.administrator, Message("Administrator sign-in rejected"))
    case .administratorStepUp: (.administrator, Message("Administrator re-authenticated"))
    case .administratorSignOut: (.administrator, Message("Administrator signed out"))
    case .administratorWithdraw: (.administrator, Message("Administrator second factor removed"))
    case .apiKeyCreate: (.apiKey, Message("API key created"))
    case .apiKeyRevoke: (.apiKey, Message("API key revoked"))
    case .approvalApprove: (.approval, Message("Request approved"))
    case .approvalAsk: (.approval, Message("Approval requested"))
    case .approvalExpire: (.approval, Message("Approval request expired"))
    case .approvalOvertake: (.approval, Message("Request approved too late, no changes made"))
    case .approvalRefuse: (.approval, Message("Request rejected"))
    case .approvalWithdraw: (.approval, Message("Request withdrawn"))
    case .auditDownload: (.audit, Message("Audit log downloaded"))
    case .auditRead: (.audit, Message("Audit log viewed"))
    case .auditChangeRetention: (.audit, Message("Audit log retention changed"))
    case .bulkFinish: (.bulk, Message("Bulk action completed"))
    case .bulkFinishLinks: (.bulk, Message("Enrollment campaign ended"))
    case .bulkFinishUndo: (.bulk, Message("Undo of bulk action completed"))
    case .bulkStart: (.bulk, Message("Bulk action started"))
    case .bulkStartLinks: (.bulk, Message("Enrollment campaign started"))
    case .bulkStop: (.bulk, Message("Bulk action stopped"))
    case .bulkStopLinks: (.bulk, Message("Enrollment campaign stopped"))
    case .bulkStopUndo: (.bulk, Message("Undo of bulk action stopped"))
    case .bulkUndo: (.bulk, Message("Undo of bulk action started"))
    case .attentionDismiss: (.support, Message("Needs attention: dismissed"))
    case .attentionRestore: (.support, Message("Needs attention: shown again"))
    case .supportChange: (.support, Message("Support rules changed"))
    case .supportHold: (.support, Message("Agent blocked at hourly action limit"))
    case .supportRelease: (.support, Message("Agent unblocked"))
    case .supportStepUp: (.support, Message("Re-authentication interval changed"))
    case .factorClearOffset: (.factor, Message("Clock offset cleared"))
    case .factorEndRecoveryCodes: (.backupCode, Message("Recovery codes revoked"))
    case .factorEndTemporaryCode: (.backupCode, Message("Temporary code revoked"))
    case .factorEnroll: (.enrollment, Message("Factor enrolled"))
    case .factorReport: (.factor, Message("Change reported by end user"))
    case .factorPurge: (.removal, Message("Removed factor permanently deleted"))
    case .factorPurgeNow: (.removal, Message("Removed factors permanently deleted early"))
    case .factorRecoveryCodes: (.backupCode, Message("Recovery codes generated by end user"))
    case .factorRefuseResynchronization:
      (.factor, Message("Codes for resynchronization rejected"))
    case .factorRemove: (.removal, Message("Factor removed"))
    case .factorRemoveAll: (.removal, Message("All factors removed"))
    case .factorRename: (.factor, Message("Factor renamed"))
    case .factorRestore: (.removal, Message("Removed factors restored"))
    case .factorResume: (.factor, Message("Factor suspension ended"))
    case .factorResynchronize: (.factor, Message("Factor resynchronized"))
    case .factorRevert: (.removal, Message("New factor removed by end user"))
    case .factorSendLink: (.enrollment, Message("Enrollment link sent"))
    case .factorSuspend: (.factor, Message("Factor suspended"))
    case .factorTemporaryCode: (.backupCode, Message("Temporary code generated"))
    case .factorUseRecoveryCode: (.backupCode, Message("Signed in with a recovery code"))
    case .factorUseTemporaryCode: (.backupCode, Message("Signed in with a temporary code"))
    case .factorWithdraw: (.removal, Message("Factor unenrolled by end user"))
    case .guidanceChange: (.guidance, Message("Support playbook changed"))
    case .instanceChangeSessionLimits: (.instance, Message("Session limits changed"))
    case .instanceConfirmClock: (.instance, Message("Clock confirmed"))
    case .instanceMove: (.instance, Message("Moved to another database"))
    case .instancePasskeyRequirement: (.instance, Message("Passkey requirement changed"))
    case .instanceChangeSignInProvider: (.instance, Message("Sign-in provider changed"))
    case .instancePasswordSignIn: (.instance, Message("Password sign-in changed"))
    case .instanceRemoveSignInProvider: (.instance, Message("Sign-in provider removed"))
    case .instanceRestore: (.instance, Message("Backup restored"))
    case .instanceUpgrade: (.instance, Message("Database upgraded"))
    case .evidenceKeyCreate: (.signingKey, Message("Evidence key created"))
    case .evidenceKeyRotate: (.signingKey, Message("Evidence key rotated"))
    case .signingKeyCreate: (.signingKey, Message("Signing key created"))
    case .signingKeyRetire: (.signingKey, Message("Signing key retired"))
    case .signingKeyRotate: (.signingKey, Message("Signing key rotated"))
    case .masterKeyDrop: (.masterKey, Message("Previous master key deleted"))
    case .masterKeyReseal: (.masterKey, Message("Data re-encrypted with new master key"))
    case .masterKeyRotate: (.masterKey, Message("Master key rotated"))
    case .messageRead: (.message, Message("Message to user opened"))
    case .policyChange: (.policy, Message("MFA policy changed"))
    case .policySignOff: (.policy, Message("Policy review signed off"))
    case .policyWiden: (.policy, Message("Code acceptance window widened"))
    case .projectChange: (.project, Message("Project changed"))
    case .projectCreate: (.project, Message("Project created"))
    case .projectDelete: (.project, Message("Project deleted"))
    case .providerChange: (.provider, Message("Identity provider changed"))
    case .providerCreate: (.provider, Message("Identity provider added"))
    case .providerDelete: (.provider, Message("Identity provider removed"))
    case .secretUnreadable: (.secret, Message("Stored secret couldn’t be decrypted"))
    case .serviceTokenCreate: (.serviceToken, Message("Service token created"))
    case .serviceTokenRevoke: (.serviceToken, Message("Service token revoked"))
    case .sessionsEnd: (.session, Message("Sessions ended"))
    case .trustedTokenKeyAdd: (.trustedTokenKey, Message("Custom token signing key registered"))
    case .trustedTokenKeyRevoke: (.trustedTokenKey, Message("Custom token signing key revoked"))
    case .tenantChange: (.tenant, Message("Tenant changed"))
    case .tenantCreate: (.tenant, Message("Tenant created"))
    case .tenantDelete: (.tenant, Message("Tenant deleted"))
    case .tenantGone: (.tenant, Message("Tenant gone from the connected project, or back"))
    case .connectionChange: (.connection, Message("Connection changed"))
    case .connectionCreate: (.connection, Message("Project connected"))
    case .connectionEnd: (.connection, Message("Project disconnected"))
    case .connectionPause: (.connection, Message("Connection paused"))
    case .connectionResume: (.connection, Message("Connection resumed"))
    case .connectionWalk: (.connection, Message("Users of connected project read"))
    case .changeRequest: (.change, Message("Change requested from connected project"))
    case .changeRefuse: (.change, Message("Requested change not made"))
    case .changeUnknown: (.change, Message("Outcome of requested change unknown"))
    case .changeLapse: (.change, Message("Requested change not sent"))
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
    case .pool: Message("user pool")
    case .guidance: Message("support playbook")
    case .message: Message("message to user")
    case .bulkRemoval: Message("bulk removal")
    case .bulkLinks: Message("enrollment campaign")
    case .bulkSessions: Message("end of sessions")
    case .bulkDisabling: Message("disabling of users")
    case .apiKey: Message("API key")
    case .serviceToken: Message("service token")
    case .provider: Message("identity provider")
    case .trustedTokenKey: Message("custom token signing key")
    case .administrator: Message("administrator")
    case .signingKey: Message("signing key")
    case .masterKey: Message("master key")
    case .connection: Message("connection")
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
    case .remote: Message("servers of connected projects")
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
    case .visitor: Message("not signed in")
    case .remote: Message("server of the connected project")
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
    case .bulkLinks: Message("Enrollment campaign {id}", ["id": .text(row.objectID)])
    case .bulkSessions: Message("End of sessions {id}", ["id": .text(row.objectID)])
    case .bulkDisabling: Message("Disabling of users {id}", ["id": .text(row.objectID)])
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

/// A group of actions that the audit log is filtered by; the raw value is the query's.
///
/// ``AuditText/entry(_:)`` has the group of each action. The stored names of a group's actions
/// begin alike, so that an index finds them.
enum AuditGroup: String, CaseIterable {
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
  /// Actions on many users.
  case bulk
  case message
  case project
  case tenant
  case guidance
  case apiKey = "api-key"
  case serviceToken = "service-token"
  case provider
  case trustedTokenKey = "signer"
  case connection
  /// What the servers of connected projects were asked for.
  case change
  case secret
  case administrator
  case signingKey = "key"
  case masterKey = "master-key"
  case instance
  case audit

  /// In the order of the menu.
  var actions: [AuditAction] { Self.actions[self] ?? [] }

  private static let actions = Dictionary(grouping: AuditAction.allCases) {
    AuditText.entry($0).group
  }

  /// Whether the group's actions belong to no project.
  var isOfInstance: Bool {
    switch self {
    case .administrator, .signingKey, .masterKey, .instance: true
    default: false
    }
  }

  var name: Message {
    switch self {
    case .policy: Message("MFA policy")
    case .enrollment: Message("Enrollments")
    case .removal: Message("Factor removals")
    case .backupCode: Message("Recovery and temporary codes")
    case .factor: Message("Other second factor changes")
    case .account: Message("Users")
    case .session: Message("Sessions")
    case .support: Message("Support")
    case .approval: Message("Approvals")
    case .bulk: Message("Bulk actions")
    case .message: Message("Messages to users")
    case .project: Message("Projects")
    case .tenant: Message("Tenants")
    case .guidance: Message("Support playbook")
    case .apiKey: Message("API keys")
    case .serviceToken: Message("Service tokens")
    case .provider: Message("Identity providers")
    case .trustedTokenKey: Message("Custom token signing keys")
    case .connection: Message("Connections")
    case .change: Message("Changes of connected projects")
    case .secret: Message("Stored secrets")
    case .administrator: Message("Administrators")
    case .signingKey: Message("Signing keys")
    case .masterKey: Message("Master keys")
    case .instance: Message("Instance")
    case .audit: Message("Audit log")
    }
  }
}
