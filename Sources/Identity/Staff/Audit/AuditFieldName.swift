public import Database

/// A field of an audit entry: a case, and its row in ``entry``.
public enum AuditFieldName: CaseIterable, Sendable, SQLBindable {
  case uid, email, emailVerified, signsInByLink, password, displayName, photoURL, phoneNumber,
    providers, claims, disabled, validSince, createdAt, lastSignIn, factors, factorsLeft,
    factorSecrets, isProtected, changesLockedAt, wrongCodes, codesLocked, sessionsEnded,
    signUpMethod, origin, users, usersCreated, usersReplaced, usersKept, usersRefused, usersDone,
    usersRestored, usersRestoredBefore, usersNotRestored, factorsRemoved, fileName, importPart,
    filter, passwordHashes, entries, suspendedUntil, undoUntil, remover, expiresAt, codes,
    codesLeft, codesCreatedAt, linkKind, linkEmail, providerEmail, sender, reportedChange,
    reportedAt, policyDigest, pools, reviewDue, exemptUntil, exemptionGrantor, evidenceKey, message,
    approvalCause, requester, approver, outcome, bulkRemoval, bulkLinks, bulkAction, stopReason,
    totp,
    adjacentIntervals, sms, mfaState, pattern, mandatoryFrom, enforcement, enforcedFrom, graceDays,
    passwordSignIn,
    emailLinkSignIn, anonymousSignIn, phoneSignIn, changesNeedFactor, emailPrivacy,
    duplicateEmails, authorizedDomains, allowsTenants, importsTOTP, testPhoneNumbers, signIn,
    userSignUp, userDeletion, anonymousExpire, passwordEnforced, passwordShortest, passwordLongest,
    passwordClasses, passwordUpgrade, passwordCommonRefused, otherMembers, tenants, apiKeys,
    serviceTokens, codeCap,
    signInGoal, undoPeriod, auditRetention, codeAttemptRetention, temporaryCodes, recoveryCodes,
    resynchronization, clockOffset, identityChecks, callerVerificationRule, callerVerification,
    actionsPerHour, approvalOver, policyApprovalOver, approvalForLastFactor, tokensRemoveFactors,
    tokenChangesPerHour, reauthenticationInterval, grantEnds, sessionIdleLimit, sessionLifetime,
    blockedSince, attention, version, bytes, issuer, clientID, clientSecret, keys, keyLabel, keyID,
    role,
    grants, inviter,
    authenticator, passkey, passkeys, passkeyRefusal, passkeyRequired, signInProvider, subject,
    scopes, groupsClaim, mfaValues, groupRoles, providerRefusal, administratorPasswordSignIn,
    breakGlassAccount, secondFactorRequired, verification, blockedFor, blockReach, timeZone, theme,
    time, dataFrom, database, sessionsKept, requestsClosed, linksClosed, administratorSessionsEnded,
    bulkRemovalsStopped, messagesDeleted, temporaryCodesEnded, invitationsRevoked,
    recoveryCodesEnded, secrets, masterKey, signingKey, signsFrom, retirement, secretKind,
    secretPart, failure, unrecordedUntil, migrations, scheduledChangesDropped,
    policyTemplatesDropped, eventStreamsDropped, reportSubscriptionsDropped,
    groupedRemovalsDropped, bouncedAddressesDropped, notesDropped,
    remoteServer, remoteProject, accessLevel, credential, permissionsExcess, remoteUsers,
    enrolledUsers, usersNotStored, goneSince, changeRequest

  /// What erasing a user's data does with the field in entries about or by the user.
  enum Erasure {
    /// The field says who the user is, what they have, or when they were there.
    case erased
    /// The field is a count, the state of a setting, or the name of an administrator.
    case kept
  }

  /// The stored name, and whether it's erased with a user's data.
  private var entry: (name: String, erasure: Erasure) {
    switch self {
    case .uid: ("uid", .erased)
    case .email: ("email", .erased)
    case .emailVerified: ("email-verified", .kept)
    case .signsInByLink: ("email-link-sign-in", .kept)
    case .password: ("password", .kept)
    case .displayName: ("display-name", .erased)
    case .photoURL: ("photo-url", .erased)
    case .phoneNumber: ("phone-number", .erased)
    case .providers: ("providers", .erased)
    case .claims: ("claims", .erased)
    case .disabled: ("disabled", .kept)
    case .validSince: ("valid-since", .erased)
    case .createdAt: ("created-at", .erased)
    case .lastSignIn: ("last-sign-in", .erased)
    case .factors: ("factors", .erased)
    case .factorsLeft: ("factors-left", .kept)
    case .factorSecrets: ("factor-secrets", .erased)
    case .isProtected: ("protected", .kept)
    case .changesLockedAt: ("changes-locked-at", .erased)
    case .wrongCodes: ("wrong-codes", .kept)
    case .codesLocked: ("codes-locked", .kept)
    case .sessionsEnded: ("sessions-ended", .kept)
    case .signUpMethod: ("sign-up-method", .kept)
    // What made the change.
    case .origin: ("origin", .kept)
    case .users: ("users", .kept)
    case .usersCreated: ("users-created", .kept)
    case .usersReplaced: ("users-replaced", .kept)
    // The number of users that existed and were kept.
    case .usersKept: ("users-kept", .kept)
    case .usersRefused: ("users-refused", .kept)
    case .usersDone: ("users-done", .kept)
    case .usersRestored: ("users-restored", .kept)
    // The number of users whose second factors had been restored before an undo.
    case .usersRestoredBefore: ("users-restored-before", .kept)
    case .usersNotRestored: ("users-not-restored", .kept)
    case .factorsRemoved: ("factors-removed", .kept)
    case .fileName: ("file-name", .erased)
    case .importPart: ("import-part", .kept)
    case .filter: ("filter", .erased)
    case .passwordHashes: ("password-hashes", .kept)
    case .entries: ("entries", .kept)
    case .suspendedUntil: ("suspended-until", .erased)
    case .undoUntil: ("undo-until", .kept)
    case .remover: ("remover", .kept)
    case .expiresAt: ("expires-at", .kept)
    case .codes: ("codes", .kept)
    case .codesLeft: ("codes-left", .kept)
    case .codesCreatedAt: ("codes-created-at", .erased)
    case .linkKind: ("link-kind", .kept)
    case .linkEmail: ("link-email", .erased)
    case .providerEmail: ("provider-email", .erased)
    case .sender: ("sender", .kept)
    case .reportedChange: ("reported-change", .erased)
    case .reportedAt: ("reported-at", .erased)
    // The SHA-256 digest of the reviewed policies.
    case .policyDigest: ("policy-digest", .kept)
    // The number of reviewed pools.
    case .pools: ("pools", .kept)
    case .reviewDue: ("review-due", .kept)
    case .exemptUntil: ("exempt-until", .kept)
    case .exemptionGrantor: ("exemption-grantor", .kept)
    case .evidenceKey: ("evidence-key", .kept)
    case .message: ("message", .kept)
    case .approvalCause: ("approval-cause", .kept)
    case .requester: ("requester", .kept)
    case .approver: ("approver", .kept)
    case .outcome: ("outcome", .kept)
    case .bulkRemoval: ("bulk-removal", .kept)
    case .bulkLinks: ("bulk-links", .kept)
    case .bulkAction: ("bulk-action", .kept)
    case .stopReason: ("stop-reason", .kept)
    case .totp: ("totp", .kept)
    case .adjacentIntervals: ("adjacent-intervals", .kept)
    case .sms: ("sms", .kept)
    case .mfaState: ("mfa-state", .kept)
    case .pattern: ("enrollment-pattern", .kept)
    case .mandatoryFrom: ("mandatory-from", .kept)
    case .enforcement: ("enforcement", .kept)
    case .enforcedFrom: ("enforced-from", .kept)
    case .graceDays: ("grace-days", .kept)
    case .passwordSignIn: ("password-sign-in", .kept)
    case .emailLinkSignIn: ("email-link", .kept)
    case .anonymousSignIn: ("anonymous", .kept)
    case .phoneSignIn: ("phone-sign-in", .kept)
    // Whether a change of how one signs in requires a second factor; once only unenrolling.
    case .changesNeedFactor: ("withdrawal-needs-factor", .kept)
    // Whether email enumeration protection is enabled.
    case .emailPrivacy: ("email-privacy", .kept)
    case .duplicateEmails: ("duplicate-emails", .kept)
    case .authorizedDomains: ("authorized-domains", .kept)
    case .allowsTenants: ("allows-tenants", .kept)
    case .importsTOTP: ("imports-totp", .kept)
    case .testPhoneNumbers: ("test-phone-numbers", .kept)
    case .signIn: ("sign-in", .kept)
    case .userSignUp: ("user-sign-up", .kept)
    case .userDeletion: ("user-deletion", .kept)
    // Whether anonymous users are deleted after 30 days.
    case .anonymousExpire: ("anonymous-expire", .kept)
    case .passwordEnforced: ("password-enforced", .kept)
    case .passwordShortest: ("password-shortest", .kept)
    case .passwordLongest: ("password-longest", .kept)
    case .passwordClasses: ("password-classes", .kept)
    // Whether the password policy applies at sign-in.
    case .passwordUpgrade: ("password-upgrade", .kept)
    // Whether common passwords are rejected.
    case .passwordCommonRefused: ("password-common-refused", .kept)
    // Settings that are stored only.
    case .otherMembers: ("other-members", .erased)
    case .tenants: ("tenants", .kept)
    case .apiKeys: ("api-keys", .kept)
    case .serviceTokens: ("service-tokens", .kept)
    // The number of incorrect codes that locks codes.
    case .codeCap: ("code-cap", .kept)
    // The share of sign-ins that a recommended window keeps, in hundredths of a percent.
    case .signInGoal: ("sign-in-goal", .kept)
    case .undoPeriod: ("undo-period", .kept)
    case .auditRetention: ("audit-retention", .kept)
    case .codeAttemptRetention: ("code-attempt-retention", .kept)
    case .temporaryCodes: ("temporary-codes", .kept)
    case .recoveryCodes: ("recovery-codes", .kept)
    case .resynchronization: ("resynchronization", .kept)
    // How many intervals the clock of a user's device is ahead, negative if it's behind.
    case .clockOffset: ("clock-offset", .erased)
    case .identityChecks: ("identity-checks", .kept)
    case .callerVerificationRule: ("caller-verification-rule", .kept)
    case .callerVerification: ("caller-verification", .kept)
    case .actionsPerHour: ("actions-per-hour", .kept)
    // The number of users above which approval is required.
    case .approvalOver: ("approval-over", .kept)
    // The number of users above which a weaker policy requires approval.
    case .policyApprovalOver: ("policy-approval-over", .kept)
    case .approvalForLastFactor: ("approval-for-last-factor", .kept)
    case .tokensRemoveFactors: ("tokens-remove-factors", .kept)
    case .tokenChangesPerHour: ("token-changes-per-hour", .kept)
    case .reauthenticationInterval: ("reauthentication-interval", .kept)
    case .grantEnds: ("grant-ends", .kept)
    case .sessionIdleLimit: ("session-idle-limit", .kept)
    case .sessionLifetime: ("session-lifetime", .kept)
    case .blockedSince: ("blocked-since", .kept)
    case .attention: ("attention", .kept)
    case .version: ("version", .kept)
    case .bytes: ("bytes", .kept)
    case .issuer: ("issuer", .kept)
    case .clientID: ("client-id", .kept)
    case .clientSecret: ("client-secret", .kept)
    case .keys: ("keys", .kept)
    // The beginning of a key or its fingerprint.
    case .keyLabel: ("key-label", .kept)
    case .keyID: ("key-id", .kept)
    case .role: ("role", .kept)
    case .grants: ("grants", .kept)
    case .inviter: ("inviter", .kept)
    case .authenticator: ("authenticator", .kept)
    // A passkey of an administrator, by its name.
    case .passkey: ("passkey", .kept)
    case .passkeys: ("passkeys", .kept)
    case .passkeyRefusal: ("passkey-refusal", .kept)
    // Whether administrators who manage others must sign in with a passkey.
    case .passkeyRequired: ("passkey-required", .kept)
    // The provider with which administrators sign in, by its name.
    case .signInProvider: ("sign-in-provider", .kept)
    case .subject: ("subject", .kept)
    case .scopes: ("scopes", .kept)
    case .groupsClaim: ("groups-claim", .kept)
    // The values of claims that mean a second factor.
    case .mfaValues: ("mfa-values", .kept)
    case .groupRoles: ("group-roles", .kept)
    case .providerRefusal: ("provider-refusal", .kept)
    case .administratorPasswordSignIn: ("administrator-password-sign-in", .kept)
    // The owner who can sign in when password sign-in is off, by their email address.
    case .breakGlassAccount: ("break-glass-account", .kept)
    case .secondFactorRequired: ("second-factor-required", .kept)
    case .verification: ("verification", .kept)
    case .blockedFor: ("blocked-for", .kept)
    case .blockReach: ("block-reach", .kept)
    case .timeZone: ("time-zone", .kept)
    case .theme: ("theme", .kept)
    case .time: ("time", .kept)
    // The time up to which the data was current.
    case .dataFrom: ("data-from", .kept)
    case .database: ("database", .kept)
    case .sessionsKept: ("sessions-kept", .kept)
    case .requestsClosed: ("requests-closed", .kept)
    case .linksClosed: ("links-closed", .kept)
    case .administratorSessionsEnded: ("administrator-sessions-ended", .kept)
    case .bulkRemovalsStopped: ("bulk-removals-stopped", .kept)
    case .messagesDeleted: ("messages-deleted", .kept)
    case .temporaryCodesEnded: ("temporary-codes-ended", .kept)
    case .invitationsRevoked: ("invitations-revoked", .kept)
    case .recoveryCodesEnded: ("recovery-codes-ended", .kept)
    case .secrets: ("secrets", .kept)
    case .masterKey: ("master-key", .kept)
    case .signingKey: ("signing-key", .kept)
    case .signsFrom: ("signs-from", .kept)
    case .retirement: ("retirement", .kept)
    case .secretKind: ("secret-kind", .kept)
    // Which of several stored secrets.
    case .secretPart: ("secret-part", .erased)
    case .failure: ("failure", .kept)
    // Until when further changes of this kind, beyond the user's quota, have no entry.
    case .unrecordedUntil: ("unrecorded-until", .kept)
    case .migrations: ("migrations", .kept)
    case .scheduledChangesDropped: ("scheduled-changes-dropped", .kept)
    case .policyTemplatesDropped: ("policy-templates-dropped", .kept)
    case .eventStreamsDropped: ("event-streams-dropped", .kept)
    case .reportSubscriptionsDropped: ("report-subscriptions-dropped", .kept)
    case .groupedRemovalsDropped: ("grouped-removals-dropped", .kept)
    case .bouncedAddressesDropped: ("bounced-addresses-dropped", .kept)
    case .notesDropped: ("notes-dropped", .kept)
    case .remoteServer: ("remote-server", .kept)
    case .remoteProject: ("remote-project", .kept)
    case .accessLevel: ("access-level", .kept)
    // The service account of a connection.
    case .credential: ("credential", .kept)
    case .permissionsExcess: ("permissions-excess", .kept)
    // The number of users that the remote counts.
    case .remoteUsers: ("remote-users", .kept)
    case .enrolledUsers: ("enrolled-users", .kept)
    case .usersNotStored: ("users-not-stored", .kept)
    case .goneSince: ("gone-since", .erased)
    // The number of the entry of the request that an entry is about.
    case .changeRequest: ("change-request", .kept)
    }
  }

  /// The stored name.
  public var storedName: String { entry.name }
  public var sqlValue: SQLValue { storedName.sqlValue }
  var erasure: Erasure { entry.erasure }

  private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.storedName, $0) })

  /// Finds the field with a stored name; nil if a later version of the program stored it.
  public init?(stored name: String) {
    guard let field = Self.byName[name] else { return nil }
    self = field
  }
}
