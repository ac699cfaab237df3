import Identity
import JSON

/// What the methods work with; each of them is an extension in a file of its own.
struct Methods: Sendable {
  let identity: Identity
  let tokens: IDTokens
  /// The address that clients use, without a slash at its end.
  let publicURL: String
}

extension Methods {
  /// How long an ID token lives, in seconds, as answers tell it.
  static let expiresIn: JSON = "3600"

  /// Appends the tokens of a session.
  func appendTokens(
    _ grant: SessionGrant, expires: Bool = true, to answer: inout JSON.Object,
    withRefreshToken isRefreshable: Bool = true
  ) throws(WireError) {
    answer.append("idToken", .string(try tokens.make(for: grant)))
    guard isRefreshable else { return }
    answer.append("refreshToken", .string(grant.refreshToken))
    if expires { answer.append("expiresIn", Methods.expiresIn) }
  }
}
