import Crypto
import HTTP
import Identity
import JSON

extension Methods {
  static let signUp = Declaration(
    "accounts.signUp",
    "Creates an account with email and password or an anonymous one, or links email and password.",
    takes: .message(
      newAccount,
      ["idToken": .text.noted("The ID token of the account to link email and password to.")],
      ["returnSecureToken": .flag], .clientTraits),
    gives: .message(newAccountAnswer, .tokens))

  static let createAccount = Declaration(
    "accounts.create", "Creates an account.", takes: newAccount, gives: newAccountAnswer)

  private static let newAccount: Schema = [
    "localId": .text, "email": .text, "password": .text, "displayName": .text.orNull,
    "photoUrl": .text.orNull, "phoneNumber": .text, "emailVerified": .flag, "disabled": .flag,
    "mfaInfo": .list(["displayName": .text, "phoneInfo": .text]),
  ]

  private static let newAccountAnswer: Schema = [
    "kind": .kind("SignupNewUserResponse"), "localId": .text.required, "email": .text,
    "displayName": .text,
  ]

  /// `accounts:signUp` by a client: creates an account with email and password, or an anonymous one
  /// without both.
  ///
  /// With an ID token, it adds the credentials to that account.
  func signUp(_ call: ClientCall) async throws -> JSON {
    let message = call.message
    guard try message.given("localId") == nil else {
      throw WireError("UNEXPECTED_PARAMETER : User ID")
    }
    if let token = try message.given("idToken") {
      return try await link(token, call)
    }
    let new = try NewAccount(signUp: message)
    let pool = try await pool(of: call)
    let grant = try await identity.signIns.signUp(pool, new, by: call.visitor)
    var answer = Methods.signUpAnswer(grant.account)
    UserMessage.append("displayName", grant.account.displayName, to: &answer)
    try appendTokens(grant, to: &answer)
    return .object(answer)
  }

  private func link(_ token: String, _ call: ClientCall) async throws -> JSON {
    let session = try await tokens.session(token, call)
    let account = try await check(session)
    var change = AccountChange()
    guard let email = try call.message.given("email") else { throw WireError("MISSING_EMAIL") }
    guard let password = try call.message.given("password") else {
      throw WireError("MISSING_PASSWORD")
    }
    // An account's first address doesn't replace one.
    if account.email != nil { try await check(email: email, of: account, in: session.pool) }
    change.email = .set(email)
    change.password = .set(Secret(password))
    change.linksPassword = true
    let update = try await self.change(session, change, call)
    var answer = Methods.signUpAnswer(update.account)
    if let grant = update.grant { try appendTokens(grant, to: &answer) }
    return .object(answer)
  }

  /// `accounts` by an administrator, and `accounts:signUp` with a bearer token: creates an account
  /// and never returns tokens.
  func createAccount(_ call: AdminCall) async throws -> JSON {
    var new = try NewAccount(signUp: call.message)
    new.localID = try call.message.given("localId")
    new.phoneNumber = try call.message.given("phoneNumber").map(Account.phoneNumber)
    new.emailVerified = try call.message.flag("emailVerified") ?? false
    new.disabled = try call.message.flag("disabled") ?? false
    for phone in try call.message.messages("mfaInfo") {
      new.phones.append(
        FactorEntry(
          displayName: try phone.text("displayName"),
          phoneNumber: Account.phoneNumber(try phone.text("phoneInfo") ?? "")))
    }
    let account = try await identity.accounts.create(call.pool, new, by: .program(call.author))
      .value
    var answer = Methods.signUpAnswer(account)
    // Administrators get the member even if there is no email.
    if account.email == nil { answer.append("email", "") }
    return .object(answer)
  }

  /// The web SDK infers from `kind` that the user is new.
  private static func signUpAnswer(_ account: Account) -> JSON.Object {
    var answer: JSON.Object = [
      "kind": "identitytoolkit#SignupNewUserResponse", "localId": .string(account.id.text),
    ]
    UserMessage.append("email", account.email, to: &answer)
    return answer
  }
}

extension NewAccount {
  fileprivate init(signUp message: RequestMessage) throws(WireError) {
    self.init()
    email = try message.given("email")
    password = try message.given("password").map { Secret($0) }
    displayName = try message.given("displayName")
    photoURL = try message.given("photoUrl")
  }
}
