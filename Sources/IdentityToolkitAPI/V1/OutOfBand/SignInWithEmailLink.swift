import Identity
import JSON

extension Declaration {
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
}

extension Methods {
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
}
