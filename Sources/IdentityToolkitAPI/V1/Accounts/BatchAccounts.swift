import Crypto
import Identity
import JSON

extension Methods {
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
          "algorithm": .text.noted("hashingAlgorithm, as otpauth URIs call it."),
          "digits": .integer.noted("verificationCodeLength, as otpauth URIs call it."),
          "period": .integer.noted("periodSec, as otpauth URIs call it."),
          "issuer": .text.noted("Ignored."),
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

  static let batchGet = Declaration(
    "accounts.batchGet", "Lists all users by ID, in pages.",
    query: ["maxResults": .integer, "nextPageToken": .text],
    gives: [
      "kind": .kind("DownloadAccountResponse"), "users": .list(.user), "nextPageToken": .text,
    ])

  /// `accounts:batchGet`: returns all users in pages, ordered by ID.
  ///
  /// Password hashes are returned only to tokens with the role `owner`, and each response with
  /// hashes is recorded.
  func batchGet(_ call: AdminCall) async throws -> JSON {
    // Here zero requests an empty page instead of the default size.
    if try call.asksForNone("maxResults") {
      return ["kind": "identitytoolkit#DownloadAccountResponse"]
    }
    let limit = try call.pageSize("maxResults", standard: 20, maximum: 1000)
    let after = try call.parameter("nextPageToken").flatMap { $0.isEmpty ? nil : $0 }
    let page = try await identity.accounts.export(call.pool, after: after, limit: limit)
    if call.holder.readsHashes, page.items.contains(where: { $0.passwordHash != nil }) {
      try await identity.accounts.recordHashDownload(
        of: call.pool, count: page.items.count, by: call.author)
    }
    var answer: JSON.Object = ["kind": "identitytoolkit#DownloadAccountResponse"]
    if !page.items.isEmpty {
      answer.append(
        "users",
        .array(
          page.items.map { item in
            UserMessage.write(item, tenant: call.pool.tenant, hashes: call.holder.readsHashes)
          }))
    }
    UserMessage.append(
      "nextPageToken", page.token(limit: limit) { $0.account.id.text }, to: &answer)
    return .object(answer)
  }
}

extension UserMessage {
  /// Writes a user, with the password hash if allowed.
  ///
  /// Each hash comes with its salt and version 0, which Admin SDKs and the Firebase CLI expect. A hash
  /// of Firebase's own scrypt is written as in production. Any other hash is a text that includes its
  /// parameters, which `accounts:batchCreate` accepts whatever the `hashAlgorithm`, so that it accepts
  /// a page of both with the parameters of Firebase's.
  fileprivate static func write(
    _ item: ExportedAccount, tenant: ID<Tenant>?, hashes: Bool
  ) -> JSON {
    let user = write(item.account, tenant: tenant)
    guard hashes, let hash = item.passwordHash, case .object(var object) = user else {
      return user
    }
    let exported = hash.exported
    object["passwordHash"] = .string(Base64URL.encodePadded(exported.hash))
    object["salt"] = .string(Base64URL.encodePadded(exported.salt))
    object["version"] = 0
    return .object(object)
  }
}

extension Methods {
  static let batchDelete = Declaration(
    "accounts.batchDelete", "Deletes up to 1,000 users.",
    takes: ["localIds": .list(.text).required, "force": .flag],
    gives: [
      "errors": .list([
        "index": .integer.required, "localId": .text.required, "message": .text.required,
      ])
    ])

  /// `accounts:batchDelete`: deletes many users; those that aren't disabled require `force`.
  ///
  /// A missing user is treated as deleted, as SDKs expect.
  func batchDelete(_ call: AdminCall) async throws -> JSON {
    let ids = try call.message.texts("localIds")
    let force = try call.message.flag("force") ?? false
    guard (1...1000).contains(ids.count) else { throw WireError("LOCAL_ID_LIST_EXCEEDS_LIMIT") }
    var errors: [JSON] = []
    for (index, id) in ids.enumerated() {
      guard let reason = try await delete(ID(id), force: force, call) else { continue }
      errors.append([
        "index": .number(JSON.Number(index)), "localId": .string(id), "message": .string(reason),
      ])
    }
    return errors.isEmpty ? [:] : ["errors": .array(errors)]
  }

  private func delete(
    _ id: ID<Account>, force: Bool, _ call: AdminCall
  ) async throws -> String? {
    do {
      try await identity.accounts.delete(
        call.pool, id, onlyIfDisabled: !force, by: call.author)
      return nil
    } catch let error as AccountError {
      switch error {
      case .notFound: return nil
      case .notDisabled, .changesLocked, .factorRemovalByTokenOff, .tooManyFactorChanges:
        return WireError(error).message
      default: throw error
      }
    }
  }
}
