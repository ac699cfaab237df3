public import Database

/// A type of resource that audit entries are about; the raw value is the stored name.
public enum AuditResource: String, CaseIterable, Sendable, SQLBindable {
  case policy
  /// The code acceptance window of a pool, in entries of earlier versions.
  case policyWindow = "policy window"
  case account
  case erasure
  case project
  case tenant
  case pool = "scope"
  case guidance
  case message
  case bulkRemoval = "bulk removal"
  case apiKey = "api key"
  case serviceToken = "service token"
  case provider
  case trustedTokenKey = "signer"
  case administrator
  case signingKey = "signing key"
  case masterKey = "master key"
  case instance
}
