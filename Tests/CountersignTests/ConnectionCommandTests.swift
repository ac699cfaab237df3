import Foundation
import Identity
import IdentityToolkitClient
import MailText
import Testing

@testable import countersign

/// What the commands about connections refuse, which needs no other server.
struct ConnectionCommandTests {
  private static func run(_ words: String, _ data: String) async -> Int32 {
    await Countersign.run(
      words.split(separator: " ").map(String.init) + ["--data", data], environment: [:])
  }

  @Test func `a project that can't be reached isn't connected, and a hosted one isn't removed`()
    async throws
  {
    try await withFolder { folder in
      let data = "\(folder)/data"
      try #require(await Self.run("init", data) == 0)
      try "cst_0123\n".write(toFile: "\(folder)/token", atomically: true, encoding: .utf8)
      let add =
        "connection add --kind countersign --url https://127.0.0.1:1 --project acme-app "
        + "--access read --credential-file \(folder)/token"
      // A private address that isn't allowed.
      #expect(await Self.run(add, data) == 1)
      #expect(await Self.run("\(add) --json", data) == 1)
      #expect(await Self.run("connection list", data) == 0)
      #expect(await Self.run("connection list --json", data) == 0)
      #expect(await Self.run("connection remove", data) == 64)
      #expect(await Self.run("connection remove --project acme-app", data) == 78)
      #expect(await Self.run("project create acme-app", data) == 0)
      #expect(await Self.run("connection remove --project acme-app", data) == 1)
      let instance = try await Instance.existing(DataFolder(path: data), migrates: false)
      #expect(try await instance.identity.connections.list().isEmpty)
      await instance.database.close()
    }
  }

  @Test func `each reason has a sentence for people, without an apostrophe`() throws {
    let google = try #require(RemoteProject(kind: .identityPlatform, id: "acme-app"))
    let causes: [ConnectionCause] = [
      .administrator, .restored, .moved, .walk, .unreadableCredential,
      .remote(.permissionMissing("firebaseauth.users.get")),
    ]
    let errors: [ConnectionError] = [
      .emulator, .unchecked(nil), .unchecked(RemoteFault(.unreachable)), .connected(ID("acme")),
      .notPurged, .otherProject, .paused, .otherWalk,
    ]
    let texts = causes.map { $0.message(at: google) } + errors.map { $0.message(at: google) }
    let sentences = texts.map(OperatorText.string)
    #expect(Set(sentences).count == sentences.count)
    #expect(sentences.allSatisfy { $0.hasSuffix(".") && !$0.contains { "'’".contains($0) } })
  }
}
