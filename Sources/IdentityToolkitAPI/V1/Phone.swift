import Identity
import JSON

extension Methods {
  static let sendVerificationCode = Declaration(
    "accounts.sendVerificationCode", "Sends a phone sign-in code by SMS.",
    takes: .phoneNumber, gives: ["sessionInfo": .text.required])

  /// `accounts:sendVerificationCode`: sends a phone sign-in code.
  func sendVerificationCode(_ call: ClientCall) async throws -> JSON {
    let pool = try await pool(of: call)
    let request = try PhoneRequest(call.message, call)
    return ["sessionInfo": .string(try await identity.signIns.sendCode(pool, request))]
  }

  static let signInWithPhoneNumber = Declaration(
    "accounts.signInWithPhoneNumber",
    "Signs in with a code sent to a phone number, or links the number to an account.",
    takes: .message(
      .phoneProof,
      [
        "idToken": .text.noted("The ID token of the account to link the number to."),
        "operation": .choice(Methods.phoneOperations),
        "verificationProof": .text, "returnSecureToken": .flag,
      ]),
    gives: .message(
      [
        "localId": .text, "phoneNumber": .text, "isNewUser": .flag, "temporaryProof": .text,
        "temporaryProofExpiresIn": .int64,
      ], .tokens))

  static let phoneOperations = EnumType(
    name: "google.cloud.identitytoolkit.v1.VerifyOp",
    values: ["VERIFY_OP_UNSPECIFIED", "SIGN_UP_OR_IN", "REAUTH", "UPDATE", "LINK"])

  /// `accounts:signInWithPhoneNumber`: signs in with a phone number.
  ///
  /// If the number belongs to another account than that of the ID token, the response contains a
  /// temporary proof in place of tokens, with which the client can sign in to that account.
  func signInWithPhoneNumber(_ call: ClientCall) async throws -> JSON {
    let proof = try PhoneProof(call.message)
    let operation = try call.message.enumeration("operation", Methods.phoneOperations) ?? 0
    let (pool, purpose) = try await phonePurpose(Methods.phoneOperations.values[operation], call)
    let outcome = try await identity.signIns.phone(
      pool, PhoneSignIn(proof: proof, purpose: purpose), by: call.visitor)
    switch outcome {
    case .signedIn(let grant, let isNew):
      var answer: JSON.Object = ["localId": .string(grant.account.id.text)]
      UserMessage.append("phoneNumber", grant.account.phoneNumber, to: &answer)
      answer.append("isNewUser", .bool(isNew))
      try appendTokens(grant, to: &answer)
      return .object(answer)
    case .taken(let number, let temporaryProof):
      return [
        "phoneNumber": .string(number), "temporaryProof": .string(temporaryProof),
        "temporaryProofExpiresIn": .string(String(PhoneProof.temporaryLifetime)),
      ]
    }
  }

  /// Returns the purpose of the proof: with an ID token, the number is linked to that account,
  /// unless the user is reauthenticating.
  private func phonePurpose(
    _ operation: String, _ call: ClientCall
  ) async throws -> (Pool, PhoneSignIn.Purpose) {
    let token = try call.message.given("idToken")
    guard operation != "REAUTH" else { return (try await pool(of: call), .signInAgain) }
    if let token {
      let session = try await tokens.session(token, call)
      return (session.pool, .link(session))
    }
    guard operation != "UPDATE", operation != "LINK" else { throw WireError("MISSING_ID_TOKEN") }
    return (try await pool(of: call), .signIn)
  }

  static let verifyIosClient = Declaration(
    "accounts.verifyIosClient",
    "Returns a receipt for an iOS app; apps aren't verified with push notifications.",
    takes: ["appToken": .text, "isSandbox": .flag],
    gives: ["receipt": .text.required, "suggestedTimeout": .int64.required])

  /// `accounts:verifyIosClient`, which the iOS SDK calls before it requests a text message.
  ///
  /// No notification is sent, so the SDK waits in vain as long as it's told, and continues with the
  /// receipt, which isn't checked.
  func verifyIosClient(_ call: ClientCall) async throws -> JSON {
    ["receipt": "not-checked", "suggestedTimeout": "1"]
  }
}
