/// A way in which an administrator shows again who they are.
public enum ReauthenticationMethod: String, CaseIterable, Sendable {
  /// A code of their authenticator app, or one of their recovery codes.
  case code
}

/// What an administrator sends to re-authenticate.
///
/// What it holds depends on the method; only the surface that reads it and the authorization that
/// verifies it know.
public struct ReauthenticationProof: Sendable {
  enum Content: Sendable {
    case none
    case code(String)
  }

  let content: Content

  /// No proof, as when none was asked for.
  public static let none = Self(content: .none)

  /// A code as it was typed.
  public static func code(_ typed: String) -> Self {
    let typed = typed.trimmed
    return typed.isEmpty ? .none : Self(content: .code(typed))
  }

  /// Whether nothing was sent.
  public var isEmpty: Bool {
    if case .none = content { return true }
    return false
  }
}

/// What an action would require of an administrator now, for the page that asks.
public struct ActionStanding: Sendable {
  /// The action.
  public let action: ConsoleAction
  /// Whether the administrator has to re-authenticate.
  public let needsReauthentication: Bool
  /// How they can; nil when they need a second factor first.
  public let method: ReauthenticationMethod?

  /// Whether the administrator can't act before they set up a second factor or sign in again.
  public var isBlocked: Bool { needsReauthentication && method == nil }
}
