import Database

/// The prerequisites of an MFA policy: users can enroll only if a first factor that supports MFA is
/// enabled and their email is verified.
public struct PolicyPrerequisites: Sendable {
  public let signIn: SignInMethods
  /// The IDs of the OpenID Connect providers that users can sign in with.
  public let providers: [String]
  public let unverifiedEmails: Int
  /// How the policy was weakened in the last 30 days; nil if it's as strict as before again.
  public let weakened: WeakenedPolicy?

  /// Whether a first factor that supports MFA is enabled.
  ///
  /// Anonymous sign-in, phone numbers, custom tokens, and Game Center don't support it.
  public var allowsSecondFactor: Bool {
    signIn.allowSecondFactor || !providers.isEmpty
  }
}

extension Policies {
  public func prerequisites(_ pool: Pool) async throws -> PolicyPrerequisites {
    let now = store.clock.now()
    return try await store.read { connection in
      let weakened = try WeakenedPolicy.find(pool, at: now, connection)
      let providers = try IdentityProviders.enabled(in: pool, connection)
      let prerequisites = try connection.first(
        """
        SELECT s.password, s.email_link, s.anonymous, \(AccountCounts.current("unverified_users")),
          s.phone
        FROM scope s WHERE s.scope_key = \(pool.key) AND s.deleted_at IS NULL
        """
      ) { row in
        var signIn = SignInMethods(
          password: try row.next(), emailLink: try row.next(), anonymous: try row.next(),
          phone: false)
        let unverifiedEmails: Int = try row.next()
        signIn.phone = try row.next()
        return PolicyPrerequisites(
          signIn: signIn, providers: providers, unverifiedEmails: unverifiedEmails,
          weakened: weakened)
      }
      guard let prerequisites else { throw PolicyError.poolNotFound }
      return prerequisites
    }
  }
}
