import HTTP
import Identity

/// The addresses of version 3, which the iOS SDK, the export and import of the command line tools
/// and some libraries call; each is another name of a method of version 1.
extension Routes {
  /// The methods of version 3 with the routes of version 1 that answer them.
  private static let legacy: [(method: Method, name: String, route: String)] = [
    (.post, "createAuthUri", "POST /v1/accounts:createAuthUri"),
    (.post, "deleteAccount", "POST /v1/accounts:delete"),
    (.post, "emailLinkSignin", "POST /v1/accounts:signInWithEmailLink"),
    (.post, "getAccountInfo", "POST /v1/accounts:lookup"),
    (.post, "getOobConfirmationCode", "POST /v1/accounts:sendOobCode"),
    (.get, "getProjectConfig", "GET /v1/projects"),
    (.get, "getRecaptchaParam", "GET /v1/recaptchaParams"),
    (.get, "publicKeys", "GET /v1/publicKeys"),
    (.post, "resetPassword", "POST /v1/accounts:resetPassword"),
    (.post, "sendVerificationCode", "POST /v1/accounts:sendVerificationCode"),
    (.post, "setAccountInfo", "POST /v1/accounts:update"),
    (.post, "signInWithGameCenter", "POST /v1/accounts:signInWithGameCenter"),
    (.post, "signupNewUser", "POST /v1/accounts:signUp"),
    (.post, "verifyAssertion", "POST /v1/accounts:signInWithIdp"),
    (.post, "verifyCustomToken", "POST /v1/accounts:signInWithCustomToken"),
    (.post, "verifyPassword", "POST /v1/accounts:signInWithPassword"),
    (.post, "verifyPhoneNumber", "POST /v1/accounts:signInWithPhoneNumber"),
  ]

  /// Adds the addresses of version 3; after all others, since it answers by them.
  mutating func addLegacy() {
    for (method, name, route) in Routes.legacy {
      guard let call = calls[route] else { continue }
      let path: Path<> = Path("identitytoolkit", "v3", "relyingparty", .literal(name))
      let newer = call.operation.declaration
      add(
        path.route(method, call.answer),
        Declaration(
          "relyingparty." + name, newer.summary, query: newer.query, takes: newer.request,
          gives: newer.response, failing: newer.failures),
        call.operation.access, call.operation.shape, isDeprecated: true)
    }
  }
}
