import Database

/// What a policy stands on: without a first factor that allows a second one, and without verified
/// addresses, nobody can enroll.
public struct PolicyPrerequisites: Sendable {
  /// Which first factors the scope allows.
  public let signIn: SignInMethods
  /// The providers of OpenID Connect that users sign in with, by id.
  public let providers: [String]
  /// How many users have an email address that is not verified.
  public let unverifiedEmails: Int
  /// How the policy was weakened in the last 30 days; nil when it is as strict again.
  public let weakened: WeakenedPolicy?

  /// True when a first factor is on that allows a second one.
  ///
  /// Anonymous users, phone numbers, custom tokens and Game Center allow none.
  public var allowsSecondFactor: Bool {
    signIn.password || signIn.emailLink || !providers.isEmpty
  }
}

extension Policies {
  /// What the policy of a scope stands on.
  ///
  /// - Throws: ``PolicyError/scopeNotFound``, ``PolicyError/unavailable(_:)``.
  public func prerequisites(_ scope: Scope) async throws(PolicyError) -> PolicyPrerequisites {
    let now = store.clock.now()
    return try await store.read(PolicyError.self) { connection in
      let weakened = try WeakenedPolicy.find(scope, at: now, connection)
      // Of SAML nobody signs in, whatever its providers say.
      let providers = try connection.all(
        """
        SELECT provider_id FROM identity_provider
        WHERE scope_key = \(scope.key) AND provider_id > 'oidc.' AND provider_id < 'oidc/'
          AND enabled = 1
        ORDER BY provider_id
        """
      ) { try $0.value(0) as String }
      let prerequisites = try connection.first(
        """
        SELECT password, email_link, anonymous, unverified_users, phone FROM scope
        WHERE scope_key = \(scope.key) AND deleted_at IS NULL
        """
      ) { row in
        PolicyPrerequisites(
          signIn: SignInMethods(
            password: try row.value(0), emailLink: try row.value(1), anonymous: try row.value(2),
            phone: try row.value(4)),
          providers: providers, unverifiedEmails: try row.value(3), weakened: weakened)
      }
      guard let prerequisites else { throw PolicyError.scopeNotFound }
      return prerequisites
    }
  }
}
