import Crypto
import HTTP
import Testing

@testable import Console
@testable import Identity

/// Whether the page of a removal promises that another administrator can undo it.
@Suite struct UndoPromiseTests {
  @Test func `a removal promises an undo only if another administrator can restore the factor`()
    async throws
  {
    try await World.withSampleData { world in
      let (line, acme) = (Author(actor: .commandLine), ID<Project>("acme-retail"))
      let administrators = world.identity.administrators
      let ada = try await Browser.signedIn(world)
      let user = try await world.eu + "/users/\(World.chiara)"
      try await administrators.remove(
        ID(try await world.id(of: World.nadia)), by: .program(line))
      let agent = Grant(role: .support, project: acme, tenant: try await world.euShop)
      let stranger = Grant(
        role: .support, project: acme, tenant: try await world.tenantID("us-shop"))
      let (always, ended) = (nil as Int64?, 60 as Int64?)
      let table: [(who: String, grant: Grant?, lasts: Int64?, isProtected: Bool, undoes: Bool)] = [
        ("no one else", nil, always, false, false),
        ("an agent of the tenant", agent, always, false, true),
        ("an agent of the project", Grant(role: .support, project: acme), always, false, true),
        ("an agent whose role ended", agent, ended, false, false),
        ("an agent of another tenant", stranger, always, false, false),
        ("an owner of the instance", Grant(role: .owner), always, false, true),
        ("an agent, for a protected user", agent, always, true, false),
        ("an owner, for a protected user", Grant(role: .owner), always, true, true),
      ]
      var isProtected = false
      for (index, row) in table.enumerated() {
        if row.isProtected != isProtected {
          _ = try await ada.submit(
            user + "/protection", ["reason": "other", "note": "The board"])
          isProtected.toggle()
        }
        let other = try await administrators.create(
          email: "other-\(index)@example.com", displayName: "Other",
          password: Secret(World.password), grant: Grant(role: .auditor), by: line)
        if let grant = row.grant {
          let end = row.lasts.map { world.clock.now.advanced(bySeconds: $0) }
          try await administrators.grant(grant, until: end, to: other.id, by: .program(line))
          if let lasts = row.lasts { world.clock.advance(seconds: lasts + 1) }
        }
        let page = try await ada.get(user + "/factors/removal")
        let promise = "Another administrator can undo the removal for 3 days"
        #expect(page.says(promise) == row.undoes, "\(row.who)")
        #expect(page.says("Nobody else can undo this") != row.undoes, "\(row.who)")
        // The reasons that exclude an undo show the second sentence instead.
        #expect(page.says("class=\"no-undo\"") == row.undoes, "\(row.who)")
        try await administrators.remove(other.id, by: .program(line))
      }
    }
  }
}
