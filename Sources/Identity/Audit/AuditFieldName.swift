/// A field of an audit entry; the raw value is the stored name.
public enum AuditFieldName: String, CaseIterable, Sendable {
  case uid
  case email
  case emailVerified = "email-verified"
  case signsInByLink = "email-link-sign-in"
  case password
  case displayName = "display-name"
  case photoURL = "photo-url"
  case phoneNumber = "phone-number"
  case providers
  case claims
  case disabled
  case validSince = "valid-since"
  case createdAt = "created-at"
  case lastSignIn = "last-sign-in"
  case factors
  case factorsLeft = "factors-left"
  case factorSecrets = "factor-secrets"
  case isProtected = "protected"
  case changesLockedAt = "changes-locked-at"
  case wrongCodes = "wrong-codes"
  case codesLocked = "codes-locked"
  case sessionsEnded = "sessions-ended"
  case signUpMethod = "sign-up-method"
  /// What made the change.
  case origin
  case users
  case usersCreated = "users-created"
  case usersReplaced = "users-replaced"
  /// The number of users that existed and were kept.
  case usersKept = "users-kept"
  case usersRefused = "users-refused"
  case usersDone = "users-done"
  case usersRestored = "users-restored"
  /// The number of users whose second factors had been restored before an undo.
  case usersRestoredBefore = "users-restored-before"
  case usersNotRestored = "users-not-restored"
  case factorsRemoved = "factors-removed"
  case fileName = "file-name"
  case importPart = "import-part"
  case filter
  case passwordHashes = "password-hashes"
  case entries
  case suspendedUntil = "suspended-until"
  case undoUntil = "undo-until"
  case remover
  case expiresAt = "expires-at"
  case codes
  case codesLeft = "codes-left"
  case codesCreatedAt = "codes-created-at"
  case linkKind = "link-kind"
  case linkEmail = "link-email"
  case providerEmail = "provider-email"
  case sender
  case reportedChange = "reported-change"
  case reportedAt = "reported-at"
  /// The SHA-256 digest of the reviewed policies.
  case policyDigest = "policy-digest"
  /// The number of reviewed user pools.
  case pools
  case reviewDue = "review-due"
  case exemptUntil = "exempt-until"
  case exemptionGrantor = "exemption-grantor"
  case evidenceKey = "evidence-key"
  case message
  case approvalCause = "approval-cause"
  case requester
  case approver
  case outcome
  case bulkRemoval = "bulk-removal"
  case stopReason = "stop-reason"
  case totp
  case adjacentIntervals = "adjacent-intervals"
  case sms
  case mfaState = "mfa-state"
  case pattern = "enrollment-pattern"
  case mandatoryFrom = "mandatory-from"
  case enforcement
  case enforcedFrom = "enforced-from"
  case graceDays = "grace-days"
  case passwordSignIn = "password-sign-in"
  case emailLinkSignIn = "email-link"
  case anonymousSignIn = "anonymous"
  case phoneSignIn = "phone-sign-in"
  /// Whether unenrolling requires a second factor.
  case withdrawalNeedsFactor = "withdrawal-needs-factor"
  /// Whether email enumeration protection is enabled.
  case emailPrivacy = "email-privacy"
  case duplicateEmails = "duplicate-emails"
  case authorizedDomains = "authorized-domains"
  case allowsTenants = "allows-tenants"
  case importsTOTP = "imports-totp"
  case testPhoneNumbers = "test-phone-numbers"
  case signIn = "sign-in"
  case userSignUp = "user-sign-up"
  case userDeletion = "user-deletion"
  /// Whether anonymous users are deleted after 30 days.
  case anonymousExpire = "anonymous-expire"
  case passwordEnforced = "password-enforced"
  case passwordShortest = "password-shortest"
  case passwordLongest = "password-longest"
  case passwordClasses = "password-classes"
  /// Whether the password policy applies at sign-in.
  case passwordUpgrade = "password-upgrade"
  /// Settings that are stored only.
  case otherMembers = "other-members"
  case tenants
  case apiKeys = "api-keys"
  case serviceTokens = "service-tokens"
  /// The number of incorrect codes that locks codes.
  case codeCap = "code-cap"
  /// The share of sign-ins that a recommended window keeps, in hundredths of a percent.
  case signInGoal = "sign-in-goal"
  case undoPeriod = "undo-period"
  case auditRetention = "audit-retention"
  case codeAttemptRetention = "code-attempt-retention"
  case temporaryCodes = "temporary-codes"
  case recoveryCodes = "recovery-codes"
  case identityChecks = "identity-checks"
  case callerVerificationRule = "caller-verification-rule"
  case callerVerification = "caller-verification"
  case actionsPerHour = "actions-per-hour"
  /// The number of users above which approval is required.
  case approvalOver = "approval-over"
  /// The number of users above which a weaker policy requires approval.
  case policyApprovalOver = "policy-approval-over"
  case approvalForLastFactor = "approval-for-last-factor"
  case tokensRemoveFactors = "tokens-remove-factors"
  case tokenChangesPerHour = "token-changes-per-hour"
  case reauthenticationInterval = "reauthentication-interval"
  case grantEnds = "grant-ends"
  case sessionIdleLimit = "session-idle-limit"
  case sessionLifetime = "session-lifetime"
  case blockedSince = "blocked-since"
  case version
  case bytes
  case issuer
  case clientID = "client-id"
  case clientSecret = "client-secret"
  case keys
  /// The beginning of a key or its fingerprint.
  case keyLabel = "key-label"
  case keyID = "key-id"
  case role
  case grants
  case inviter
  case authenticator
  /// A passkey of an administrator, by its name.
  case passkey
  case passkeys
  case passkeyRefusal = "passkey-refusal"
  /// Whether administrators who manage others must sign in with a passkey.
  case passkeyRequired = "passkey-required"
  /// The provider with which administrators sign in, by its name.
  case signInProvider = "sign-in-provider"
  case subject
  case scopes
  case groupsClaim = "groups-claim"
  /// The values of claims that mean a second factor.
  case mfaValues = "mfa-values"
  case groupRoles = "group-roles"
  case providerRefusal = "provider-refusal"
  case administratorPasswordSignIn = "administrator-password-sign-in"
  /// The owner who can sign in when password sign-in is off, by their email address.
  case breakGlassAccount = "break-glass-account"
  case secondFactorRequired = "second-factor-required"
  case verification
  case blockedFor = "blocked-for"
  case blockReach = "block-reach"
  case timeZone = "time-zone"
  case theme
  case time
  /// The time up to which the data was current.
  case dataFrom = "data-from"
  case database
  case sessionsKept = "sessions-kept"
  case requestsClosed = "requests-closed"
  case linksClosed = "links-closed"
  case administratorSessionsEnded = "administrator-sessions-ended"
  case bulkRemovalsStopped = "bulk-removals-stopped"
  case messagesDeleted = "messages-deleted"
  case temporaryCodesEnded = "temporary-codes-ended"
  case invitationsRevoked = "invitations-revoked"
  case recoveryCodesEnded = "recovery-codes-ended"
  case secrets
  case masterKey = "master-key"
  case signingKey = "signing-key"
  case signsFrom = "signs-from"
  case retirement
  case secretKind = "secret-kind"
  /// Which of several stored secrets.
  case secretPart = "secret-part"
  case failure
}
