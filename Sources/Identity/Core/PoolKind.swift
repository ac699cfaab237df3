public import Database
public import IdentityToolkitClient

/// Where the users of a project and its tenants are; the raw value is stored.
public enum PoolKind: String, CaseIterable, Sendable, SQLConvertible {
  /// Here.
  case hosted
  /// At Google's Identity Platform.
  case identityPlatform = "identity-platform"
  /// At another Countersign.
  case countersign

  /// The only table of what pools offer; those of a connected project by what its connection may do.
  public func offers(at access: AccessLevel) -> Set<Capability> {
    switch (self, access) {
    case (.hosted, _): Self.ofHosted
    case (_, .read): Self.atRead
    case (_, .support): Self.atSupport
    case (_, .policy): Self.atPolicy
    }
  }

  private static let ofHosted = Set(Capability.allCases).subtracting([.connection])
  private static let atRead: Set<Capability> = [.bookkeeping, .connection]
  private static let atSupport = atRead.union([.userChanges])
  private static let atPolicy = atSupport.union([.policyChanges])
}

/// What an action, a page, or a command needs of a pool.
public enum Capability: CaseIterable, Sendable {
  /// Nothing but what's stored here: lists, reports, reviews, rules, marks of users, the audit log.
  case bookkeeping
  case policyChanges
  /// Changing users: their factors and sessions, disabling, and requests for it.
  case userChanges
  /// Changing what only hosted users have: names of factors, verified addresses, lists for changes.
  case hostedUsers
  /// Secrets of factors and sign-ins: undo, suspension, code attempts, backup codes, links.
  case secrets
  /// What the server of the users has: settings, tenants, keys, providers, messages, new users.
  case hosting
  /// A connection to the server of the users.
  case connection
}
