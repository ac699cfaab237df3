import HTTP
import Identity
import JSON

extension Declaration {
  static let listTenants = Declaration(
    "projects.tenants.list", "Lists a project's tenants by ID, in pages.",
    query: ["pageSize": .integer, "pageToken": .text],
    gives: ["tenants": .list(.tenant), "nextPageToken": .text], failing: [404])
}

extension Methods {
  /// `GET projects/{p}/tenants`: lists the tenants in pages, ordered by ID.
  func listTenants(_ call: AdminCall) async throws -> JSON {
    let limit = try call.request.pageSize("pageSize", standard: 20, maximum: 1000)
    let after = call.request.parameter("pageToken").flatMap { $0.isEmpty ? nil : $0 }
    let page = try await identity.pools.tenants(
      project: call.pool.project, after: after, limit: limit)
    var answer = JSON.Object()
    if !page.items.isEmpty {
      answer.append("tenants", .array(page.items.map { TenantMessage.write($0, for: call.holder) }))
    }
    UserMessage.append(
      "nextPageToken", page.token(limit: limit) { $0.pool.objectID }, to: &answer)
    return .object(answer)
  }
}

extension Page {
  /// Returns the token of the next page: a full page has one, even if it's the last, as in Google's
  /// emulator.
  func token(limit: Int, of key: (Element) -> String) -> String? {
    items.count == limit ? items.last.map(key) : nil
  }
}

extension Request {
  /// Returns the page size.
  ///
  /// Absent and zero mean the default; negative and too large values mean the maximum.
  func pageSize(_ name: String, standard: Int, maximum: Int) throws(WireError) -> Int {
    guard let text = parameter(name), !text.isEmpty else { return standard }
    guard let size = Int32(text) else {
      throw .invalidValue(at: Names.snake(name), type: "TYPE_INT32", .string(text))
    }
    guard size != 0 else { return standard }
    return size > 0 ? min(Int(size), maximum) : maximum
  }
}
