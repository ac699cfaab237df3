/// A type of resource that audit entries are about; the raw value is the stored name.
public enum AuditResource: String, CaseIterable, Sendable {
  /// The policy of a user pool.
  case policy
  /// The code acceptance window of a user pool, in entries of earlier versions.
  case policyWindow = "policy window"
  /// A user.
  case account
  /// An erasure of a user's data.
  case erasure
  /// A project.
  case project
  /// A tenant.
  case tenant
  /// A user pool.
  case scope
  /// The support playbook of a user pool.
  case guidance
  /// A message to a user.
  case message
  /// A bulk removal.
  case bulkRemoval = "bulk removal"
  /// An API key.
  case apiKey = "api key"
  /// A service token.
  case serviceToken = "service token"
  /// An identity provider.
  case provider
  /// A custom token signing key.
  case trustedTokenKey = "signer"
  /// An administrator.
  case administrator
  /// A signing key of the instance.
  case signingKey = "signing key"
  /// A master key.
  case masterKey = "master key"
  /// The instance.
  case instance
}
