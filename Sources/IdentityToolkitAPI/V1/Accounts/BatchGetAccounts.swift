import Crypto
import Identity
import JSON

extension Declaration {
  static let batchGet = Declaration(
    "accounts.batchGet", "Lists all users by ID, in pages.",
    query: ["maxResults": .integer, "nextPageToken": .text],
    gives: [
      "kind": .kind("DownloadAccountResponse"), "users": .list(.user), "nextPageToken": .text,
    ])
}

extension Methods {
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
  /// A hash of Firebase's own scrypt is written as in production, with its salt and version 0, the
  /// format that the Firebase CLI exports. Any other hash is a text that includes its parameters,
  /// which `accounts:batchCreate` accepts whatever the `hashAlgorithm`, so that it accepts a page of
  /// both with the parameters of Firebase's.
  fileprivate static func write(
    _ item: ExportedAccount, tenant: ID<Tenant>?, hashes: Bool
  ) -> JSON {
    let user = write(item.account, tenant: tenant)
    guard hashes, let hash = item.passwordHash, case .object(var object) = user else {
      return user
    }
    if let firebase = hash.firebaseScrypt {
      object["passwordHash"] = .string(Base64URL.encodePadded(firebase.hash))
      object["salt"] = .string(Base64URL.encodePadded(firebase.salt))
      object["version"] = 0
    } else {
      object["passwordHash"] = .string(Base64URL.encodePadded(Array(hash.encoded.utf8)))
    }
    return .object(object)
  }
}
