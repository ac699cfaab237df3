extension AuditFieldName {
  /// Whether the field of an entry about a user says something about the user that's erased with
  /// the user's data: who the user is, what they have, and when they were there.
  ///
  /// Counts, states of a setting, and the names of administrators stay.
  var isPersonal: Bool {
    switch self {
    case .uid, .email, .providerEmail, .displayName, .photoURL, .phoneNumber,
      .providers, .claims, .createdAt, .lastSignIn, .validSince, .factors, .factorSecrets,
      .linkEmail, .reportedChange, .reportedAt, .changesLockedAt, .filter, .fileName, .secretPart,
      .suspendedUntil, .codesCreatedAt, .otherMembers:
      true
    default: false
    }
  }
}
