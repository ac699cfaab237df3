/// A field of an audit entry; the raw value is the stored name.
public enum AuditFieldName: String, CaseIterable, Sendable {
  /// A user's ID.
  case uid
  /// An email address.
  case email
  /// Whether the email address is verified.
  case emailVerified = "email-verified"
  /// Whether the user signs in by email link.
  case signsInByLink = "email-link-sign-in"
  /// A password.
  case password
  /// A display name.
  case displayName = "display-name"
  /// The address of a picture.
  case photoURL = "photo-url"
  /// A phone number.
  case phoneNumber = "phone-number"
  /// The identities at other providers.
  case providers
  /// The custom claims.
  case claims
  /// Whether the account is disabled.
  case disabled
  /// The time since which sessions are valid.
  case validSince = "valid-since"
  /// The time of creation.
  case createdAt = "created-at"
  /// The time of the last sign-in.
  case lastSignIn = "last-sign-in"
  /// Second factors.
  case factors
  /// The number of second factors afterward.
  case factorsLeft = "factors-left"
  /// The secrets of second factors.
  case factorSecrets = "factor-secrets"
  /// Whether the account is protected.
  case isProtected = "protected"
  /// The time at which the user locked changes of second factors.
  case changesLockedAt = "changes-locked-at"
  /// The number of incorrect codes in a row.
  case wrongCodes = "wrong-codes"
  /// Whether codes are locked.
  case codesLocked = "codes-locked"
  /// The number of sessions that ended.
  case sessionsEnded = "sessions-ended"
  /// How a user signed up.
  case signUpMethod = "sign-up-method"
  /// What made the change.
  case origin
  /// A number of users.
  case users
  /// The number of users created.
  case usersCreated = "users-created"
  /// The number of users replaced.
  case usersReplaced = "users-replaced"
  /// The number of users that existed and were kept.
  case usersKept = "users-kept"
  /// The number of users rejected.
  case usersRefused = "users-refused"
  /// The number of users processed.
  case usersDone = "users-done"
  /// The number of users whose second factors were restored.
  case usersRestored = "users-restored"
  /// The number of users whose second factors had been restored before an undo.
  case usersRestoredBefore = "users-restored-before"
  /// The number of users whose second factors couldn't be restored.
  case usersNotRestored = "users-not-restored"
  /// The number of second factors removed.
  case factorsRemoved = "factors-removed"
  /// The name of a file.
  case fileName = "file-name"
  /// The part of an import.
  case importPart = "import-part"
  /// The filters of a download.
  case filter
  /// Whether a download contains password hashes.
  case passwordHashes = "password-hashes"
  /// A number of audit entries.
  case entries
  /// The end of a suspension.
  case suspendedUntil = "suspended-until"
  /// The end of the undo period.
  case undoUntil = "undo-until"
  /// The name of who removed second factors.
  case remover
  /// The time of expiry.
  case expiresAt = "expires-at"
  /// A number of recovery or temporary codes.
  case codes
  /// The number of codes left.
  case codesLeft = "codes-left"
  /// The time at which codes were generated.
  case codesCreatedAt = "codes-created-at"
  /// The purpose of a link.
  case linkKind = "link-kind"
  /// The address a link was sent to.
  case linkEmail = "link-email"
  /// The user's email address at an identity provider.
  case providerEmail = "provider-email"
  /// The name of who sent a link.
  case sender
  /// The change that a user reported.
  case reportedChange = "reported-change"
  /// The time of the change that a user reported.
  case reportedAt = "reported-at"
  /// The SHA-256 digest of the reviewed policies.
  case policyDigest = "policy-digest"
  /// The number of reviewed user pools.
  case pools
  /// The day on which the next review is due.
  case reviewDue = "review-due"
  /// The time at which an exemption ends.
  case exemptUntil = "exempt-until"
  /// The administrator who granted an exemption.
  case exemptionGrantor = "exemption-grantor"
  /// An evidence key.
  case evidenceKey = "evidence-key"
  /// The purpose of a message.
  case message
  /// Why approval is required.
  case approvalCause = "approval-cause"
  /// The name of who requested approval.
  case requester
  /// The name of who approved.
  case approver
  /// The result of a request.
  case outcome
  /// The number of a bulk removal.
  case bulkRemoval = "bulk-removal"
  /// Why a bulk removal stopped.
  case stopReason = "stop-reason"
  /// Whether TOTP is enabled.
  case totp
  /// The adjacent intervals.
  case adjacentIntervals = "adjacent-intervals"
  /// Whether SMS is enabled.
  case sms
  /// The state of the MFA configuration.
  case mfaState = "mfa-state"
  /// The enrollment pattern.
  case pattern = "enrollment-pattern"
  /// The day from which enrollment is mandatory.
  case mandatoryFrom = "mandatory-from"
  /// How the server enforces mandatory enrollment.
  case enforcement
  /// The day from which the server enforces mandatory enrollment.
  case enforcedFrom = "enforced-from"
  /// The days that each user has to enroll.
  case graceDays = "grace-days"
  /// Whether password sign-in is enabled.
  case passwordSignIn = "password-sign-in"
  /// Whether email link sign-in is enabled.
  case emailLinkSignIn = "email-link"
  /// Whether anonymous sign-in is enabled.
  case anonymousSignIn = "anonymous"
  /// Whether phone sign-in is enabled.
  case phoneSignIn = "phone-sign-in"
  /// Whether unenrolling requires a second factor.
  case withdrawalNeedsFactor = "withdrawal-needs-factor"
  /// Whether email enumeration protection is enabled.
  case emailPrivacy = "email-privacy"
  /// Whether duplicate email addresses are allowed.
  case duplicateEmails = "duplicate-emails"
  /// The authorized domains.
  case authorizedDomains = "authorized-domains"
  /// Whether tenants are allowed.
  case allowsTenants = "allows-tenants"
  /// Whether TOTP secrets may be imported.
  case importsTOTP = "imports-totp"
  /// The test phone numbers.
  case testPhoneNumbers = "test-phone-numbers"
  /// Whether sign-in is enabled.
  case signIn = "sign-in"
  /// Whether users may sign up.
  case userSignUp = "user-sign-up"
  /// Whether users may delete their accounts.
  case userDeletion = "user-deletion"
  /// Whether anonymous users are deleted after 30 days.
  case anonymousExpire = "anonymous-expire"
  /// Whether the password policy is enforced.
  case passwordEnforced = "password-enforced"
  /// The minimum length of passwords.
  case passwordShortest = "password-shortest"
  /// The maximum length of passwords.
  case passwordLongest = "password-longest"
  /// The required kinds of characters.
  case passwordClasses = "password-classes"
  /// Whether the password policy applies at sign-in.
  case passwordUpgrade = "password-upgrade"
  /// Settings that are stored only.
  case otherMembers = "other-members"
  /// A number of tenants.
  case tenants
  /// A number of API keys.
  case apiKeys = "api-keys"
  /// A number of service tokens.
  case serviceTokens = "service-tokens"
  /// The number of incorrect codes that locks codes.
  case codeCap = "code-cap"
  /// The share of sign-ins that a recommended window keeps, in hundredths of a percent.
  case signInGoal = "sign-in-goal"
  /// The period in which removals can be undone.
  case undoPeriod = "undo-period"
  /// Audit log retention.
  case auditRetention = "audit-retention"
  /// How long code attempts are kept.
  case codeAttemptRetention = "code-attempt-retention"
  /// Whether temporary codes are enabled.
  case temporaryCodes = "temporary-codes"
  /// Whether recovery codes are enabled.
  case recoveryCodes = "recovery-codes"
  /// The identity checks.
  case identityChecks = "identity-checks"
  /// How agents verify callers.
  case callerVerificationRule = "caller-verification-rule"
  /// How a caller was verified.
  case callerVerification = "caller-verification"
  /// The hourly action limit.
  case actionsPerHour = "actions-per-hour"
  /// The number of users above which approval is required.
  case approvalOver = "approval-over"
  /// The number of users above which a weaker policy requires approval.
  case policyApprovalOver = "policy-approval-over"
  /// Whether removing the last factor requires approval.
  case approvalForLastFactor = "approval-for-last-factor"
  /// Whether service tokens may remove second factors.
  case tokensRemoveFactors = "tokens-remove-factors"
  /// The hourly limit of factor changes by a service token.
  case tokenChangesPerHour = "token-changes-per-hour"
  /// The re-authentication interval.
  case reauthenticationInterval = "reauthentication-interval"
  /// When a role ends automatically.
  case grantEnds = "grant-ends"
  /// The inactivity timeout of administrators' sessions.
  case sessionIdleLimit = "session-idle-limit"
  /// The maximum lifetime of administrators' sessions.
  case sessionLifetime = "session-lifetime"
  /// The time at which an agent was blocked.
  case blockedSince = "blocked-since"
  /// A version number.
  case version
  /// A length in bytes.
  case bytes
  /// An issuer.
  case issuer
  /// A client ID.
  case clientID = "client-id"
  /// A client secret.
  case clientSecret = "client-secret"
  /// Public keys.
  case keys
  /// The beginning of a key or its fingerprint.
  case keyLabel = "key-label"
  /// A key ID.
  case keyID = "key-id"
  /// A role.
  case role
  /// The roles of an administrator.
  case grants
  /// The name of who invited an administrator.
  case inviter
  /// The authenticator app of an administrator.
  case authenticator
  /// A passkey of an administrator, by its name.
  case passkey
  /// The number of passkeys of an administrator.
  case passkeys
  /// Why a passkey was rejected.
  case passkeyRefusal = "passkey-refusal"
  /// Whether administrators who manage others must sign in with a passkey.
  case passkeyRequired = "passkey-required"
  /// The provider with which administrators sign in, by its name.
  case signInProvider = "sign-in-provider"
  /// The ID of a person at a provider.
  case subject
  /// Scopes of requests to a provider.
  case scopes
  /// The claim with a person's groups.
  case groupsClaim = "groups-claim"
  /// The values of claims that mean a second factor.
  case mfaValues = "mfa-values"
  /// The roles of a provider's groups.
  case groupRoles = "group-roles"
  /// Why a sign-in with a provider was rejected.
  case providerRefusal = "provider-refusal"
  /// Whether administrators can sign in with passwords and passkeys.
  case administratorPasswordSignIn = "administrator-password-sign-in"
  /// The owner who can sign in when password sign-in is off, by their email address.
  case breakGlassAccount = "break-glass-account"
  /// Whether all administrators need a second factor.
  case secondFactorRequired = "second-factor-required"
  /// How a person was verified.
  case verification
  /// The time for which sign-in is throttled.
  case blockedFor = "blocked-for"
  /// What is throttled.
  case blockReach = "block-reach"
  /// A time zone.
  case timeZone = "time-zone"
  /// The colors.
  case theme
  /// The confirmed time.
  case time
  /// The time up to which the data was current.
  case dataFrom = "data-from"
  /// The kind of database.
  case database
  /// Whether sessions were kept.
  case sessionsKept = "sessions-kept"
  /// The number of approval requests closed.
  case requestsClosed = "requests-closed"
  /// The number of links made invalid.
  case linksClosed = "links-closed"
  /// The number of administrators' sessions that ended.
  case administratorSessionsEnded = "administrator-sessions-ended"
  /// The number of bulk removals stopped.
  case bulkRemovalsStopped = "bulk-removals-stopped"
  /// The number of unsent messages deleted.
  case messagesDeleted = "messages-deleted"
  /// The number of temporary codes revoked.
  case temporaryCodesEnded = "temporary-codes-ended"
  /// The number of invitations revoked.
  case invitationsRevoked = "invitations-revoked"
  /// The number of recovery codes revoked.
  case recoveryCodesEnded = "recovery-codes-ended"
  /// A number of stored secrets.
  case secrets
  /// A master key.
  case masterKey = "master-key"
  /// A signing key.
  case signingKey = "signing-key"
  /// The time from which a key signs.
  case signsFrom = "signs-from"
  /// Why a signing key was retired.
  case retirement
  /// The kind of a stored secret.
  case secretKind = "secret-kind"
  /// Which of several stored secrets.
  case secretPart = "secret-part"
  /// Why a stored secret couldn't be decrypted.
  case failure
}
