import Crypto
import HTTP
import Identity
import JSON

extension Methods {
  static let signInWithPassword = Declaration(
    "accounts.signInWithPassword",
    "Signs in with email and password, or requires the second factor.",
    takes: .message(
      [
        "email": .text.required, "password": .text.required, "returnSecureToken": .flag,
      ], .clientTraits),
    gives: .message(
      [
        "kind": .kind("VerifyPasswordResponse"), "localId": .text.required,
        "email": .text.required, "displayName": .text.required, "registered": .flag.required,
        "profilePicture": .text,
        "userNotifications": .list([
          "notificationCode": .text.required, "notificationMessage": .text.required,
        ]).noted("What the password lacks under a password policy that doesn't refuse it."),
      ], .tokens, .secondFactorDue))

  /// `accounts:signInWithPassword`: returns tokens, or a pending credential for the second factor.
  func signInWithPassword(_ call: ClientCall) async throws -> JSON {
    guard let email = try call.message.text("email") else {
      throw WireError("MISSING_EMAIL")
    }
    guard !email.isEmpty else { throw WireError("INVALID_EMAIL") }
    guard let password = try call.message.given("password") else {
      throw WireError("MISSING_PASSWORD")
    }
    let pool = try await pool(of: call)
    let outcome: SignInOutcome
    do {
      outcome = try await identity.signIns.password(
        pool, email: email, password: Secret(password), address: call.address)
    } catch let error as SignInError {
      throw WireError(error, hidingUsers: try await hidesUsers(pool))
    }
    switch outcome {
    case .signedIn(let grant):
      var answer = Methods.signInAnswer(grant.account)
      try appendTokens(grant, to: &answer)
      let notifications = grant.unmetRequirements.compactMap(PasswordPolicyMessage.notification)
      if !notifications.isEmpty { answer.append("userNotifications", .array(notifications)) }
      return .object(answer)
    case .secondFactorDue(let account, let pendingCredential, let factors):
      // Without tokens and `expiresIn`: the web SDK asks for the second factor if it finds a
      // pending credential and no ID token.
      var answer = Methods.signInAnswer(account)
      answer.append("mfaPendingCredential", .string(pendingCredential))
      answer.append("mfaInfo", UserMessage.mfaInfo(factors))
      return .object(answer)
    case .enrollmentRequired: throw WireError.enrollmentRequired
    }
  }

  private static func signInAnswer(_ account: Account) -> JSON.Object {
    var answer: JSON.Object = [
      "kind": "identitytoolkit#VerifyPasswordResponse", "localId": .string(account.id.text),
      "email": .string(account.email ?? ""), "displayName": .string(account.displayName ?? ""),
      "registered": true,
    ]
    UserMessage.append("profilePicture", account.photoURL, to: &answer)
    return answer
  }

  static let signInWithCustomToken = Declaration(
    "accounts.signInWithCustomToken",
    "Signs in with a custom token from the project's backend.",
    takes: ["token": .text.required, "returnSecureToken": .flag],
    gives: .message(
      ["kind": .kind("VerifyCustomTokenResponse"), "isNewUser": .flag.required], .tokens))

  /// `accounts:signInWithCustomToken`: returns tokens; a second factor is never required.
  func signInWithCustomToken(_ call: ClientCall) async throws -> JSON {
    // An empty token is an invalid one, as in production.
    guard let token = try call.message.text("token") else {
      throw WireError("MISSING_CUSTOM_TOKEN")
    }
    let pool = try await pool(of: call)
    let result = try await identity.customTokens.signIn(pool, token: token, by: call.visitor)
    // The response contains no uid and no email, because clients read both from the token.
    var answer: JSON.Object = [
      "kind": "identitytoolkit#VerifyCustomTokenResponse", "isNewUser": .bool(result.isNewUser),
    ]
    try appendTokens(result.grant, to: &answer)
    return .object(answer)
  }

  static let signInWithGameCenter = Declaration(
    "accounts.signInWithGameCenter", "Not supported: Game Center requires Apple's keys.",
    takes: .object, gives: .object, failing: [501])

  /// `accounts:signInWithGameCenter`: not supported, as in Google's emulator.
  func signInWithGameCenter(_ call: ClientCall) async throws -> JSON {
    throw WireError(
      "NOT_IMPLEMENTED : Signing in with Game Center is not supported.",
      status: .notImplemented, reason: "notImplemented", isFrontEnd: true)
  }
}
