import HTTP
import Identity
import Testing

@testable import Console

/// The number of statements that requests take.
@Suite struct StatementTests {
  /// A request, and the numbers of statements that it may take.
  private struct Row {
    let name: String
    let status: Status
    let reads: ClosedRange<Int>
    var all: ClosedRange<Int>?
    let send: () async throws -> Answer
  }

  private static func isRead(_ statement: String) -> Bool { statement.hasPrefix("SELECT") }

  /// Returns the statements that a request runs, without those that begin and end transactions.
  private func statements(
    _ world: World, status: Status, _ send: () async throws -> Answer
  ) async throws -> [String] {
    let before = world.statements.lines.count
    let answer = try await send()
    #expect(answer.status == status)
    return world.statements.lines.dropFirst(before)
      .map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
      .filter { statement in
        ["SELECT", "INSERT", "UPDATE", "DELETE"].contains { statement.hasPrefix($0) }
      }
  }

  @Test func `requests take no more statements than they need`() async throws {
    try await World.withSampleData { world in
      let (ada, nadia) = (
        try await Browser.signedIn(world), try await Browser.signedIn(world, as: World.nadia)
      )
      let pool = try await world.eu
      let factor = try await world.factor(of: World.chiara).text
      let removal = "\(pool)/users/\(World.chiara)/factors/\(factor)/removal"
      let csrf = try await nadia.get(removal).csrf
      let rows = [
        Row(name: "a list of users", status: .ok, reads: 9...9, all: 10...10) {
          try await ada.get(pool + "/users")
        },
        Row(name: "a pool that isn't there", status: .notFound, reads: 4...4) {
          try await ada.get("/projects/acme-retail/tenants/none/users")
        },
        Row(name: "the question before an unenrollment", status: .ok, reads: 17...17) {
          try await nadia.get(removal)
        },
        Row(name: "an unenrollment", status: .seeOther, reads: 17...17, all: 38...38) {
          try await nadia.post(removal, ["csrf": csrf, "reason": "lost"])
        },
      ]
      for row in rows {
        let found = try await statements(world, status: row.status, row.send)
        let reads = found.count(where: Self.isRead)
        let list = found.joined(separator: "\n")
        #expect(row.reads.contains(reads), "\(row.name): \(reads) reads\n\(list)")
        #expect(
          (row.all ?? row.reads).contains(found.count), "\(row.name): \(found.count)\n\(list)")
      }
    }
  }

  @Test func `a page of a connected pool takes few statements more than a hosted one's`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let eu = try await world.eu
      // Before a user's page, the session and the pool are read to ask the other server; what needs
      // attention is read of all connections, and of each one's policies and changes.
      let more = [1, 4, 1, 4]
      let pages = ["\(eu)/users", "\(eu)/users/\(World.chiara)", "\(eu)/reports", "/projects"]
      func counts() async throws -> [Int] {
        var counts: [Int] = []
        for page in pages {
          // What's read once an hour is read before.
          _ = try await ada.get(page)
          counts.append(
            try await statements(world, status: .ok) { try await ada.get(page) }.count)
        }
        return counts
      }
      func globex() async throws -> Int {
        try await statements(world, status: .ok) { try await ada.get("/projects/globex") }.count
      }
      let (hosted, other) = (try await counts(), try await globex())
      try await world.mirror(ID("acme-retail"), readAt: world.clock.now)
      let connected = try await counts()
      for index in pages.indices {
        #expect(connected[index] <= hosted[index] + more[index], "\(pages[index])")
      }
      #expect(try await globex() == other)
    }
  }

  @Test(arguments: ["", "/reports?tenants=all", "/reports/enrollment?tenants=all"])
  func `reports take as many statements for many tenants as for a few`(
    _ page: String
  ) async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let address = "/projects/acme-retail" + page
      // What's read once an hour, such as trends, is read before.
      _ = try await ada.get(address)
      let few = try await statements(world, status: .ok) { try await ada.get(address) }.count
      for number in 1...5 {
        _ = try await world.identity.pools.createTenant(
          in: ID("acme-retail"), PoolEdit(displayName: "more-\(number)"),
          by: .program(Author(actor: .commandLine)))
      }
      _ = try await ada.get(address)
      let many = try await statements(world, status: .ok) { try await ada.get(address) }.count
      #expect(few > 0 && many == few, "\(address)")
    }
  }

  @Test func `an unenrollment reads the administrator once, and writes the account once`()
    async throws
  {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let factor = try await world.factor(of: World.chiara).text
      let removal = try await world.eu + "/users/\(World.chiara)/factors/\(factor)/removal"
      let csrf = try await nadia.get(removal).csrf
      let found = try await statements(world, status: .seeOther) {
        try await nadia.post(removal, ["csrf": csrf, "reason": "lost"])
      }
      func count(_ part: String) -> Int { found.count { $0.contains(part) } }
      #expect(count("FROM administrator WHERE administrator_id") == 1)
      #expect(count("FROM administrator_grant WHERE administrator_id") == 1)
      #expect(count("FROM account a WHERE") == 1)
      #expect(found.count { $0.hasPrefix("UPDATE account SET") } == 1)
      // The next page's frame has the number of approvals.
      #expect(count("FROM approval") == 0)
    }
  }

  @Test func `a page that isn't there authenticates once`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let found = try await statements(world, status: .notFound) {
        try await ada.get("/projects/none")
      }
      #expect(found.count { $0.contains("FROM console_session") } == 1)
      #expect(found.count { $0.contains("FROM approval") } == 1)
    }
  }
}
