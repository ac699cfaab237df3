import Crypto
import Database
import Identity
import IdentityToolkitClient
import JSON
import Synchronization
import Testing
import Text

/// Another Countersign in memory, whose users, tenants, and answers a test changes.
final class TestRemote: RemoteTransport {
  /// A page of users before it's sent.
  struct Page: Sendable {
    var users: [JSON]
    var next: String?
  }

  struct Behavior: Sendable {
    /// The users of each tenant by UID; those of the project under the empty ID.
    var users: [String: [String: JSON.Object]] = ["": [:]]
    var tenants: [String: JSON.Object] = [:]
    var mfa: JSON = ["state": "ENABLED", "providerConfigs": [TestRemote.totp]]
    var allowsTenants = true
    var number = 123_456_789_012
    /// The largest page.
    var pageSize = 1_000
    /// How many users it counts; nil for as many as there are.
    var count: Int?
    /// The responses to calls whose addresses contain a text, in place of the usual ones.
    var faults: [String: RemoteResponse] = [:]
    /// What a test does to each page of users.
    var changePage: (@Sendable (inout Page) -> Void)?
    /// What happens after a call was answered, and before the response arrives.
    var afterward: (@Sendable (String) async throws -> Void)?
  }

  /// Waits only for pages and people, so that lost answers are asked for again at once.
  static let patience: @Sendable (Duration) async -> Void = { time in
    if [Connections.pageWait, .seconds(10)].contains(time) { try? await Task.sleep(for: time) }
  }

  static let totp: JSON = [
    "state": "ENABLED", "totpProviderConfig": ["adjacentIntervals": 3],
  ]

  private struct State {
    var behavior = Behavior()
    var calls: [String] = []
    var writes: [String] = []
    var steady = Duration.seconds(1_000)
  }

  private let state = Mutex(State())

  var behavior: Behavior {
    get { state.withLock(\.behavior) }
    set { state.withLock { $0.behavior = newValue } }
  }

  /// The addresses that were called, from the version on.
  var calls: [String] { state.withLock(\.calls) }

  /// The bodies of the writes that were carried out.
  var writes: [String] {
    get { state.withLock(\.writes) }
    set { state.withLock { $0.writes = newValue } }
  }

  /// What a server is created with; waiting takes no time.
  func clients(_ clock: FixedClock) -> RemoteClients {
    let remoteClock = RemoteClock(
      now: { clock.now.seconds }, steady: { self.state.withLock(\.steady) },
      sleep: { time in self.state.withLock { $0.steady += time } })
    return { project, credential, access, namesQuotaProject in
      ToolkitClient(
        project, credential: credential, access: access, transport: self, clock: remoteClock,
        namesQuotaProject: namesQuotaProject)
    }
  }

  /// Adds a user, or changes one.
  func set(_ user: JSON.Object, in tenant: String = "") {
    guard let id = user["localId"]?.textValue?.text else { return }
    behavior.users[tenant, default: [:]][id] = user
  }

  func remove(_ id: String, from tenant: String = "") { behavior.users[tenant]?[id] = nil }

  func send(_ request: RemoteRequest) async throws(RemoteFault) -> RemoteResponse {
    let address = request.url.split(separator: "/", maxSplits: 2).last.map(String.init) ?? ""
    state.withLock { $0.calls.append(address) }
    let behavior = behavior
    let fault = behavior.faults.first { address.contains($0.key) }?.value
    let response =
      fault ?? change(address, request)
      ?? Self.response(to: address, request.body ?? [], self.behavior)
    do { try await behavior.afterward?(address) } catch {
      throw RemoteFault(.unreachable, "interrupted")
    }
    return response
  }

  /// Carries out a write; nil for a call that reads.
  private func change(_ address: String, _ request: RemoteRequest) -> RemoteResponse? {
    let path = address.split(separator: "?")[0].split(separator: "/").map(String.init)
    let tenant = path.firstIndex(of: "tenants").flatMap { place in
      place + 1 < path.count ? path[place + 1] : nil
    }
    guard let body = try? JSON.parse(request.body ?? []) else { return nil }
    if path.last == "accounts:update" {
      let id = body["localId"]?.textValue?.text ?? ""
      guard var user = behavior.users[tenant ?? ""]?[id] else {
        return .error(400, "USER_NOT_FOUND")
      }
      if let mfa = body["mfa"] {
        let known = user["mfaInfo"]?.arrayValue ?? []
        let kept = mfa["enrollments"]?.arrayValue ?? []
        let ids = kept.map { $0["mfaEnrollmentId"] }
        user["mfaInfo"] = .array(known.filter { ids.contains($0["mfaEnrollmentId"]) })
      }
      if let disabled = body["disableUser"] { user["disabled"] = disabled }
      if let time = body["validSince"] { user["validSince"] = time }
      set(user, in: tenant ?? "")
      writes.append(String(decoding: request.body ?? [], as: UTF8.self))
      return .json(["localId": .string(id)])
    }
    guard request.method == "PATCH" else { return nil }
    writes.append(String(decoding: request.body ?? [], as: UTF8.self))
    let query = String(address.split(separator: "?").last ?? "").replacing("%2C", with: ",")
    let masks = query.dropFirst("updateMask=".count).split(separator: ",")
    let name = tenant == nil ? "mfa" : "mfaConfig"
    var mfa =
      (tenant.map { behavior.tenants[$0]?[name] ?? [:] } ?? behavior.mfa)?.objectValue ?? [:]
    for mask in masks {
      let member = String(mask.split(separator: ".")[1])
      mfa[member] = body[name]?[member]
    }
    guard let tenant else {
      behavior.mfa = .object(mfa)
      return nil
    }
    behavior.tenants[tenant]?[name] = .object(mfa)
    return nil
  }

  private static func response(
    to address: String, _ body: [UInt8], _ behavior: Behavior
  ) -> RemoteResponse {
    let parts = address.split(separator: "?", maxSplits: 1).map(String.init)
    let path = parts[0].split(separator: "/").map(String.init)
    let query = Form(parts.count > 1 ? parts[1] : "")
    let tenant = path.firstIndex(of: "tenants").flatMap { place in
      place + 1 < path.count ? path[place + 1] : nil
    }
    if path.count > 1, path[path.count - 2] == "tenants" {
      return behavior.tenants[path[path.count - 1]].map { .json(.object($0)) }
        ?? .error(404, "TENANT_NOT_FOUND")
    }
    switch path.last {
    case "config":
      return .json([
        "name": .string("projects/\(behavior.number)/config"), "subtype": "IDENTITY_PLATFORM",
        "mfa": behavior.mfa,
      ])
    case "tenants":
      guard behavior.allowsTenants else { return .error(400, "INVALID_PROJECT_ID") }
      let all = behavior.tenants.sorted { $0.key < $1.key }.map { JSON.object($0.value) }
      return .json(["tenants": .array(all)])
    case "accounts:query":
      let count = behavior.count ?? behavior.users[tenant ?? "", default: [:]].count
      return .json(["recordsCount": .string(String(count))])
    case "accounts:lookup":
      let ids = (try? JSON.parse(body))?["localId"]?.arrayValue ?? []
      let found = ids.compactMap { behavior.users[tenant ?? ""]?[$0.textValue?.text ?? ""] }
      return .json(["users": .array(found.map { .object($0) })])
    case "accounts:batchGet":
      if let state = behavior.tenants[tenant ?? ""], state["disableAuth"] == true {
        return .error(400, "TENANT_DISABLED")
      }
      let size = min(Int(query.value("maxResults")) ?? 20, behavior.pageSize)
      let after = query.value("nextPageToken")
      let all = behavior.users[tenant ?? "", default: [:]].sorted { one, other in
        one.key.utf8.lexicographicallyPrecedes(other.key.utf8)
      }
      let rest = all.filter { after.utf8.lexicographicallyPrecedes($0.key.utf8) }
      var page = Page(users: rest.prefix(size).map { .object($0.value) })
      if rest.count > size { page.next = rest[size - 1].key }
      behavior.changePage?(&page)
      var answer: JSON.Object = ["users": .array(page.users)]
      if let next = page.next { answer.append("nextPageToken", .string(next)) }
      return .json(.object(answer))
    default: return .error(404, "NOT_FOUND")
    }
  }

  /// The parameters of a query whose values need no decoding.
  private struct Form {
    private let pairs: [[String]]

    init(_ text: String) {
      pairs = text.split(separator: "&").map { $0.split(separator: "=").map(String.init) }
    }

    func value(_ name: String) -> String {
      pairs.first { $0.first == name }.flatMap { $0.dropFirst().first } ?? ""
    }
  }
}

extension RemoteResponse {
  static func json(_ json: JSON, status: Int = 200) -> RemoteResponse {
    RemoteResponse(status: status, body: json.serialized())
  }

  static func error(_ status: Int, _ message: String) -> RemoteResponse {
    .json(
      ["error": ["code": .number(JSON.Number(status)), "message": .string(message)]],
      status: status)
  }
}

extension TestRemote {
  /// A user with a password, as the API writes one.
  static func user(
    _ id: String, email: String? = nil, totp: Bool = false, phone: String? = nil,
    createdAt: Int64 = 1_700_000_000_000, _ members: [String: JSON] = [:]
  ) -> JSON.Object {
    let email = email ?? "\(id)@example.com"
    var factors: [JSON] = []
    if totp {
      factors.append([
        "mfaEnrollmentId": .string("\(id)-app"), "displayName": "phone",
        "enrolledAt": "2026-01-02T03:04:05.678901Z", "totpInfo": [:],
      ])
    }
    if let phone {
      factors.append([
        "mfaEnrollmentId": .string("\(id)-phone"), "phoneInfo": .string(phone),
        "enrolledAt": "2026-01-02T03:04:06Z",
      ])
    }
    var user: JSON.Object = [
      "localId": .string(id), "email": .string(email), "emailVerified": true,
      "createdAt": .string(String(createdAt)), "lastLoginAt": "1700000100000",
      "validSince": "1700000000",
      "providerUserInfo": [
        ["providerId": "password", "rawId": .string(email), "email": .string(email)]
      ],
    ]
    if !factors.isEmpty { user.append("mfaInfo", .array(factors)) }
    for (name, value) in members { user[name] = value }
    return user
  }

  static func tenant(
    _ id: String, name: String? = nil, isDisabled: Bool = false, intervals: Int? = 3
  ) -> JSON.Object {
    let window: JSON = intervals.map { ["adjacentIntervals": .number(JSON.Number($0))] } ?? [:]
    var tenant: JSON.Object = [
      "name": .string("projects/remote-app/tenants/\(id)"), "displayName": .string(name ?? id),
      "mfaConfig": [
        "state": "ENABLED",
        "providerConfigs": [["state": "ENABLED", "totpProviderConfig": window]],
      ],
    ]
    if isDisabled { tenant.append("disableAuth", true) }
    return tenant
  }
}

extension Instance {
  private static let reason = "The users are there."

  /// An operator with access to the database.
  static let program = Caller.program(Author(actor: .commandLine), because: reason)

  /// What a connection to the other Countersign is made of.
  func newConnection(
    access: AccessLevel = .read, token: String = "cst_first"
  ) async throws -> NewConnection {
    let project = try #require(
      RemoteProject(kind: .countersign, id: "remote-app", url: "https://remote.example.com"))
    var new = try NewConnection(project, Array(token.utf8), access)
    try await identity.connections.check(&new)
    return new
  }

  /// Connects the project of the other Countersign, and returns its own pool.
  func connect(access: AccessLevel = .read) async throws -> Pool {
    let new = try await newConnection(access: access)
    let added = try await identity.connections.add(new, by: Self.program).value
    return try await identity.pools.existing(project: added.project)
  }

  /// Reads everything from the remote, as the server's task does.
  @discardableResult
  func sync(_ pool: Pool) async throws -> ConnectionCause? {
    clock.advance(301)
    return try await identity.connections.sync(try await connection(pool)) { true }
  }

  func connection(_ pool: Pool) async throws -> ProjectConnection {
    try await identity.connections.find(pool.project)
  }

  func mirror(_ pool: Pool) async throws -> MirroredPool {
    try #require(
      try await identity.connections.pools(of: pool.project).first { $0.pool.key == pool.key })
  }

  /// The users of a pool, also those who are gone, by UID.
  func mirrored(_ pool: Pool) async throws -> [Account] {
    let uids = try await database.read { connection in
      try connection.all(
        "SELECT /* test */ uid FROM account WHERE scope_key = \(pool.key) ORDER BY uid"
      ) { try $0.next() as ID<Account> }
    }
    var accounts: [Account] = []
    for uid in uids {
      accounts.append(try #require(try await identity.accounts.find(pool, uid)))
    }
    return accounts
  }
}
