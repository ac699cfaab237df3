/// A re-authentication method for administrators.
public enum ReauthenticationMethod: String, CaseIterable, Sendable {
  /// A code of the authenticator app, or a recovery code.
  case code
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

  /// No proof, for example because none was required.
  public static let none = Self(content: .none)

  /// A code, as typed.
  public static func code(_ typed: String) -> Self {
    let typed = typed.trimmed
    return typed.isEmpty ? .none : Self(content: .code(typed))
  }

  /// True if nothing was submitted.
  public var isEmpty: Bool {
    if case .none = content { return true }
    return false
  }
}

/// What an action would require of an administrator now, for the confirmation page.
public struct ActionStanding: Sendable {
  /// The action.
  public let action: ConsoleAction
  /// Whether the administrator must re-authenticate.
  public let needsReauthentication: Bool
  /// The method; nil if the administrator must set up a second factor first.
  public let method: ReauthenticationMethod?

  /// Whether the administrator must set up a second factor or sign in again before the action.
  public var isBlocked: Bool { needsReauthentication && method == nil }
}
