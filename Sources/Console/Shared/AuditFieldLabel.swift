import Identity
import Localization

struct AuditFieldLabel {
  private let field: AuditFieldName

  init(_ field: AuditFieldName) { self.field = field }

  /// The name, before its value or in the filter: “email verified”.
  var name: Message {
    switch field {
    case .uid: Message("UID")
    case .email: Message("email")
    case .emailVerified: Message("email verified")
    case .signsInByLink: Message("signs in by email link")
    case .password: Message("password")
    case .displayName: Message("name")
    case .photoURL: Message("picture")
    case .phoneNumber: Message("phone")
    case .providers: Message("providers")
    case .claims: Message("claims")
    case .disabled: Message("disabled")
    case .validSince: Message("sessions valid since")
    case .createdAt: Message("created")
    case .lastSignIn: Message("last sign-in")
    case .factors: Message("second factors")
    case .factorsLeft: Message("second factors left")
    case .factorSecrets: Message("second factor secrets")
    case .isProtected: Message("protected")
    case .changesLockedAt: Message("changes locked by user")
    case .wrongCodes: Message("incorrect codes in a row")
    case .codesLocked: Message("codes locked")
    case .sessionsEnded: Message("sessions ended")
    case .signUpMethod: Message("sign-up method")
    case .origin: Message("origin")
    case .users: Message("users")
    case .usersCreated: Message("users created")
    case .usersReplaced: Message("users replaced")
    case .usersKept: Message("existing users kept")
    case .usersRefused: Message("users rejected")
    case .usersDone: Message("users processed")
    case .usersRestored: Message("users restored")
    case .usersRestoredBefore: Message("users restored earlier")
    case .usersNotRestored: Message("users not restored")
    case .factorsRemoved: Message("factors removed")
    case .database: Message("database")
    case .fileName: Message("file")
    case .importPart: Message("import")
    case .filter: Message("filters")
    case .passwordHashes: Message("password hashes")
    case .entries: Message("entries")
    case .suspendedUntil: Message("suspended until")
    case .undoUntil: Message("undo until")
    case .remover: Message("removed by")
    case .expiresAt: Message("expires")
    case .codes: Message("codes")
    case .codesLeft: Message("codes left")
    case .codesCreatedAt: Message("codes generated")
    case .linkKind: Message("link type")
    case .providerEmail: Message("email at the provider")
    case .linkEmail: Message("sent to")
    case .sender: Message("link sent by")
    case .reportedChange: Message("reported change")
    case .reportedAt: Message("changed on")
    case .policyDigest: Message("policy digest")
    case .pools: Message("user pools")
    case .reviewDue: Message("next review due")
    case .exemptUntil: Message("exempt until")
    case .exemptionGrantor: Message("exemption granted by")
    case .evidenceKey: Message("evidence key")
    case .message: Message("message")
    case .callerVerificationRule: Message("caller verification")
    case .callerVerification: Message("caller verified by")
    case .approvalCause: Message("approval required")
    case .requester: Message("requested by")
    case .approver: Message("approved by")
    case .outcome: Message("result")
    case .bulkRemoval: Message("bulk removal")
    case .bulkLinks: Message("enrollment campaign")
    case .bulkAction: Message("bulk action")
    case .stopReason: Message("reason for stopping")
    case .totp: Message("TOTP")
    case .adjacentIntervals: Message("adjacent intervals")
    case .sms: Message("SMS")
    case .mfaState: Message("state")
    case .pattern: Message("enrollment pattern")
    case .mandatoryFrom: Message("start date of mandatory enrollment")
    case .enforcement: Message("server enforcement")
    case .enforcedFrom: Message("enforced from")
    case .graceDays: Message("grace period (days)")
    case .passwordSignIn: Message("password sign-in")
    case .emailLinkSignIn: Message("email link sign-in")
    case .anonymousSignIn: Message("anonymous sign-in")
    case .phoneSignIn: Message("phone sign-in")
    case .changesNeedFactor: Message("changes of sign-in require a second factor")
    case .emailPrivacy: Message("email enumeration protection")
    case .duplicateEmails: Message("duplicate emails")
    case .authorizedDomains: Message("authorized domains")
    case .allowsTenants: Message("tenants allowed")
    case .importsTOTP: Message("import of TOTP secrets")
    case .testPhoneNumbers: Message("test phone numbers")
    case .signIn: Message("sign-in")
    case .userSignUp: Message("sign-up by users")
    case .userDeletion: Message("deletion by users")
    case .anonymousExpire: Message("anonymous users")
    case .passwordEnforced: Message("password policy enforced")
    case .passwordShortest: Message("minimum password length")
    case .passwordLongest: Message("maximum password length")
    case .passwordClasses: Message("required password characters")
    case .passwordUpgrade: Message("force upgrade on sign-in")
    case .passwordCommonRefused: Message("common passwords refused")
    case .otherMembers: Message("other settings")
    case .tenants: Message("tenants")
    case .apiKeys: Message("API keys")
    case .serviceTokens: Message("service tokens")
    case .codeCap: Message("incorrect codes before lockout")
    case .signInGoal: Message("recommendation target: sign-ins kept")
    case .undoPeriod: Message("undo period")
    case .auditRetention: Message("audit log retention")
    case .codeAttemptRetention: Message("code attempt log retention")
    case .temporaryCodes: Message("temporary codes")
    case .recoveryCodes: Message("recovery codes")
    case .resynchronization: Message("resynchronization")
    case .clockOffset: Message("clock offset (intervals)")
    case .identityChecks: Message("identity checks")
    case .actionsPerHour: Message("actions per hour")
    case .approvalOver: Message("require approval for bulk removals of more than (users)")
    case .policyApprovalOver:
      Message("require approval if a weaker policy affects more than (users)")
    case .approvalForLastFactor: Message("approval for the last factor")
    case .tokensRemoveFactors: Message("factor removal by service tokens")
    case .tokenChangesPerHour: Message("factor changes per hour by a service token")
    case .reauthenticationInterval: Message("re-authentication interval")
    case .grantEnds: Message("end of role")
    case .sessionIdleLimit: Message("idle timeout")
    case .sessionLifetime: Message("maximum session length")
    case .blockedSince: Message("blocked since")
    case .attention: Message("needs attention")
    case .version: Message("version")
    case .bytes: Message("length (bytes)")
    case .issuer: Message("issuer")
    case .clientID: Message("client ID")
    case .clientSecret: Message("client secret")
    case .keys: Message("keys")
    case .keyLabel: Message("key")
    case .keyID: Message("key ID")
    case .role: Message("role")
    case .grants: Message("roles")
    case .inviter: Message("invited by")
    case .authenticator: Message("authenticator app")
    case .passkey: Message("passkey")
    case .passkeys: Message("passkeys")
    case .passkeyRefusal: Message("reason")
    case .passkeyRequired: Message("passkeys required")
    case .signInProvider: Message("sign-in provider")
    case .subject: Message("subject")
    case .scopes: Message("scopes")
    case .groupsClaim: Message("groups claim")
    case .mfaValues: Message("values that indicate MFA")
    case .groupRoles: Message("group roles")
    case .providerRefusal: Message("reason for rejection")
    case .administratorPasswordSignIn: Message("administrator password sign-in")
    case .breakGlassAccount: Message("break-glass account")
    case .secondFactorRequired: Message("second factor required of all administrators")
    case .verification: Message("verified with")
    case .blockedFor: Message("blocked for")
    case .blockReach: Message("block applies to")
    case .timeZone: Message("time zone")
    case .theme: Message("theme")
    case .time: Message("time")
    case .dataFrom: Message("newest data in the backup")
    case .sessionsKept: Message("sessions kept")
    case .requestsClosed: Message("requests closed")
    case .linksClosed: Message("links invalidated")
    case .administratorSessionsEnded: Message("administrator sessions ended")
    case .bulkRemovalsStopped: Message("bulk removals stopped")
    case .messagesDeleted: Message("unsent messages deleted")
    case .temporaryCodesEnded: Message("temporary codes revoked")
    case .invitationsRevoked: Message("invitations revoked")
    case .recoveryCodesEnded: Message("recovery codes revoked")
    case .secrets: Message("secrets")
    case .masterKey: Message("master key")
    case .signingKey: Message("signing key")
    case .signsFrom: Message("signs from")
    case .retirement: Message("retired")
    case .secretKind: Message("secret")
    case .secretPart: Message("part")
    case .failure: Message("cause")
    case .unrecordedUntil: Message("further changes not recorded until")
    case .migrations: Message("migrations")
    case .scheduledChangesDropped: Message("scheduled policy changes dropped")
    case .policyTemplatesDropped: Message("policy templates dropped")
    case .eventStreamsDropped: Message("event streams dropped")
    case .reportSubscriptionsDropped: Message("report subscriptions dropped")
    case .groupedRemovalsDropped: Message("removals across pools dropped")
    case .bouncedAddressesDropped: Message("marks of bouncing addresses dropped")
    case .notesDropped: Message("notes dropped")
    case .remoteServer: Message("server")
    case .remoteProject: Message("connected project")
    case .accessLevel: Message("access level")
    case .credential: Message("service account")
    case .permissionsExcess: Message("permissions not needed")
    case .remoteUsers: Message("users counted there")
    case .enrolledUsers: Message("users with a second factor")
    case .usersNotStored: Message("users who can’t be stored")
    case .goneSince: Message("gone since")
    case .changeRequest: Message("request")
    }
  }

  /// A number and what it counts: “1 session ended”, “3 sessions ended”; nil for a field that is
  /// named before its value.
  func counting(_ number: Int) -> Message? {
    switch field {
    case .factorsLeft:
      Message(
        one: "{count} second factor left",
        other: "{count} second factors left", ["count": .number(number)])
    case .sessionsEnded:
      Message(
        one: "{count} session ended", other: "{count} sessions ended", ["count": .number(number)])
    case .users: Message(one: "{count} user", other: "{count} users", ["count": .number(number)])
    case .usersCreated:
      Message(
        one: "{count} user created", other: "{count} users created", ["count": .number(number)])
    case .usersReplaced:
      Message(
        one: "{count} user replaced", other: "{count} users replaced", ["count": .number(number)])
    case .usersKept:
      Message(
        one: "{count} existing user kept",
        other: "{count} existing users kept", ["count": .number(number)])
    case .usersRefused:
      Message(
        one: "{count} user rejected", other: "{count} users rejected", ["count": .number(number)])
    case .usersDone:
      Message(
        one: "{count} user processed", other: "{count} users processed", ["count": .number(number)])
    case .usersRestored:
      Message(
        one: "{count} user restored", other: "{count} users restored", ["count": .number(number)])
    case .usersRestoredBefore:
      Message(
        one: "{count} user restored earlier", other: "{count} users restored earlier",
        ["count": .number(number)])
    case .usersNotRestored:
      Message(
        one: "{count} user not restored", other: "{count} users not restored",
        ["count": .number(number)])
    case .factorsRemoved:
      Message(
        one: "{count} factor removed", other: "{count} factors removed", ["count": .number(number)])
    case .entries:
      Message(one: "{count} entry", other: "{count} entries", ["count": .number(number)])
    case .codes: Message(one: "{count} code", other: "{count} codes", ["count": .number(number)])
    case .codesLeft:
      Message(one: "{count} code left", other: "{count} codes left", ["count": .number(number)])
    case .tenants:
      Message(one: "{count} tenant", other: "{count} tenants", ["count": .number(number)])
    case .apiKeys:
      Message(one: "{count} API key", other: "{count} API keys", ["count": .number(number)])
    case .serviceTokens:
      Message(
        one: "{count} service token", other: "{count} service tokens", ["count": .number(number)])
    case .requestsClosed:
      Message(
        one: "{count} request closed", other: "{count} requests closed", ["count": .number(number)])
    case .linksClosed:
      Message(
        one: "{count} link invalidated", other: "{count} links invalidated",
        ["count": .number(number)])
    case .administratorSessionsEnded:
      Message(
        one: "{count} administrator session ended",
        other: "{count} administrator sessions ended", ["count": .number(number)])
    case .bulkRemovalsStopped:
      Message(
        one: "{count} bulk removal stopped", other: "{count} bulk removals stopped",
        ["count": .number(number)])
    case .messagesDeleted:
      Message(
        one: "{count} unsent message deleted",
        other: "{count} unsent messages deleted", ["count": .number(number)])
    case .temporaryCodesEnded:
      Message(
        one: "{count} temporary code revoked", other: "{count} temporary codes revoked",
        ["count": .number(number)])
    case .invitationsRevoked:
      Message(
        one: "{count} invitation revoked",
        other: "{count} invitations revoked", ["count": .number(number)])
    case .recoveryCodesEnded:
      Message(
        one: "{count} recovery code revoked", other: "{count} recovery codes revoked",
        ["count": .number(number)])
    case .secrets:
      Message(one: "{count} secret", other: "{count} secrets", ["count": .number(number)])
    default: nil
    }
  }
}
