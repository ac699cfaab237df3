import Identity
import OTP
import Testing

@testable import TestIdentity

struct ProjectTests {
  @Test(
    arguments: ["abcdef", "a-b-c-1", "demo-project", "a12345", "abcdefghijklmnopqrstuvwxyz1234"])
  func `an ID of 6 to 30 letters, digits, and hyphens is accepted`(id: String) async throws {
    try await withInstance { instance in
      let project = try await instance.identity.pools.createProject(
        id: id, displayName: "A name", by: .program(Instance.boss)
      ).value
      #expect(project.pool.project.text == id)
      #expect(project.displayName == "A name")
      #expect(project.createdAt == instance.now)
      #expect((100_000_000_000...999_999_999_999).contains(project.pool.projectNumber))
      #expect(
        try await instance.identity.pools.existingSettings(project: ID(id)).pool == project.pool)
    }
  }

  @Test(
    arguments: [
      "", "abcde", "abcdefghijklmnopqrstuvwxyz12345", "1abcde", "-abcde", "abcde-", "Abcdef",
      "abc_def", "abc def", "abcdéf", "abc.def", "abcdef\n", "abc\u{0}def", "ａｂｃｄｅｆ",
    ])
  func `any other ID is refused`(id: String) async throws {
    try await withInstance { instance in
      await expect("invalidProjectID") {
        try await instance.identity.pools.createProject(
          id: id, displayName: "x", by: .program(Instance.boss))
      }
    }
  }

  @Test(arguments: ["  ", "\n", "\u{200B}", "a\u{7}b", String(repeating: "x", count: 101)])
  func `a name that is blank, has control characters, or is over 100 characters is refused`(
    name: String
  ) async throws {
    try await withInstance { instance in
      await expect("invalidProjectName") {
        try await instance.identity.pools.createProject(
          id: "some-project", displayName: name, by: .program(Instance.boss))
      }
    }
  }

  @Test func `exactly one of many concurrent creations of an ID succeeds`() async throws {
    try await withInstance { instance in
      let outcomes = try await concurrently(16) { _ in
        await outcome {
          try await instance.identity.pools.createProject(
            id: "wanted", displayName: "", by: .program(Instance.boss))
        }
      }
      #expect(outcomes.tally == ["done": 1, "projectIDTaken": 15])
      #expect(try await instance.identity.apiKeys.list(ID("wanted")).count == 1)
    }
  }

  @Test func `a new project has all second factors off, and one API key`()
    async throws
  {
    try await withInstance { instance in
      let project = try await instance.identity.pools.createProject(
        id: "new-project", displayName: "", by: .program(Instance.boss)
      ).value
      #expect(project.displayName == "new-project")
      #expect(project.policy.configuration == .initial)
      #expect(!project.policy.configuration.isTOTPOn)
      #expect(project.policy.version == 0)
      #expect(project.policy.changedAt == nil)
      #expect(project.hidesUsers)
      let methods = SignInMethods(password: true, emailLink: false, anonymous: false)
      #expect(project.signIn == methods)
      #expect(try await instance.identity.apiKeys.list(project.pool.project).count == 1)
    }
  }

  @Test func `an unknown project isn't found`() async throws {
    try await withInstance { instance in
      let pools = instance.identity.pools
      await expect("projectNotFound") { try await pools.existingSettings(project: ID("nothing")) }
      await expect("projectNotFound") { try await pools.existingSettings(project: ID("ACME-APP")) }
      await expect("projectNotFound") {
        try await pools.update(project: ID("nothing"), by: .program(Instance.boss)) { _ in }
      }
    }
  }

  @Test func `a change writes one audit row for the project and one for its policy`() async throws {
    try await withInstance { instance in
      let project = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Author(actor: .commandLine))
      ) { edit in
        edit.displayName = "Acme Inc."
        edit.project?.authorizedDomains = ["acme.example", "localhost"]
        edit.configuration.totp?.adjacentIntervals = 1
      }.value
      #expect(project.displayName == "Acme Inc.")
      #expect(project.project?.authorizedDomains == ["acme.example", "localhost"])
      #expect(project.policy.configuration.window.adjacentIntervals == 1)
      let rows = try await instance.log().prefix(2)
      #expect(rows.map(\.action) == [.policyChange, .projectChange])
      #expect(rows.last?.fields == [.displayName, .authorizedDomains])
      #expect(
        rows.last?.new(.authorizedDomains) == .list(["acme.example", "localhost"]))
      #expect(rows.first?.new(.adjacentIntervals) == .number(1))
    }
  }

  @Test func `a change without effect writes nothing`() async throws {
    try await withInstance { instance in
      let before = try await instance.wholeLog().count
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) { edit in edit.displayName = "Acme" }
      #expect(try await instance.wholeLog().count == before)
    }
  }

  @Test func `a change with an invalid policy changes nothing at all`() async throws {
    try await withInstance { instance in
      let before = try await instance.wholeLog().count
      await expect("policy.invalidAdjacentIntervals") {
        try await instance.identity.pools.update(
          project: instance.acme.project, by: .program(Instance.boss)
        ) { edit in
          edit.displayName = "Changed"
          edit.configuration.totp = TOTPConfiguration(state: .enabled, adjacentIntervals: 11)
        }
      }
      let project = try await instance.identity.pools.existingSettings(
        project: instance.acme.project)
      #expect(project.displayName == "Acme")
      #expect(try await instance.wholeLog().count == before)
    }
  }

  @Test func `a name that only looks the same is a change, with its own audit row`() async throws {
    try await withInstance { instance in
      let pools = instance.identity.pools
      for name in ["Caf\u{E9}", "Cafe\u{301}"] {
        let project = try await pools.update(
          project: instance.acme.project, by: .program(Instance.boss)
        ) {
          edit in
          edit.displayName = name
        }.value
        #expect(Array(project.displayName.utf8) == Array(name.utf8))
      }
      #expect(try await instance.log().prefix(2).map(\.action).tally == [.projectChange: 2])
    }
  }
}
