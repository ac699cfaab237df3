import HTTP
import Identity

/// The paths of version 3, which the iOS SDK, the export and import commands of the CLI, and some
/// libraries call; each is an alias of a version 1 method.
extension Routes {
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
    (.post, "verifyClient", "POST /v1/accounts:verifyIosClient"),
    (.post, "verifyCustomToken", "POST /v1/accounts:signInWithCustomToken"),
    (.post, "verifyPassword", "POST /v1/accounts:signInWithPassword"),
    (.post, "verifyPhoneNumber", "POST /v1/accounts:signInWithPhoneNumber"),
  ]

  /// The two methods that transfer the users of a project, which the message names.
  private static let transfers = [
    (name: "downloadAccount", work: "GET accounts:batchGet"),
    (name: "uploadAccount", work: "POST accounts:batchCreate"),
  ]

  /// Adds the paths of version 3, after all other routes, because it refers to them.
  mutating func addLegacy() {
    for (method, name, route) in Routes.legacy {
      guard let call = calls[route] else { continue }
      let newer = call.operation.declaration
      addLegacy(
        method, name, newer, takes: newer.request, call.operation.access, call.answer)
    }
    for (name, key) in Routes.transfers {
      guard let work = works[key] else { continue }
      let newer = work.declaration
      let message = Schema.message(
        ["targetProjectId": .text.required], newer.query, newer.request ?? [:])
      addLegacy(.post, name, newer, takes: message, .admin(work.action)) { [authorizer] request in
        await authorizer.transfer(request, work.action, work.method)
      }
    }
  }

  private mutating func addLegacy(
    _ method: Method, _ name: String, _ newer: Declaration, takes message: Schema?,
    _ access: Operation.Access, _ answer: @escaping @Sendable (Request) async -> Response
  ) {
    let path: Path<> = Path("identitytoolkit", "v3", "relyingparty", .literal(name))
    let declaration = Declaration(
      name, newer.summary, query: method == .get ? newer.query : [:], takes: message,
      gives: newer.response, failing: newer.failures)
    // The certificates have the error format of the other key documents, everything else that of
    // version 1.
    let shape: ErrorShape = if case .open = access { .both } else { .v1 }
    add(
      path.route(method, answer), declaration, access, shape, below: "relyingparty.",
      isDeprecated: true)
  }
}
