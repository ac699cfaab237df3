import HTTP
import IdentityToolkitClient
import JSON
import Synchronization
import Text

@testable import Console
@testable import Identity

/// Another Countersign in memory, with one project, whose answers a test changes.
final class RemoteDouble: RemoteTransport {
  struct State: Sendable {
    var number = 4_711
    var tenants: [JSON] = []
    /// The users of the project, by UID; its tenants have none.
    var users: [String: JSON] = [:]
    /// The answers to calls whose addresses contain a text, in place of the usual ones.
    var faults: [String: RemoteResponse] = [:]
    /// Whether answers are held back.
    var isHeld = false
    /// The policy of the project.
    var mfa: JSON = [
      "state": "ENABLED",
      "providerConfigs": [
        ["state": "ENABLED", "totpProviderConfig": ["adjacentIntervals": 3]]
      ],
    ]
    fileprivate(set) var calls: [String] = []
  }

  let state = Mutex(State())

  /// The addresses that were called.
  var calls: [String] { state.withLock(\.calls) }

  func clients(_ clock: FixedClock) -> RemoteClients {
    let times = RemoteClock(now: { clock.now.seconds }, steady: { .zero }, sleep: { _ in })
    return { project, credential, access, namesQuotaProject in
      ToolkitClient(
        project, credential: credential, access: access, transport: self, clock: times,
        namesQuotaProject: namesQuotaProject)
    }
  }

  /// Returns at once if answers are held back, and otherwise after any of them; a change whose answer
  /// was lost is read again at once.
  func patience(_ time: Duration) async {
    if time != Connections.rereadPause, !state.withLock(\.isHeld) {
      try? await Task.sleep(for: .seconds(600))
    }
  }

  func send(_ request: RemoteRequest) async throws(RemoteFault) -> RemoteResponse {
    let state = state.withLock { state in
      state.calls.append(request.url)
      return state
    }
    while self.state.withLock(\.isHeld) { try? await Task.sleep(for: .milliseconds(2)) }
    let fault = state.faults.first { request.url.contains($0.key) }
    if let fault { return fault.value }
    self.state.withLock { Self.change(&$0, request) }
    return RemoteResponse(
      status: 200, body: Self.answer(to: request, state).serialized())
  }

  private static func answer(to request: RemoteRequest, _ state: State) -> JSON {
    let path = request.url.prefix { $0 != "?" }
    let users = path.contains("/tenants/") ? [:] : state.users
    let all = users.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map(\.value)
    switch path.split(separator: "/").last {
    case "config":
      return [
        "name": .string("projects/\(state.number)/config"),
        "mfa": state.mfa,
      ]
    case "tenants": return ["tenants": .array(state.tenants)]
    case "accounts:query": return ["recordsCount": .string("\(all.count)")]
    case "accounts:batchGet": return ["users": .array(all)]
    case "accounts:lookup":
      let asked = (try? JSON.parse(request.body ?? []))?["localId"]?.arrayValue ?? []
      let found = asked.compactMap { $0.textValue.flatMap { users[$0.text] } }
      return ["users": .array(found)]
    default: return [:]
    }
  }

  /// Carries out a write.
  private static func change(_ state: inout State, _ request: RemoteRequest) {
    guard let body = try? JSON.parse(request.body ?? []) else { return }
    if let id = body["localId"]?.textValue?.text,
      request.url.contains("accounts:update"), var user = state.users[id]?.objectValue
    {
      if let kept = body["mfa"]?["enrollments"]?.arrayValue {
        let ids = kept.map { $0["mfaEnrollmentId"] }
        let known = user["mfaInfo"]?.arrayValue ?? []
        user["mfaInfo"] = .array(known.filter { ids.contains($0["mfaEnrollmentId"]) })
      }
      if let isDisabled = body["disableUser"] { user["disabled"] = isDisabled }
      if let time = body["validSince"] { user["validSince"] = time }
      state.users[id] = .object(user)
    }
    if request.method == "PATCH", var mfa = state.mfa.objectValue {
      for member in ["state", "enabledProviders", "providerConfigs"] {
        if let new = body["mfa"]?[member] { mfa[member] = new }
      }
      state.mfa = .object(mfa)
    }
  }

  static func user(
    _ id: String, email: String? = nil, name: String = "Ann", factors: [String] = []
  ) -> JSON {
    [
      "mfaInfo": .array(
        factors.map { name in
          [
            "mfaEnrollmentId": .string("id-of-\(name)"), "displayName": .string(name),
            "enrolledAt": "2026-01-02T03:04:05Z", "totpInfo": [:],
          ]
        }), "localId": .string(id), "email": .string(email ?? "\(id)@example.com"),
      "emailVerified": true,
      "displayName": .string(name), "createdAt": "1700000000000", "validSince": "1700000000",
    ]
  }

  static func fault(_ status: Int, _ message: String) -> RemoteResponse {
    let error: JSON = [
      "error": ["code": .number(JSON.Number(status)), "message": .string(message)]
    ]
    return RemoteResponse(status: status, body: error.serialized())
  }
}

extension World {
  static let remoteApp = ID<Project>("remote-app")
  static let connection = "/projects/remote-app/settings/connection"

  /// Connects the project of the other Countersign, and reads it.
  func connectRemote(
    users count: Int = 3, access: AccessLevel = .read
  ) async throws -> Pool {
    remote.state.withLock { state in
      for number in 0..<count {
        state.users["user-\(100 + number)"] = RemoteDouble.user("user-\(100 + number)")
      }
    }
    guard
      let project = RemoteProject(
        kind: .countersign, id: "remote-app", url: "https://remote.example.com")
    else { throw Missing("a remote project") }
    var new = try NewConnection(project, Array("cst_first".utf8), access)
    try await identity.connections.check(&new)
    _ = try await identity.connections.add(
      new, by: .program(Author(actor: .commandLine), because: "A test"))
    try await readRemote()
    return try await identity.pools.existing(project: Self.remoteApp)
  }

  /// Returns a browser of the policy admin, who has the role in the connected project, too.
  func policyAdmin() async throws -> Browser {
    let tomas = try await identity.administrators.record(email: World.tomas).administrator
    _ = try await identity.administrators.grant(
      Grant(role: .policy, project: World.remoteApp), to: tomas.id,
      by: .program(Author(actor: .commandLine)))
    return try await Browser.signedIn(self, as: World.tomas)
  }

  /// Reads it as the server's task does, some time later.
  func readRemote() async throws {
    clock.advance(seconds: 301)
    _ = try await identity.connections.due()
    let known = try await identity.connections.find(Self.remoteApp)
    try await identity.connections.sync(known) { true }
    _ = try await identity.connections.due()
  }
}
