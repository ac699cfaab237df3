import Crypto
import Identity
import JSON

extension Declaration {
  static let batchCreate = Declaration(
    "accounts.batchCreate", "Imports up to 1,000 users, with their password hashes.",
    takes: [
      "users": .list(.importedUser).required,
      "hashAlgorithm": .text.noted(
        "The algorithm of each passwordHash that doesn't state its own parameters."),
      "signerKey": .text, "saltSeparator": .text, "rounds": .integer, "memoryCost": .integer,
      "cpuMemCost": .integer, "parallelization": .integer, "blockSize": .integer,
      "dkLen": .integer, "passwordHashOrder": .choice(HashParameters.orders),
      "argon2Parameters": [
        "hashLengthBytes": .integer, "hashType": .choice(HashParameters.kinds),
        "parallelism": .integer, "iterations": .integer, "memoryCostKib": .integer,
        "version": .choice(HashParameters.versions), "associatedData": .text,
      ],
      "sanityCheck": .flag, "allowOverwrite": .flag,
    ],
    gives: [
      "kind": .kind("UploadAccountResponse"),
      "error": .list(["index": .integer, "message": .text]),
    ])
}

extension Schema {
  fileprivate static let importedUser = named(
    "ImportedUser",
    [
      "localId": .text.required, "email": .text, "emailVerified": .flag, "displayName": .text,
      "photoUrl": .text, "phoneNumber": .text, "passwordHash": .text, "salt": .text,
      "rawPassword": .text, "passwordUpdatedAt": .int64, "validSince": .int64,
      "disabled": .flag, "createdAt": .int64, "lastLoginAt": .int64, "customAttributes": .text,
      "customAuth": .flag, "emailLinkSignin": .flag, "tenantId": .text,
      "providerUserInfo": .list([
        "providerId": .text, "rawId": .text, "email": .text, "displayName": .text,
        "photoUrl": .text,
      ]),
      "mfaInfo": .list([
        "mfaEnrollmentId": .text, "displayName": .text, "enrolledAt": .text, "phoneInfo": .text,
        "totpInfo": [
          "sharedSecretKey": .text.noted(
            "Base32; taken only where the project allows the import of TOTP secrets."),
          "hashingAlgorithm": .text.noted("SHA1, which is also the default."),
          "verificationCodeLength": .integer.noted("6, which is also the default."),
          "periodSec": .integer.noted("30, which is also the default."),
        ],
      ]),
    ])
}

extension Methods {
  /// `accounts:batchCreate`: imports users.
  ///
  /// A row that can't be stored is reported in the response and doesn't affect the others.
  func batchCreate(_ call: AdminCall) async throws -> JSON {
    let message = call.message
    let parameters = try HashParameters(message)
    let algorithm = try PasswordAlgorithm(parameters)
    let reader = UserRow(algorithm: algorithm, profile: identity.profile)
    let users = try message.messages("users")
    guard users.count <= Imports.mostRows else { throw ImportError.tooMany }
    var rows: [ImportRow] = []
    rows.reserveCapacity(users.count)
    for user in users {
      let row = try reader.read(user)
      if case .failure(.hashNotBase64) = row { throw try Methods.notBase64(user) }
      rows.append(row)
    }
    let overwrites = try message.flag("allowOverwrite") ?? false
    var options = ImportOptions(existing: overwrites ? .replace : .refuse)
    options.sanityCheck = try message.flag("sanityCheck") ?? false
    let outcome = try await identity.imports.run(call.pool, rows, options, by: call.author)
    var answer: JSON.Object = ["kind": "identitytoolkit#UploadAccountResponse"]
    if !outcome.refusals.isEmpty {
      answer.append(
        "error",
        .array(
          outcome.refusals.map { refusal in
            [
              "index": .number(JSON.Number(refusal.index)),
              "message": .string(refusal.fault.text),
            ]
          }))
    }
    return .object(answer)
  }
  /// Returns an error that names the member that isn't base64, the hash or the salt; production
  /// calls the hash `password`.
  private static func notBase64(_ user: RequestMessage) throws(WireError) -> WireError {
    for (name, field) in [("passwordHash", "password"), ("salt", "salt")] {
      let text = try user.text(name) ?? ""
      if Base64URL.decode(text) == nil { return .notBase64(text, at: user.field(field)) }
    }
    return .invalidArgument
  }
}
