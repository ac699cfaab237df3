import Database
import HTTP
import Identity
import OTP
import Testing

@testable import Console

/// Every page and file that lists users: each leaves the number of them.
@Suite struct ShownUsersTests {
  private func counted(_ world: World) async throws -> Int {
    try await world.database.read { connection in
      try connection.first(
        "SELECT /* test */ coalesce(sum(failures), 0) FROM throttle WHERE name LIKE 'shown %'"
      ) { try $0.next() } ?? 0
    }
  }

  /// Exempts a user, locks their codes, and writes codes that are off.
  private func prepare(_ world: World) async throws {
    let (agent, author) = try await world.inSupport()
    let eu = try await world.euPool
    _ = try await world.identity.exemptions.grant(
      eu, ID(World.chiara), until: world.clock.now.advanced(bySeconds: 86_400),
      ActionRequest(agent: agent, author: author, reason: .other, note: "Key on order"))
    let wrong = [CodeFinding](repeating: CodeFinding(.wrong), count: 5)
    try await world.write(
      [CodeFinding(.accepted, distance: -4, step: 90)] + wrong, of: World.chiara)
  }

  @Test func `whatever lists users counts them`() async throws {
    try await World.withSampleData { world in
      try await prepare(world)
      let eu = try await world.eu
      let ada = try await Browser.signedIn(world)
      let pages = [
        eu + "/users", eu + "/users?q=chiara", "/users?q=chiara", "/exemptions",
        eu + "/policy/affected?beyond=0", eu + "/reports/locked",
        eu + "/reports/factors?age=never-used",
        eu + "/reports/exemptions", eu + "/activity", eu + "/messages",
      ]
      for page in pages {
        let before = try await counted(world)
        let answer = try await ada.get(page)
        #expect(answer.status == .ok, "\(page)")
        let after = try await counted(world)
        #expect(after > before, "\(page)")
        if page == eu + "/users" {
          let users = try await world.identity.accounts.list(world.euPool, limit: 50).items.count
          #expect(after - before == users)
        }
      }
      let files = [
        eu + "/users.csv", "/exemptions.csv", eu + "/policy/affected.csv?beyond=0",
        eu + "/reports/locked.csv", eu + "/reports/exemptions.csv",
        eu + "/users/\(World.chiara)/code-attempts.csv",
      ]
      for file in files {
        let before = try await counted(world)
        let answer = try await ada.download(file)
        #expect(answer.status == .ok, "\(file)")
        #expect(try await counted(world) > before, "\(file)")
      }
      let before = try await counted(world)
      for page in [eu, eu + "/users/\(World.chiara)", eu + "/users?q=nobody-has-this"] {
        _ = try await ada.get(page)
      }
      #expect(try await counted(world) == before)
    }
  }
}
