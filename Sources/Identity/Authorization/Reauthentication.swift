import Database

public enum ReauthenticationMethod: String, CaseIterable, Sendable {
  /// A code of the authenticator app, or a recovery code.
  case totp
  case passkey
  /// A sign-in at the provider with which the administrator is linked; a second factor if the
  /// provider says so.
  case provider

  static func all(totp: Bool, passkey: Bool) -> Set<Self> {
    Set([totp ? .totp : nil, passkey ? .passkey : nil].compactMap { $0 })
  }

  /// Returns the second factors of an administrator, which aren't the provider.
  static func all(
    of id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> Set<Self> {
    try connection.first(
      """
      SELECT totp_enrolled_at IS NOT NULL,
        EXISTS (SELECT 1 FROM passkey WHERE administrator_id = \(id))
      FROM administrator WHERE administrator_id = \(id)
      """
    ) { all(totp: try $0.next(), passkey: try $0.next()) } ?? []
  }

  /// Returns the second factors of a session's administrator, and the provider if they're linked.
  static func all(
    for session: ConsoleSession, _ connection: borrowing Connection
  ) throws -> Set<Self> {
    let factors = try all(of: session.administrator.id, connection)
    return session.provider.name == nil ? factors : factors.union([.provider])
  }
}

/// The proof that an administrator submits to re-authenticate.
///
/// Its content depends on the method; only the interface that reads it and the authorization that
/// verifies it access it.
public struct ReauthenticationProof: Sendable {
  enum Content: Sendable {
    case none
    case code(String)
  }

  let content: Content

  public static let none = Self(content: .none)

  public static func code(_ typed: String) -> Self {
    let typed = typed.trimmed
    return typed.isEmpty ? .none : Self(content: .code(typed))
  }

  public var isEmpty: Bool {
    if case .none = content { return true }
    return false
  }
}

/// What an action would require of an administrator now, for the confirmation page.
public struct ActionEligibility: Sendable {
  public let action: ConsoleAction
  public let needsReauthentication: Bool
  /// The administrator's methods; empty if they must set up a second factor first.
  public let methods: Set<ReauthenticationMethod>

  /// Whether the form of the action can't be submitted now: it has a field for a code only, so the
  /// administrator must set up a second factor or use their passkey first.
  public var isBlocked: Bool { needsReauthentication && !methods.contains(.totp) }
}
