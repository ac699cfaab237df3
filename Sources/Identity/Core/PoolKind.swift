public import Database

/// Where the users of a project and its tenants are; the raw value is stored.
public enum PoolKind: String, CaseIterable, Sendable, SQLConvertible {
  /// Here.
  case hosted
  /// At Google's Identity Platform.
  case identityPlatform = "identity-platform"
  /// At another Countersign.
  case countersign

  /// The only table of what pools offer.
  public var offers: Set<Capability> {
    switch self {
    case .hosted: Self.ofHosted
    case .identityPlatform, .countersign: Self.ofConnected
    }
  }

  private static let ofHosted = Set(Capability.allCases).subtracting([.connection])
  private static let ofConnected: Set<Capability> = [.bookkeeping, .connection]
}

/// What an action, a page, or a command needs of a pool.
public enum Capability: CaseIterable, Sendable {
  /// Nothing but what's stored here: lists, reports, reviews, rules, marks of users, the audit log.
  case bookkeeping
  case policyChanges
  /// Changing users: their factors and sessions, disabling, and requests and lists for it.
  case userChanges
  /// Secrets of factors and sign-ins: undo, suspension, code attempts, backup codes, links.
  case secrets
  /// What the server of the users has: settings, tenants, keys, providers, messages, new users.
  case hosting
  /// A connection to the server of the users.
  case connection
}
