import HTTP
import Identity
import JSON

extension Declaration {
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
}

extension Methods {
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

  /// `accounts:sendOobCode` with a token: sends a code to an email, and reports if it has no
  /// account.
  func sendOobCodeAsAdministrator(_ call: AdminCall) async throws -> JSON {
    let kind = try Methods.oobKind(call.message)
    let email = try Methods.oobEmail(call.message)
    let request = try Methods.oobRequest(kind, for: .email(email), call.message, call.request)
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
    if request.continueURL == nil, try message.flag("canHandleCodeInApp") == true {
      throw WireError("MISSING_CONTINUE_URI")
    }
    request.locale = http.fields["X-Firebase-Locale"]
    if kind == .changeEmail {
      guard let email = try message.given("newEmail") else {
        throw WireError("MISSING_NEW_EMAIL")
      }
      request.newEmail = email
    }
    return request
  }
}
