import Crypto
import Database

/// The sign-in methods of the account with an email.
public struct WaysToSignIn: Sendable {
  public let isRegistered: Bool
  /// The provider IDs: `password` for both passwords and email links.
  public let providers: [String]
  /// The sign-in methods: `password` and `emailLink` separately.
  public let methods: [String]
  /// A random ID for the attempt.
  public let sessionID: String
}

extension SignIns {
  /// Returns the sign-in methods of the account with an email, with the same amount of work if
  /// there is no account.
  public func ways(
    of email: String, in pool: Pool, goingOnTo url: String
  ) async throws -> WaysToSignIn {
    guard !pool.isDisabled else { throw CallError.poolDisabled(pool) }
    do { try AccountRules.checkEmail(email) } catch { throw OutOfBandError.invalidEmail }
    guard ContinueURL.host(of: url) != nil else { throw OutOfBandError.invalidContinueURL }
    let sessionID = store.random.token(bytes: 20)
    return try await store.read { connection in
      let account = try AccountRecord.find(pool, email: email, connection)
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
