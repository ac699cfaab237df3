import Identity
import JSON

extension Methods {
  static let delete = Declaration(
    "accounts.delete", "Deletes the user of an ID token, or any user with a service token.",
    takes: ["idToken": .text, "localId": .text],
    gives: ["kind": .kind("DeleteAccountResponse")])

  /// `accounts:delete` by a client: deletes the user of an ID token.
  func delete(_ call: ClientCall) async throws -> JSON {
    let session = try await tokens.session(call)
    let id = session.account
    return try await delete(id, in: session.pool, by: call.author(.user(id)), session)
  }

  /// `accounts:delete` by an administrator: deletes any user.
  func deleteAccount(_ call: AdminCall) async throws -> JSON {
    guard let id = try call.message.given("localId") else {
      throw WireError("MISSING_LOCAL_ID")
    }
    return try await delete(ID(id), in: call.pool, by: call.author)
  }

  private func delete(
    _ id: ID<Account>, in pool: Pool, by author: Author, _ session: UserSession? = nil
  ) async throws -> JSON {
    try await identity.accounts.delete(pool, id, by: author, in: session)
    return ["kind": "identitytoolkit#DeleteAccountResponse"]
  }
}
