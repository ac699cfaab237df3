import Identity
import JSON

/// The context of the methods, each of which is an extension in its own file.
struct Methods: Sendable {
  let identity: Identity
  let tokens: IDTokens
  /// The base URL that clients use, without a trailing slash.
  let publicURL: String
}

extension Methods {
  /// The lifetime of an ID token in responses, in seconds.
  static let expiresIn: JSON = "3600"

  func appendTokens(
    _ grant: SessionGrant, expires: Bool = true, to answer: inout JSON.Object,
    withRefreshToken isRefreshable: Bool = true
  ) throws {
    answer.append("idToken", .string(try tokens.make(for: grant)))
    guard isRefreshable else { return }
    answer.append("refreshToken", .string(grant.refreshToken))
    if expires { answer.append("expiresIn", Methods.expiresIn) }
  }
}
