extension AuditFieldName {
  /// Whether the field of an entry about a user says something about the user that's erased with
  /// the user's data: who the user is, what they have, and when they were there.
  ///
  /// Counts, states of a setting, and the names of administrators stay. The compiler asks for each new
  /// field.
  var isPersonal: Bool {
    switch self {
    case .uid, .email, .providerEmail, .displayName, .photoURL, .phoneNumber,
      .providers, .claims, .createdAt, .lastSignIn, .validSince, .factors, .factorSecrets,
      .linkEmail, .reportedChange, .reportedAt, .changesLockedAt, .filter, .fileName, .secretPart,
      .suspendedUntil, .codesCreatedAt, .otherMembers:
      true
    case .emailVerified, .signsInByLink, .password, .disabled, .factorsLeft, .isProtected,
      .wrongCodes, .codesLocked, .sessionsEnded, .signUpMethod, .origin, .users, .usersCreated,
      .usersReplaced, .usersKept, .usersRefused, .usersDone, .usersRestored, .usersRestoredBefore,
      .usersNotRestored, .factorsRemoved, .importPart, .passwordHashes, .entries, .undoUntil,
      .remover, .expiresAt, .codes, .codesLeft, .linkKind, .sender, .policyDigest, .pools,
      .reviewDue, .exemptUntil, .exemptionGrantor, .evidenceKey, .message, .approvalCause,
      .requester, .approver, .outcome, .bulkRemoval, .stopReason, .totp, .adjacentIntervals, .sms,
      .mfaState, .pattern, .mandatoryFrom, .enforcement, .enforcedFrom, .graceDays, .passwordSignIn,
      .emailLinkSignIn, .anonymousSignIn, .phoneSignIn, .withdrawalNeedsFactor, .emailPrivacy,
      .duplicateEmails, .authorizedDomains, .allowsTenants, .importsTOTP, .testPhoneNumbers,
      .signIn, .userSignUp, .userDeletion, .anonymousExpire, .passwordEnforced, .passwordShortest,
      .passwordLongest, .passwordClasses, .passwordUpgrade, .tenants, .apiKeys, .serviceTokens,
      .codeCap, .signInGoal, .undoPeriod, .auditRetention, .codeAttemptRetention, .temporaryCodes,
      .recoveryCodes, .identityChecks, .callerVerificationRule, .callerVerification,
      .actionsPerHour, .approvalOver, .policyApprovalOver, .approvalForLastFactor,
      .tokensRemoveFactors, .tokenChangesPerHour, .reauthenticationInterval, .grantEnds,
      .sessionIdleLimit, .sessionLifetime, .blockedSince, .version, .bytes, .issuer, .clientID,
      .clientSecret, .keys, .keyLabel, .keyID, .role, .grants, .inviter, .authenticator, .passkey,
      .passkeys, .passkeyRefusal, .passkeyRequired, .signInProvider, .subject, .scopes,
      .groupsClaim, .mfaValues, .groupRoles, .providerRefusal, .administratorPasswordSignIn,
      .breakGlassAccount, .secondFactorRequired, .verification, .blockedFor, .blockReach, .timeZone,
      .theme, .time, .dataFrom, .database, .sessionsKept, .requestsClosed, .linksClosed,
      .administratorSessionsEnded, .bulkRemovalsStopped, .messagesDeleted, .temporaryCodesEnded,
      .invitationsRevoked, .recoveryCodesEnded, .secrets, .masterKey, .signingKey, .signsFrom,
      .retirement, .secretKind, .failure:
      false
    }
  }
}
