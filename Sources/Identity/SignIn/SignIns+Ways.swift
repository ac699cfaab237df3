import Database

/// How the account of an address signs in.
public struct WaysToSignIn: Sendable {
  /// Whether there is an account.
  public let isRegistered: Bool
  /// Its providers: `password` for both a password and links in mails.
  public let providers: [String]
  /// Its methods: `password` and `emailLink` apart.
  public let methods: [String]
  /// A name for the attempt, at random.
  public let sessionID: String
}

extension SignIns {
  /// How the account of an address signs in; for an address that nobody has the same work is done.
  ///
  /// - Throws: ``OutOfBandError``.
  public func ways(
    of email: String, in scope: Scope, goingOnTo url: String
  ) async throws(OutOfBandError) -> WaysToSignIn {
    guard !scope.isDisabled else { throw .scopeDisabled(scope) }
    do { try AccountRules.checkEmail(email) } catch { throw .invalidEmail }
    guard ContinueURL.host(of: url) != nil else { throw .invalidContinueURL }
    let sessionID = store.random.token(bytes: 20)
    return try await store.read(OutOfBandError.self) { connection in
      let account = try AccountRecord.find(scope, email: email, connection)
      let others = account?.providers.map(\.provider) ?? []
      let byMail =
        (account?.hasPassword == true ? ["password"] : [])
        + (account?.signsInByLink == true ? ["emailLink"] : [])
      return WaysToSignIn(
        isRegistered: account != nil, providers: (byMail.isEmpty ? [] : ["password"]) + others,
        methods: byMail + others, sessionID: sessionID)
    }
  }
}
