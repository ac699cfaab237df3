import JSON
import Text

/// A part of a list.
public struct RemotePage<Item: Sendable>: Sendable {
  package let items: [Item]
  /// What asks for the next part; nil at the end.
  package let next: String?
  /// The size that was asked for: less than wanted if the response would have been too large.
  package let size: Int
}

/// Calls that read; they throw ``RemoteFault``.
extension ToolkitClient {
  /// The size of the largest page.
  public static let largestPage = 1_000
  private static let mostPages = 100
  private static let longestToken = 1_024
  private static let usersPermission = "firebaseauth.users.get"

  func path(_ version: String, _ tenant: String?, _ name: String) -> String {
    let tenant = tenant.map { "/tenants/\(URIComponent.encode($0))" } ?? ""
    return "/\(version)/projects/\(project.id)\(tenant)/\(name)"
  }

  /// Returns the configuration of the project.
  public func config(for purpose: RemotePurpose) async throws(RemoteFault) -> RemoteConfig {
    let call = RemoteCall(
      path: path("v2", nil, "config"), fields: RemoteConfig.fields,
      permission: "firebaseauth.configs.get")
    return RemoteConfig(try await send(call, for: purpose).body)
  }

  func tenantPath(_ tenant: String) -> String {
    "/v2/projects/\(project.id)/tenants/\(URIComponent.encode(tenant))"
  }

  /// Returns a tenant.
  package func tenant(
    _ id: String, for purpose: RemotePurpose
  ) async throws(RemoteFault) -> RemoteTenant {
    let call = RemoteCall(
      path: tenantPath(id), fields: RemoteTenant.members,
      permission: "identitytoolkit.tenants.get")
    guard let tenant = RemoteTenant(try await send(call, for: purpose).body) else {
      throw RemoteFault(.unreadable)
    }
    return tenant
  }

  /// Returns all tenants of the project, at most 100,000.
  public func tenants(for purpose: RemotePurpose) async throws(RemoteFault) -> [RemoteTenant] {
    let call = RemoteCall(
      path: path("v2", nil, "tenants"), fields: RemoteTenant.fields,
      permission: "identitytoolkit.tenants.list")
    var (tenants, token, size) = ([RemoteTenant](), String?.none, Self.largestPage)
    // A remote that repeats its pages has no end.
    for _ in 0..<Self.mostPages {
      let page = try await part(call, "tenants", ("pageSize", size), ("pageToken", token), purpose)
      let read = page.items.compactMap { RemoteTenant($0) }
      guard read.count == page.items.count else { throw RemoteFault(.unreadable) }
      tenants += read
      guard let next = page.next else { return tenants }
      (token, size) = (next, page.size)
    }
    throw RemoteFault(.unreadable)
  }

  /// Returns a page of the users of a tenant, or of the project's own, ordered by the bytes of their
  /// UIDs, after the page whose ``RemotePage/next`` is given.
  ///
  /// A page of more than 16 MiB is asked for again with half its size, which is 1–1,000.
  public func users(
    of tenant: String?, after token: String?, size: Int = ToolkitClient.largestPage,
    for purpose: RemotePurpose
  ) async throws(RemoteFault) -> RemotePage<RemoteUser> {
    let call = RemoteCall(
      path: path("v1", tenant, "accounts:batchGet"),
      fields: "users(\(RemoteUser.fields)),nextPageToken", permission: Self.usersPermission)
    let page = try await part(
      call, "users", ("maxResults", size), ("nextPageToken", token), purpose)
    return RemotePage(items: page.items.map { RemoteUser($0) }, next: page.next, size: page.size)
  }

  /// Returns the user with a UID; nil if there's none.
  public func user(
    _ id: String, of tenant: String?, for purpose: RemotePurpose
  ) async throws(RemoteFault) -> RemoteUser? {
    try await datedUser(id, of: tenant, for: purpose).user
  }

  /// Returns the same, and when the remote answered by its clock, in seconds since 1970; by this
  /// server's if it doesn't say.
  package func datedUser(
    _ id: String, of tenant: String?, for purpose: RemotePurpose
  ) async throws(RemoteFault) -> (user: RemoteUser?, date: Int64) {
    let call = RemoteCall(
      path: path("v1", tenant, "accounts:lookup"), fields: "users(\(RemoteUser.fields))",
      body: ["localId": [.string(id)]], permission: Self.usersPermission)
    let (body, date) = try await send(call, for: purpose)
    let users = try body.elements("users").map { RemoteUser($0) }
    return (users.first { $0.id.isSameBytes(as: id) }, date ?? clock.now())
  }

  /// Returns the number of users of a tenant, or of the project's own.
  public func userCount(
    of tenant: String?, for purpose: RemotePurpose
  ) async throws(RemoteFault) -> Int {
    let call = RemoteCall(
      path: path("v1", tenant, "accounts:query"), body: ["returnUserInfo": false],
      permission: Self.usersPermission)
    let answer = try await send(call, for: purpose).body
    // A sum of some counts doesn't overflow.
    guard let count = answer["recordsCount"]?.integer, (0...Int64(Int32.max)).contains(count) else {
      throw RemoteFault(.unreadable)
    }
    return Int(count)
  }

  /// Asks for a page of the list that a member has, and again for half of it while it's too large.
  private func part(
    _ call: RemoteCall, _ list: String, _ size: (name: String, value: Int),
    _ token: (name: String, value: String?), _ purpose: RemotePurpose
  ) async throws(RemoteFault) -> RemotePage<JSON> {
    var (call, limit) = (call, size.value)
    while true {
      call.query = [(size.name, "\(limit)")]
      if let text = token.value { call.query.append((token.name, text)) }
      do throws(RemoteFault) {
        let answer = try await send(call, for: purpose).body
        let next = answer.filled("nextPageToken")
        guard (next?.utf8.count ?? 0) <= Self.longestToken else { throw RemoteFault(.unreadable) }
        return RemotePage(items: try answer.elements(list), next: next, size: limit)
      } catch {
        guard error.cause == .tooLarge, limit > 1 else { throw error }
        limit /= 2
      }
    }
  }
}

extension JSON {
  /// Returns the objects of a list, which is missing if it's empty.
  fileprivate func elements(_ name: String) throws(RemoteFault) -> [JSON] {
    guard let list = self[name] else { return [] }
    guard let elements = list.arrayValue, elements.allSatisfy({ $0.objectValue != nil }) else {
      throw RemoteFault(.unreadable)
    }
    return elements
  }
}
