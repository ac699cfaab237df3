import Crypto
import HTTP
import Identity
import JSON

extension Methods {
  static let sendOobCode = Declaration(
    "accounts.sendOobCode",
    "Emails a link with a code, or returns the link to a caller with a service token.",
    takes: [
      "requestType": .choice(Methods.oobTypes).required, "email": .text, "idToken": .text,
      "newEmail": .text.noted("For VERIFY_AND_CHANGE_EMAIL."), "continueUrl": .text,
      "returnOobLink": .flag.noted(
        "Returns the link in place of sending an email; requires a service token."),
      "canHandleCodeInApp": .flag, "iOSBundleId": .text, "iOSAppStoreId": .text,
      "androidPackageName": .text, "androidInstallApp": .flag, "androidMinimumVersion": .text,
      "linkDomain": .text, "dynamicLinkDomain": .text, "captchaResp": .text, "challenge": .text,
      "userIp": .text, "clientType": .text, "recaptchaVersion": .text, "captchaResponse": .text,
    ],
    gives: [
      "kind": .kind("GetOobConfirmationCodeResponse"), "email": .text, "oobCode": .text,
      "oobLink": .text,
    ])

  /// The types of codes, indexed by enum number.
  static let oobTypes = EnumType(
    name: "google.cloud.identitytoolkit.v1.OobReqType",
    values: [
      "OOB_REQ_TYPE_UNSPECIFIED", "PASSWORD_RESET", "OLD_EMAIL_AGREE", "NEW_EMAIL_ACCEPT",
      "VERIFY_EMAIL", "RECOVER_EMAIL", "EMAIL_SIGNIN", "VERIFY_AND_CHANGE_EMAIL",
      "REVERT_SECOND_FACTOR_ADDITION",
    ])

  /// `accounts:sendOobCode` by a client: sends a code to an email, or to the user of an ID token.
  func sendOobCode(_ call: ClientCall) async throws -> JSON {
    let kind = try Methods.oobKind(call.message)
    let wantsLink = try call.message.flag("returnOobLink") ?? false
    let author = call.holder?.author(of: call.request)
    guard !wantsLink || author != nil else { throw WireError("INSUFFICIENT_PERMISSION") }
    var pool: Pool
    let subject: OutOfBandRequest.Subject
    switch kind {
    case .verifyEmail, .changeEmail:
      let session = try await tokens.session(call, missing: .invalidIDToken)
      (pool, subject) = (session.pool, .session(session))
    default:
      subject = .email(try Methods.oobEmail(call.message))
      pool = try await self.pool(of: call)
    }
    var request = try Methods.oobRequest(kind, for: subject, call.message, call.request)
    request.apiKey = call.request.parameter("key") ?? call.request.fields["X-Goog-Api-Key"]
    if wantsLink, let author { return try await link(request, in: pool, by: author) }
    return try await send(
      request, in: pool, hidingUsers: try await hidesUsers(pool), from: call.address)
  }

  /// `accounts:sendOobCode` with a token: sends a code to an email, or to the user of an ID token, and
  /// reports if it has no account.
  func sendOobCodeAsAdministrator(_ call: AdminCall) async throws -> JSON {
    let kind = try Methods.oobKind(call.message)
    let subject: OutOfBandRequest.Subject
    if [.verifyEmail, .changeEmail].contains(kind), try call.message.given("email") == nil,
      let token = try call.message.given("idToken")
    {
      subject = .session(try await tokens.session(token, in: call.pool))
    } else {
      subject = .email(try Methods.oobEmail(call.message))
    }
    let request = try Methods.oobRequest(kind, for: subject, call.message, call.request)
    if try call.message.flag("returnOobLink") ?? false {
      return try await link(request, in: call.pool, by: call.author)
    }
    return try await send(request, in: call.pool, hidingUsers: false, from: nil)
  }

  private func send(
    _ request: OutOfBandRequest, in pool: Pool, hidingUsers: Bool, from network: ClientAddress?
  ) async throws -> JSON {
    let email = try await identity.outOfBandCodes.send(
      request, in: pool, hidingUsers: hidingUsers, from: network)
    return ["kind": "identitytoolkit#GetOobConfirmationCodeResponse", "email": .string(email)]
  }

  private func link(
    _ request: OutOfBandRequest, in pool: Pool, by author: Author
  ) async throws -> JSON {
    let link = try await identity.outOfBandCodes.link(request, in: pool, by: author)
    return [
      "kind": "identitytoolkit#GetOobConfirmationCodeResponse", "email": .string(link.email),
      "oobCode": .string(link.code), "oobLink": .string(link.link),
    ]
  }

  private static func oobKind(_ message: RequestMessage) throws(WireError) -> OutOfBandCode.Kind {
    guard let number = try message.enumeration("requestType", oobTypes), number != 0 else {
      throw WireError("MISSING_REQ_TYPE")
    }
    // The other types are sent automatically by the server, or no longer at all.
    let asked: [OutOfBandCode.Kind] = [.passwordReset, .verifyEmail, .signIn, .changeEmail]
    guard let kind = OutOfBandCode.Kind(rawValue: oobTypes.values[number]), asked.contains(kind)
    else { throw WireError("INVALID_REQ_TYPE : Unsupported request parameters.") }
    return kind
  }

  private static func oobEmail(_ message: RequestMessage) throws(WireError) -> String {
    guard let email = try message.given("email") else {
      throw WireError("MISSING_EMAIL")
    }
    return email
  }

  private static func oobRequest(
    _ kind: OutOfBandCode.Kind, for subject: OutOfBandRequest.Subject, _ message: RequestMessage,
    _ http: Request
  ) throws(WireError) -> OutOfBandRequest {
    var request = OutOfBandRequest(kind, for: subject)
    // An empty URL is an invalid one, as in production.
    request.continueURL = try message.text("continueUrl")
    request.linkDomain = try message.given("linkDomain")
    let usesCode = try message.flag("canHandleCodeInApp") ?? false
    if request.continueURL == nil, usesCode { throw WireError("MISSING_CONTINUE_URI") }
    let apps = [try message.given("iOSBundleId"), try message.given("androidPackageName")]
    if apps != [nil, nil] { request.app = usesCode ? .code : .continuation }
    request.locale = http.fields["X-Firebase-Locale"]
    if kind == .changeEmail {
      guard let email = try message.given("newEmail") else {
        throw WireError("MISSING_NEW_EMAIL")
      }
      request.newEmail = email
    }
    return request
  }

  /// `accounts:update` with a code in place of an ID token: performs the action of the code.
  ///
  /// With an ID token as well, the code must be of its user.
  func applyOobCode(_ code: String, _ call: ClientCall) async throws -> JSON {
    guard let token = try call.message.given("idToken") else {
      return try await applyOobCode(code, in: try await pool(of: call), of: nil, by: call.visitor)
    }
    let session = try await tokens.session(token, call)
    return try await applyOobCode(
      code, in: session.pool, of: .session(session), by: call.visitor)
  }

  func applyOobCode(
    _ code: String, in pool: Pool, of user: CodeUser?, by author: Author
  ) async throws -> JSON {
    let done = try await identity.outOfBandCodes.apply(code, in: pool, of: user, by: author)
    var answer = Methods.updateAnswer(done.account)
    if done.code.kind == .changeEmail {
      UserMessage.append("newEmail", done.code.newEmail, to: &answer)
    }
    return .object(answer)
  }

  static let resetPassword = Declaration(
    "accounts.resetPassword",
    "Sets a new password with an emailed code; without a password, returns the code's purpose.",
    takes: ["oobCode": .text.required, "newPassword": .text],
    gives: [
      "kind": .kind("ResetPasswordResponse"), "requestType": .choice(Methods.oobTypes).required,
      "email": .text, "newEmail": .text, "mfaInfo": .factor,
    ])

  /// `accounts:resetPassword`: checks any code, and uses one that resets a password.
  func resetPassword(_ call: ClientCall) async throws -> JSON {
    guard let code = try call.message.given("oobCode") else {
      throw WireError("MISSING_OOB_CODE")
    }
    // An empty password is too short, as in production; only without one is the code looked at.
    let password = try call.message.text("newPassword").map { Secret($0) }
    let pool = try await pool(of: call)
    let codes = identity.outOfBandCodes
    guard let password else {
      return Methods.codeAnswer(try await codes.look(at: code, in: pool))
    }
    return Methods.codeAnswer(
      try await codes.resetPassword(code, to: password, in: pool, by: call.visitor))
  }

  /// The email of a sign-in link isn't returned, because the user has to know it.
  private static func codeAnswer(_ code: OutOfBandCode) -> JSON {
    var answer: JSON.Object = ["kind": "identitytoolkit#ResetPasswordResponse"]
    if code.kind != .signIn { answer.append("email", .string(code.email)) }
    answer.append("requestType", .string(code.kind.rawValue))
    UserMessage.append("newEmail", code.newEmail, to: &answer)
    // A single factor rather than a list.
    if let factor = code.factor, let entry = UserMessage.mfaInfo([factor]).arrayValue?.first {
      answer.append("mfaInfo", entry)
    }
    return .object(answer)
  }

  static let signInWithEmailLink = Declaration(
    "accounts.signInWithEmailLink", "Signs in with the code of an email link.",
    takes: [
      "email": .text.required, "oobCode": .text.required,
      "idToken": .text.noted("The ID token of the account to link the email to."),
      "returnSecureToken": .flag,
    ],
    gives: .message(
      [
        "kind": .kind("EmailLinkSigninResponse"), "localId": .text.required,
        "email": .text.required, "isNewUser": .flag,
      ], .tokens, .secondFactorDue))

  /// `accounts:signInWithEmailLink`: creates the account if it doesn't exist.
  func signInWithEmailLink(_ call: ClientCall) async throws -> JSON {
    guard let email = try call.message.given("email") else {
      throw WireError("MISSING_EMAIL")
    }
    guard let code = try call.message.given("oobCode") else {
      throw WireError("MISSING_OOB_CODE")
    }
    var session: UserSession?
    if let token = try call.message.given("idToken") {
      session = try await tokens.session(token, call)
    }
    let pool: Pool
    if let session { pool = session.pool } else { pool = try await self.pool(of: call) }
    let signIn = try await identity.signIns.emailLink(
      pool, email: email, code: code, linking: session, by: call.visitor)
    switch signIn.outcome {
    case .signedIn(let grant):
      var answer = Methods.emailLinkAnswer(grant.account)
      answer.append("isNewUser", .bool(signIn.isNewUser))
      try appendTokens(grant, to: &answer)
      return .object(answer)
    case .secondFactorDue(let account, let pendingCredential, let factors):
      // Whether the user is new isn't revealed before they're signed in.
      var answer = Methods.emailLinkAnswer(account)
      answer.append("mfaPendingCredential", .string(pendingCredential))
      answer.append("mfaInfo", UserMessage.mfaInfo(factors))
      return .object(answer)
    case .enrollmentRequired: throw WireError.enrollmentRequired
    }
  }

  private static func emailLinkAnswer(_ account: Account) -> JSON.Object {
    [
      "kind": "identitytoolkit#EmailLinkSigninResponse", "localId": .string(account.id.text),
      "email": .string(account.email ?? ""),
    ]
  }

  static let createAuthUri = Declaration(
    "accounts.createAuthUri", "Returns the sign-in methods of an email address.",
    takes: [
      "identifier": .text, "continueUri": .text, "providerId": .text, "sessionId": .text,
      "authFlowType": .text, "context": .text, "customParameter": .map(.text),
      "hostedDomain": .text, "oauthScope": .text, "oauthConsumerKey": .text, "openidRealm": .text,
      "otaApp": .text,
    ],
    gives: [
      "kind": .kind("CreateAuthUriResponse"), "registered": .flag, "allProviders": .list(.text),
      "signinMethods": .list(.text), "sessionId": .text.required,
    ], failing: [501])

  /// `accounts:createAuthUri`: reveals nothing about the email if email enumeration protection is
  /// enabled.
  func createAuthUri(_ call: ClientCall) async throws -> JSON {
    if let provider = try call.message.given("providerId") {
      throw try await refusal(of: provider, call)
    }
    guard let identifier = try call.message.given("identifier") else {
      throw WireError("MISSING_IDENTIFIER")
    }
    guard let uri = try call.message.given("continueUri") else {
      throw WireError("MISSING_CONTINUE_URI")
    }
    let pool = try await pool(of: call)
    let given = try call.message.text("sessionId") ?? ""
    let ways: WaysToSignIn
    do {
      ways = try await identity.signIns.ways(of: identifier, in: pool, goingOnTo: uri)
    } catch OutOfBandError.invalidEmail {
      throw WireError("INVALID_IDENTIFIER")
    } catch OutOfBandError.invalidContinueURL {
      throw WireError("INVALID_CONTINUE_URI")
    }
    var answer: JSON.Object = ["kind": "identitytoolkit#CreateAuthUriResponse"]
    if try await !hidesUsers(pool) {
      answer.append("registered", .bool(ways.isRegistered))
      // A user without a way to sign in has neither list.
      if ways.isRegistered, !ways.methods.isEmpty {
        answer.append("allProviders", .array(ways.providers.map { .string($0) }))
        answer.append("signinMethods", .array(ways.methods.map { .string($0) }))
      }
    }
    answer.append("sessionId", .string(given.isEmpty ? ways.sessionID : given))
    return .object(answer)
  }

  /// Returns why there is no URL for signing in with a provider: it isn't configured, or the server
  /// doesn't support it.
  ///
  /// The emulator profile accepts every provider.
  private func refusal(of provider: String, _ call: ClientCall) async throws -> WireError {
    guard try call.message.given("continueUri") != nil else {
      return WireError("MISSING_CONTINUE_URI")
    }
    if identity.profile == .standalone {
      let pool = try await pool(of: call)
      do {
        _ = try await identity.identityProviders.find(pool, provider)
      } catch ProviderError.notFound {
        throw FederationError.providerNotFound
      }
    }
    return WireError(
      "NOT_IMPLEMENTED : URLs for signing in with another provider are created by applications.",
      status: .notImplemented, reason: "notImplemented")
  }
}
