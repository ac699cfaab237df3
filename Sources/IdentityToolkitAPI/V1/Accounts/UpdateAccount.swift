import Crypto
import Identity
import JSON
import Text

extension Methods {
  static let update = Declaration(
    "accounts.update", "Updates the user of an ID token, or any user with a service token.",
    query: [
      "updateMask": .text.noted("With mfa.enrollments, the list of second factors is complete.")
    ],
    takes: [
      "idToken": .text, "localId": .text, "oobCode": .text, "email": .text, "password": .text,
      "displayName": .text.orNull, "photoUrl": .text.orNull,
      "deleteAttribute": .list(.choice(AccountChange.attributes)),
      "deleteProvider": .list(.text), "returnSecureToken": .flag, "emailVerified": .flag,
      "phoneNumber": .text, "customAttributes": .text.noted("A JSON object, as text."),
      "disableUser": .flag, "validSince": .int64, "createdAt": .int64, "lastLoginAt": .int64,
      "linkProviderUserInfo": .object,
      "mfa": .named("MfaInfo", ["enrollments": .list(.factor)]).noted(
        """
        Without enrollments, all second factors go; a list is that of the phones, and keeps TOTP \
        unless updateMask says otherwise.
        """),
    ],
    gives: .message(
      [
        "kind": .kind("SetAccountInfoResponse"), "localId": .text, "email": .text,
        "newEmail": .text, "displayName": .text, "photoUrl": .text,
        "providerUserInfo": .list(.provider), "passwordHash": .text, "emailVerified": .flag,
      ], .tokens),
    failing: [429])

  /// `accounts:update` by a client: changes the account of an ID token's user.
  func update(_ call: ClientCall) async throws -> JSON {
    let message = call.message
    if let code = try message.text("oobCode") {
      return try await applyOobCode(code, call)
    }
    let session = try await tokens.session(call)
    let account = try await check(session)
    try Methods.refuseAdministrators(message)
    let change = try AccountChange(shared: message)
    if case .set(let email) = change.email {
      try await check(email: email, of: account, in: session.pool)
    }
    let update = try await self.change(session, change, call)
    var answer = Methods.updateAnswer(update.account)
    if let grant = update.grant {
      try appendTokens(
        grant, to: &answer, withRefreshToken: try message.flag("returnSecureToken") ?? false)
    }
    return .object(answer)
  }

  /// Checks the email address that a user sets themselves.
  ///
  /// With email enumeration protection, an email is changed only with an emailed link.
  func check(email: String, of account: Account, in pool: Pool) async throws {
    guard Account.isEmail(email) else { throw WireError("INVALID_EMAIL") }
    guard !account.hasEmail(email), try await hidesUsers(pool) else { return }
    throw WireError("OPERATION_NOT_ALLOWED : Please verify the new email before changing email.")
  }

  /// `accounts:update` by an administrator: changes any member of any user.
  func updateAccount(_ call: AdminCall) async throws -> JSON {
    let message = call.message
    if let code = try message.text("oobCode") {
      var user = try message.given("localId").map { CodeUser.account(ID($0)) }
      if let token = try message.given("idToken") {
        user = .session(try await tokens.session(token, in: call.pool))
      }
      return try await applyOobCode(code, in: call.pool, of: user, by: call.author)
    }
    guard let id = try message.given("localId") else {
      throw WireError("MISSING_LOCAL_ID")
    }
    var change = try AccountChange(shared: message)
    change.keepsEmailVerified = true
    change.emailVerified = try message.flag("emailVerified")
    change.disabled = try message.flag("disableUser")
    change.validSince = try message.int64("validSince")
    if let number = try message.text("phoneNumber") {
      change.phoneNumber = number.isEmpty ? .clear : .set(Account.phoneNumber(number))
    }
    if let claims = try message.text("customAttributes") {
      change.customAttributes = try CustomClaims.change(claims)
    }
    change.createdAt = try message.int64("createdAt").map(Instant.init(milliseconds:))
    change.lastLoginAt = try message.int64("lastLoginAt").map(Instant.init(milliseconds:))
    change.link = try ProviderLink(linking: try message.message("linkProviderUserInfo"))
    let isComplete = call.request.updateMask?.isSameBytes(as: "mfa.enrollments") ?? false
    change.factors = try factors(message, isComplete: isComplete)
    let account: Account
    do {
      account = try await identity.accounts.update(call.pool, ID(id), change, by: call.author)
    } catch AccountError.passwordRequirements(let missing) {
      throw WireError(missing)
    } catch {
      // As in production, a missing user is reported before errors in the change, except for a
      // password that the policy rejects.
      let isThere = try await identity.accounts.find(call.pool, ID(id)) != nil
      throw isThere ? error : AccountError.notFound
    }
    return .object(Methods.updateAnswer(account))
  }

  private static func refuseAdministrators(_ message: RequestMessage) throws(WireError) {
    guard try !message.has("disableUser") else { throw WireError("OPERATION_NOT_ALLOWED") }
    guard try !message.has("linkProviderUserInfo") else {
      throw WireError(
        "UNEXPECTED_PARAMETER : link_provider_user_info is not allowed with ID token.")
    }
    // `emailVerified` is ignored, as in production.
    for name in ["customAttributes", "mfa", "phoneNumber", "validSince"] {
      guard try !message.has(name) else { throw WireError("INSUFFICIENT_PERMISSION") }
    }
  }

  static func updateAnswer(_ account: Account) -> JSON.Object {
    var answer: JSON.Object = [
      "kind": "identitytoolkit#SetAccountInfoResponse", "localId": .string(account.id.text),
    ]
    UserMessage.append("email", account.email, to: &answer)
    UserMessage.appendProfile(account, to: &answer)
    let providers = UserMessage.providerUserInfo(account)
    if !providers.isEmpty { answer.append("providerUserInfo", .array(providers)) }
    if account.hasPassword { answer.append("passwordHash", UserMessage.redacted) }
    UserMessage.append("emailVerified", UserMessage.emailVerified(account), to: &answer)
    return answer
  }
}

extension AccountChange {
  /// Reads the changes that both users and administrators can make.
  fileprivate init(shared message: RequestMessage) throws(WireError) {
    self.init()
    if let text = try message.text("email") { email = .set(text) }
    if let text = try message.text("password") { password = .set(Secret(text)) }
    // An empty text is stored and returned as such.
    if let text = try message.text("displayName") { displayName = .set(text) }
    if let text = try message.text("photoUrl") { photoURL = .set(text) }
    for attribute in try message.enumerations("deleteAttribute", AccountChange.attributes) {
      switch AccountChange.attributes.values[attribute] {
      case "EMAIL": email = .clear
      case "DISPLAY_NAME": displayName = .clear
      case "PHOTO_URL": photoURL = .clear
      case "PASSWORD": password = .clear
      case "PROVIDER": unlinksAll = true
      default: break
      }
    }
    for provider in try message.texts("deleteProvider") {
      switch provider {
      case "password": password = .clear
      case "phone": phoneNumber = .clear
      default: unlinked.append(provider)
      }
    }
  }

  fileprivate static let attributes = EnumType(
    name: "google.cloud.identitytoolkit.v1.SetAccountInfoRequest.UserAttributeName",
    values: [
      "USER_ATTRIBUTE_NAME_UNSPECIFIED", "EMAIL", "DISPLAY_NAME", "PROVIDER", "PHOTO_URL",
      "PASSWORD", "RAW_USER_INFO",
    ])
}

extension ProviderLink {
  fileprivate init?(linking message: RequestMessage?) throws(WireError) {
    guard let message else { return nil }
    guard let provider = try message.given("providerId"), let rawID = try message.given("rawId")
    else {
      throw WireError(
        "MISSING_IDENTIFIER : providerId & rawId are both required for provider linking")
    }
    self.init(
      provider: provider, rawID: rawID, email: try message.text("email"),
      displayName: try message.text("displayName"), photoURL: try message.text("photoUrl"))
  }
}

extension Methods {
  /// Reads how `mfa` in an administrator's update changes a user's factors.
  ///
  /// Without enrollments, all factors are removed. A list replaces the phones only: TOTP factors
  /// are kept whether or not the list names them, because the Node SDK can't send TOTP entries, and
  /// a list of phones from it must not weaken an account. Who says that the list is complete removes
  /// those that it doesn't name. A new TOTP factor can't be added this way, because the user needs
  /// its secret.
  func factors(
    _ message: RequestMessage, isComplete: Bool
  ) throws(WireError) -> FactorsChange {
    guard let mfa = try mfaMember(message) else { return .keep }
    // A misspelled name would be read as no enrollments and remove all factors.
    try mfa.refuseUnknown(except: ["enrollments"])
    let enrollments = try mfa.messages("enrollments")
    guard enrollments.count <= Accounts.mostEntries else {
      throw WireError(AccountError.tooManyFactors)
    }
    var entries: [FactorEntry] = []
    for enrollment in enrollments {
      let id = try enrollment.given("mfaEnrollmentId")
      let app = try enrollment.message("totpInfo")
      // A secret, or how codes are computed, can't be changed, and mustn't seem to be.
      try app?.refuseUnknown(except: [])
      let number = try enrollment.text("phoneInfo").map(Account.phoneNumber)
      guard id != nil || app != nil || number != nil else {
        throw WireError("INVALID_MFA_PHONE_NUMBER : Invalid format.")
      }
      entries.append(
        FactorEntry(
          id: id, displayName: try enrollment.text("displayName"), phoneNumber: number,
          enrolledAt: try enrollment.timestamp("enrolledAt")))
    }
    return entries.isEmpty ? .clear : .replace(entries, isComplete: isComplete)
  }

  /// Returns the member `mfa`.
  ///
  /// Unlike for other members, `null` clears it, as `{}` does.
  private func mfaMember(_ message: RequestMessage) throws(WireError) -> RequestMessage? {
    if let mfa = try message.message("mfa") { return mfa }
    return message.object.contains { $0.name == "mfa" } ? RequestMessage(path: "mfa") : nil
  }
}
