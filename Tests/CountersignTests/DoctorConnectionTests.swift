import Identity
import IdentityToolkitClient
import Synchronization
import Testing

@testable import countersign

/// What `countersign doctor` says about connected projects.
struct DoctorConnectionTests {
  /// Projects of another Countersign without users.
  private final class Remote: RemoteTransport {
    private let refuses = Mutex(false)

    func refuse() { refuses.withLock { $0 = true } }

    func send(_ request: RemoteRequest) async throws(RemoteFault) -> RemoteResponse {
      guard !refuses.withLock({ $0 }) else {
        return Self.response(401, #"{"error":{"code":401,"message":"UNAUTHENTICATED"}}"#)
      }
      let call = request.url.prefix { $0 != "?" }.split(separator: "/").last
      let config = #"{"name":"projects/100000000001/config","mfa":{}}"#
      return Self.response(
        200, call == "config" ? config : call == "accounts:query" ? #"{"recordsCount":"0"}"# : "{}")
    }

    private static func response(_ status: Int, _ body: String) -> RemoteResponse {
      RemoteResponse(status: status, body: Array(body.utf8))
    }

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

  private static let line = Caller.program(Author(actor: .commandLine), because: "A test")

  private func connect(_ id: String, _ connections: Connections) async throws {
    let project = try #require(
      RemoteProject(kind: .countersign, id: id, url: "https://remote.example.com"))
    var new = try NewConnection(project, Array("cst_token".utf8), .read)
    try await connections.check(&new)
    _ = try await connections.add(new, by: Self.line)
  }

  @Test func `a paused or failing connection and an old credential are warnings`() async throws {
    try await withFolder { parent in
      let folder = DataFolder(path: "\(parent)/data")
      try #require(await Countersign.run(["init", "--data", folder.path], environment: [:]) == 0)
      let remote = Remote()
      let instance = try await Instance.existing(
        folder, migrates: true, remoteClients: remote.clients)
      let (connections, pools) = (instance.identity.connections, instance.identity.pools)
      for id in ["failing-app", "former-app", "paused-app", "working-app"] {
        try await connect(id, connections)
      }
      _ = try await connections.end(
        try await pools.existing(project: ID("former-app")), by: Self.line)
      _ = try await connections.pause(
        try await pools.existing(project: ID("paused-app")), by: Self.line)
      remote.refuse()
      try await connections.sync(try await connections.find(ID("failing-app"))) { true }
      await instance.database.close()

      func found(inDays days: Int64) async throws -> [String] {
        var doctor = Doctor(
          arguments: try Arguments(["--data", folder.path], options: DoctorCommand.options),
          environment: [:])
        let now = WallClock.system.now().advanced(bySeconds: days * 86_400)
        doctor.now = { now }
        let findings = await doctor.findings().filter { $0.check == .connections }
        #expect(findings.allSatisfy { $0.severity == .warning })
        return findings.map { OperatorText.string($0.message) }
      }
      let now = try await found(inDays: 90)
      try #require(now.count == 2)
      #expect(now[0].hasPrefix("failing-app: ") && now[0].contains("rejects the service token"))
      #expect(now[1] == "paused-app: An administrator paused it. Resume it to read again.")
      let age = "The credential is 91 days old. Replace it."
      #expect(
        try await found(inDays: 91) == [
          now[0], "failing-app: \(age)", now[1], "paused-app: \(age)", "working-app: \(age)",
        ])
    }
  }
}
