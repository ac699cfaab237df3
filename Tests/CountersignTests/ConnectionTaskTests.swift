import Database
import Identity
import IdentityToolkitClient
import Synchronization
import Testing

@testable import countersign

/// When the server reads connected projects, and what it logs.
struct ConnectionTaskTests {
  /// Projects of another Countersign without tenants, each with one user.
  private final class Remote: RemoteTransport {
    private struct State {
      var calls: [String] = []
      var isHeld = false
      var refuses = false
    }

    private let state = Mutex(State())

    /// Whether lists of users have to wait.
    var isHeld: Bool {
      get { state.withLock(\.isHeld) }
      set { state.withLock { $0.isHeld = newValue } }
    }

    /// Whether it answers only with an error.
    var refuses: Bool {
      get { state.withLock(\.refuses) }
      set { state.withLock { $0.refuses = newValue } }
    }

    /// Returns how often a call was made for a project.
    func count(_ call: String, _ project: String) -> Int {
      state.withLock { $0.calls.count { $0.hasSuffix("/\(project)/\(call)") } }
    }

    func send(_ request: RemoteRequest) async throws(RemoteFault) -> RemoteResponse {
      let address = request.url.split(separator: "?")[0]
      state.withLock { $0.calls.append(String(address)) }
      if refuses { return Self.response(403, #"{"error":{"code":403,"message":"Not now"}}"#) }
      switch address.split(separator: "/").last {
      case "config":
        return Self.response(200, #"{"name":"projects/100000000001/config","mfa":{}}"#)
      case "accounts:query": return Self.response(200, #"{"recordsCount":"1"}"#)
      case "accounts:batchGet":
        while isHeld, !Task.isCancelled { _ = try? await Task.sleep(for: .milliseconds(2)) }
        if Task.isCancelled { throw RemoteFault(.unreachable, "canceled") }
        return Self.response(200, #"{"users":[{"localId":"anna","createdAt":"1700000000000"}]}"#)
      default: return Self.response(200, "{}")
      }
    }

    private static func response(_ status: Int, _ body: String) -> RemoteResponse {
      RemoteResponse(status: status, body: Array(body.utf8))
    }

    /// Clients that don't wait for their turn.
    var clients: RemoteClients {
      { project, credential, access, namesQuotaProject in
        ToolkitClient(
          project, credential: credential, access: access, transport: self,
          clock: RemoteClock(
            now: { WallClock.system.now().seconds }, steady: WallClock.sinceBoot, sleep: { _ in }),
          namesQuotaProject: namesQuotaProject)
      }
    }
  }

  private let remote = Remote()
  private let lines = Lines()

  private final class Lines: Sendable {
    private let kept = Mutex<[String]>([])
    func add(_ line: String) { kept.withLock { $0.append(line) } }
    func has(_ text: String) -> Bool { kept.withLock { $0.contains { $0.contains(text) } } }
  }

  private func withTask(_ body: (Instance, ConnectionTask) async throws -> Void) async throws {
    try await withFolder { parent in
      let folder = DataFolder(path: "\(parent)/data")
      try #require(await Countersign.run(["init", "--data", folder.path], environment: [:]) == 0)
      let instance = try await Instance.existing(
        folder, migrates: true, remoteClients: remote.clients)
      let log = Log(
        .json,
        write: { [lines] line, _ in
          lines.add(line)
          return true
        })
      let task = ConnectionTask(instance.identity, log: log)
      try await body(instance, task)
      await task.stop()
      await instance.database.close()
    }
  }

  private func connect(_ id: String, _ instance: Instance) async throws -> ID<Project> {
    let project = try #require(
      RemoteProject(kind: .countersign, id: id, url: "https://remote.example.com"))
    var new = try NewConnection(project, Array("cst_token".utf8), .read)
    try await instance.identity.connections.check(&new)
    return try await instance.identity.connections.add(
      new, by: .program(Author(actor: .commandLine))
    ).value.project
  }

  /// Looks for what's due until a condition is met.
  private func look(
    _ task: ConnectionTask, until condition: () async throws -> Bool
  ) async throws -> Bool {
    for _ in 0..<2_000 {
      try await task.look()
      if try await condition() { return true }
      try await Task.sleep(for: .milliseconds(5))
    }
    return false
  }

  @Test func `a project is read once it's due; that it can't be read is logged, with the reason`()
    async throws
  {
    try await withTask { instance, task in
      let connections = instance.identity.connections
      let project = try await connect("remote-app", instance)
      #expect(try await look(task) { try await connections.readAt()[project] != nil })
      let pool = try await instance.identity.pools.existing(project: project)
      #expect(try await instance.identity.accounts.count(pool) == 1)
      #expect(try await look(task) { try await connections.due().isEmpty })
      let lists = remote.count("accounts:batchGet", "remote-app")

      remote.refuses = true
      let caller = Caller.program(Author(actor: .commandLine))
      _ = try await connections.sync(pool, by: caller)
      #expect(try await look(task) { lines.has(#""event":"connection.failed""#) })
      #expect(lines.has(#""detail":"Not now""#) && lines.has(#""project":"remote-app""#))
      #expect(try await connections.find(project).state == .failing)

      remote.refuses = false
      _ = try await connections.sync(pool, by: caller)
      #expect(try await look(task) { lines.has(#""event":"connection.restored""#) })
      #expect(try await connections.find(project).state == .working)
      #expect(remote.count("accounts:batchGet", "remote-app") > lists)
    }
  }

  @Test func `four projects are read at a time, and the policies of each also meanwhile`()
    async throws
  {
    try await withTask { instance, task in
      let ids = (1...5).map { "remote-\($0)" }
      for id in ids { _ = try await connect(id, instance) }
      remote.isHeld = true
      // The checks listed users, too.
      let before = ids.map { remote.count("accounts:batchGet", $0) }
      func areListed(_ count: Int) -> Bool {
        zip(ids, before).count { remote.count("accounts:batchGet", $0) > $1 } == count
      }
      #expect(try await look(task) { areListed(4) })
      let policies = remote.count("config", "remote-1")
      for _ in 0..<5 { try await task.look() }
      #expect(areListed(4) && remote.count("config", "remote-1") == policies)
      try await instance.database.write { connection in
        _ = try connection.run("UPDATE /* test */ connection SET policies_at = 1")
      }
      #expect(try await look(task) { remote.count("config", "remote-1") > policies })
      #expect(areListed(4))
      remote.isHeld = false
      let connections = instance.identity.connections
      #expect(try await look(task) { try await connections.readAt().count == 5 })
    }
  }

  @Test func `a read that the server's stop ends is no failure, and goes on later`() async throws {
    try await withTask { instance, task in
      let project = try await connect("remote-app", instance)
      remote.isHeld = true
      let before = remote.count("accounts:batchGet", "remote-app")
      #expect(try await look(task) { remote.count("accounts:batchGet", "remote-app") > before })
      await task.stop()
      let connections = instance.identity.connections
      #expect(try await connections.find(project).state == .working)
      #expect(!lines.has("connection.failed") && !lines.has("task.failed"))
      #expect(try await connections.due().count == 1)
    }
  }
}
