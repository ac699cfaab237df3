import HTTP
import Identity
import JSON
import OpenIDConnect
import Text

extension Methods {
  static let signInWithIdp = Declaration(
    "accounts.signInWithIdp",
    "Signs in or links a user with an identity provider's ID token.",
    takes: [
      "requestUri": .text.required,
      "postBody": .text.noted(
        "A form with providerId and id_token, and with nonce where the token has one."),
      "pendingToken": .text,
      "idToken": .text.noted("The ID token of the user to link the identity to."),
      "returnIdpCredential": .flag.noted("Returns some errors with status 200 and errorMessage."),
      "returnSecureToken": .flag, "autoCreate": .flag, "sessionId": .text,
    ],
    gives: .message(
      [
        "kind": .kind("VerifyAssertionResponse"), "providerId": .text, "federatedId": .text,
        "localId": .text, "email": .text, "emailVerified": .flag,
        "displayName": .text, "fullName": .text, "firstName": .text, "lastName": .text,
        "screenName": .text, "photoUrl": .text, "rawUserInfo": .text, "oauthIdToken": .text,
        "oauthAccessToken": .text, "pendingToken": .text, "nonce": .text, "isNewUser": .flag,
        "emailRecycled": .flag, "needConfirmation": .flag, "verifiedProvider": .list(.text),
        "errorMessage": .text, "tenantId": .text,
      ], .tokens, .secondFactorDue),
    failing: [501])

  /// `accounts:signInWithIdp`: returns tokens, a pending credential for the second factor, or that
  /// the user has to sign in with another method first.
  func signInWithIdp(_ call: ClientCall) async throws -> JSON {
    var session: UserSession?
    if let token = try call.message.given("idToken") {
      session = try await tokens.session(token, call)
    }
    let pool: Pool
    if let session { pool = session.pool } else { pool = try await self.pool(of: call) }
    let credential = try ProviderCredential(call.message, identity.profile)
    let assertion = try await assertion(credential, in: pool)
    var answer = Methods.answer(assertion, credential, identity.profile)
    let returnsErrors = try call.message.flag("returnIdpCredential") ?? false
    if let presented = credential.pendingToken {
      // A new one would be valid for longer than the ID token that it stands for.
      answer.append("pendingToken", .string(presented))
    } else if assertion.link.provider.hasPrefix(IdentityProvider.Kind.oidc.prefix) {
      answer.append(
        "pendingToken", .string(try identity.federation.pendingToken(assertion, in: pool)))
    }
    let result: FederatedSignIn
    do {
      if let session {
        result = try await identity.federation.link(session, assertion, by: call.visitor)
      } else {
        let creates = try? call.message.flag("autoCreate")
        result = try await identity.federation.signIn(
          pool, assertion, mayCreate: creates != false, by: call.visitor)
      }
    } catch let error as FederationError {
      switch error {
      case .alreadyLinked where returnsErrors, .providerAlreadyLinked where returnsErrors,
        .emailExists where returnsErrors:
        // This way the client keeps the credential and can link it later.
        answer.append("errorMessage", .string(WireError(error).message))
        return .object(answer)
      default: throw error
      }
    }
    return try await finish(answer, result, in: pool)
  }

  private func assertion(
    _ credential: ProviderCredential, in pool: Pool
  ) async throws -> ProviderAssertion {
    if let pending = credential.pendingToken {
      return try await identity.federation.assertion(pool, pendingToken: pending)
    }
    return try await identity.federation.assertion(
      pool, provider: credential.provider, idToken: credential.idToken, nonce: credential.nonce)
  }

  private func finish(
    _ start: JSON.Object, _ result: FederatedSignIn, in pool: Pool
  ) async throws -> JSON {
    var answer = start
    UserMessage.append("tenantId", pool.tenant?.text, to: &answer)
    switch result {
    case .needsConfirmation(let providers):
      // The status is 200: the web SDK creates an error from this member.
      answer.append("needConfirmation", true)
      // That the email is in use has to be said, but not how its user signs in.
      if try await !hidesUsers(pool) {
        answer.append("verifiedProvider", .array(providers.map { .string($0) }))
      }
    case .account(let outcome, let federated):
      let account = federated.account
      answer.append("localId", .string(account.id.text))
      if account.email != nil, answer["email"] == account.email.map({ .string($0) }) {
        answer["emailVerified"] = .bool(account.emailVerified)
      }
      if federated.isNew { answer.append("isNewUser", true) }
      if federated.isEmailRecycled { answer.append("emailRecycled", true) }
      switch outcome {
      case .signedIn(let grant): try appendTokens(grant, to: &answer)
      case .secondFactorDue(_, let pendingCredential, let factors):
        answer.append("mfaPendingCredential", .string(pendingCredential))
        answer.append("mfaInfo", UserMessage.mfaInfo(factors, masked: true))
      case .enrollmentRequired: throw WireError.enrollmentRequired
      }
    }
    return .object(answer)
  }

  private static func answer(
    _ assertion: ProviderAssertion, _ credential: ProviderCredential, _ profile: Profile
  ) -> JSON.Object {
    let link = assertion.link
    let isGoogle = link.provider == "google.com"
    let isOIDC = link.provider.hasPrefix(IdentityProvider.Kind.oidc.prefix)
    let prefix = isGoogle ? "https://accounts.google.com/" : isOIDC ? "\(link.provider)/" : ""
    var answer: JSON.Object = [
      "kind": "identitytoolkit#VerifyAssertionResponse", "providerId": .string(link.provider),
      "federatedId": .string(prefix + link.rawID),
    ]
    UserMessage.append("displayName", link.displayName, to: &answer)
    UserMessage.append("fullName", link.displayName, to: &answer)
    UserMessage.append("firstName", assertion.firstName, to: &answer)
    UserMessage.append("lastName", assertion.lastName, to: &answer)
    UserMessage.append("screenName", assertion.screenName, to: &answer)
    UserMessage.append("email", link.email, to: &answer)
    answer.append("emailVerified", .bool(assertion.isEmailVerified))
    UserMessage.append("photoUrl", link.photoURL, to: &answer)
    answer.append(
      "rawUserInfo", .string(isGoogle ? googleUserInfo(assertion) : assertion.claims))
    UserMessage.append("oauthIdToken", assertion.idToken, to: &answer)
    guard credential.pendingToken == nil else { return answer }
    // The web SDK creates credentials from an access token for most providers, so the emulator
    // returns one, except for OpenID Connect, whose credentials are ID tokens.
    let fake =
      profile == .emulator && !isOIDC ? "FirebaseAuthEmulatorFakeAccessToken_\(link.provider)" : nil
    UserMessage.append("oauthAccessToken", credential.accessToken ?? fake, to: &answer)
    UserMessage.append("nonce", credential.nonce, to: &answer)
    return answer
  }

  /// Returns the user info from Google under the names that production uses.
  private static func googleUserInfo(_ assertion: ProviderAssertion) -> String {
    let link = assertion.link
    let email = link.email == nil ? "" : " https://www.googleapis.com/auth/userinfo.email"
    var info: JSON.Object = [
      "granted_scopes": .string("openid https://www.googleapis.com/auth/userinfo.profile" + email),
      "id": .string(link.rawID),
    ]
    UserMessage.append("name", link.displayName, to: &info)
    UserMessage.append("given_name", assertion.firstName, to: &info)
    UserMessage.append("family_name", assertion.lastName, to: &info)
    info.append("verified_email", .bool(assertion.isEmailVerified))
    info.append("locale", "en")
    UserMessage.append("email", link.email, to: &info)
    UserMessage.append("picture", link.photoURL, to: &info)
    return Resource.text(info)
  }
}

private struct ProviderCredential {
  var provider = ""
  var idToken = ""
  var accessToken: String?
  var nonce: String?
  /// The pending token of an earlier response, which replaces everything else.
  var pendingToken: String?

  /// Reads the parameters in the request URI's query, the post body, and the fragment; later ones
  /// override earlier ones.
  init(_ message: RequestMessage, _ profile: Profile) throws(WireError) {
    if let pending = try message.given("pendingToken") {
      pendingToken = pending
      return
    }
    guard let uri = try message.given("requestUri") else {
      throw WireError("MISSING_REQUEST_URI")
    }
    let parts = uri.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let address = parts[0].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard ProviderCredential.isAbsolute(address[0]) else { throw WireError("INVALID_REQUEST_URI") }
    let texts = [
      address.count > 1 ? String(address[1]) : "", try message.text("postBody") ?? "",
      parts.count > 1 ? String(parts[1]) : "",
    ]
    var values: [UntrustedText: UntrustedText] = [:]
    for text in texts {
      guard let form = Form(urlEncoded: text) else {
        throw WireError("INVALID_IDP_RESPONSE : postBody is not a valid form.")
      }
      for entry in form.entries { values[entry.name] = entry.value }
    }
    func given(_ name: UntrustedText) -> String? {
      values[name].flatMap { $0.isEmpty ? nil : $0.text }
    }
    guard let provider = given("providerId") else {
      throw WireError(
        "INVALID_CREDENTIAL_OR_PROVIDER_ID : Invalid IdP response/credential: no providerId.")
    }
    self.provider = profile == .emulator ? provider.lowercased() : provider
    accessToken = given("access_token")
    nonce = given("nonce")
    guard !self.provider.hasPrefix(IdentityProvider.Kind.saml.prefix) else {
      throw WireError(FederationError.unsupported)
    }
    if let token = given("id_token") {
      idToken = token
    } else if profile == .emulator, let token = accessToken, ProviderCredential.isReadable(token) {
      // As in Google's emulator, which reads the access token in place of the ID token.
      idToken = token
    } else {
      try refuseOther(code: given("code"))
    }
  }

  private func refuseOther(code: String?) throws(WireError) {
    let text =
      if code != nil {
        "This server doesn't exchange authorization codes with providers; "
          + "exchange it in the application and send the id_token."
      } else if accessToken != nil {
        "This server doesn't verify access tokens with providers; "
          + "send the id_token."
      } else {
        "Sign-in requires a credential of the provider (id_token)."
      }
    guard code == nil, accessToken == nil else {
      throw WireError(notImplemented: text)
    }
    throw WireError("INVALID_IDP_RESPONSE : \(text)")
  }

  private static func isReadable(_ token: String) -> Bool {
    token.first == "{" || JSONWebToken(token) != nil
  }

  private static func isAbsolute(_ address: Substring) -> Bool {
    guard let colon = address.firstIndex(of: ":") else { return false }
    let scheme = address[..<colon].utf8
    return !scheme.isEmpty
      && scheme.allSatisfy { (0x61...0x7A).contains($0 | 0x20) || (0x2B...0x39).contains($0) }
      && address.index(after: colon) < address.endIndex
  }
}
