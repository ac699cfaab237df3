import Identity
import JSON

extension Declaration {
  static let batchGet = Declaration(
    "accounts.batchGet", "Reads all users by id, a page at a time.",
    query: ["maxResults": .integer, "nextPageToken": .text],
    gives: [
      "kind": .kind("DownloadAccountResponse"), "users": .list(.user), "nextPageToken": .text,
    ])
}

extension Methods {
  /// `accounts:batchGet`: all users by id, a page at a time.
  func batchGet(_ call: AdminCall) async throws(WireError) -> JSON {
    let limit = try call.pageSize("maxResults", standard: 20, maximum: 1000)
    let after = try call.parameter("nextPageToken").flatMap { $0.isEmpty ? nil : $0 }
    let page: Page<Account>
    do throws(AccountError) {
      page = try await identity.accounts.batch(call.scope, after: after, limit: limit)
    } catch {
      throw WireError(error)
    }
    var answer: JSON.Object = ["kind": "identitytoolkit#DownloadAccountResponse"]
    if !page.items.isEmpty {
      answer.append(
        "users", .array(page.items.map { UserMessage.write($0, tenant: call.scope.tenant) }))
    }
    UserMessage.append("nextPageToken", page.next, to: &answer)
    return .object(answer)
  }
}
