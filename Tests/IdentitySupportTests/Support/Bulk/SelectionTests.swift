import Identity
import Testing

@testable import TestIdentity

/// Bulk removals of users who are selected in a pool's list.
@Suite struct SelectionTests {
  /// Returns the users of a draft, in order.
  private func users(
    of draft: Int64, _ instance: Instance, by agent: Agent
  ) async throws -> [ID<Account>?] {
    let job = try await instance.job(draft, by: agent)
    return try await instance.identity.bulkRemovals.items(of: job, limit: 1_000).items
      .map(\.account)
  }

  @Test(arguments: ["", "user"])
  func `all users of a list are those that its pages show, with each filter`(
    text: String
  ) async throws {
    try await withInstance { instance in
      let (identity, pool) = (instance.identity, instance.acme)
      try await instance.addUsers(5)
      try await instance.addUsers(1, in: instance.east)
      for number in 0..<3 {
        var new = NewAccount()
        new.email = "user-without-\(number)@example.com"
        new.emailVerified = number > 0
        new.disabled = number == 1
        _ = try await identity.accounts.create(pool, new, by: .program(Instance.boss))
      }
      let agent = try await instance.agent()
      for filter in Accounts.Filter.allCases {
        var (shown, after): ([ID<Account>], String?) = ([], nil)
        if text.isEmpty {
          repeat {
            let page = try await identity.accounts.list(
              pool, filter: filter, sort: .email, after: after, limit: 2)
            shown += page.items.map(\.id)
            after = page.next
          } while after != nil
        } else {
          shown = try await identity.accounts.search(
            pool, text, filter: filter, sort: .email, part: .whole
          ).accounts.map(\.id)
        }
        let listing = AccountListing(text: text, filter: filter, sort: .email)
        guard !shown.isEmpty else {
          await expect("nothingToDo") {
            try await identity.bulkRemovals.draft(
              all: listing, in: pool, by: agent.author, agent.session)
          }
          continue
        }
        let draft = try await identity.bulkRemovals.draft(
          all: listing, in: pool, by: agent.author, agent.session)
        let drafted = try await users(of: draft, instance, by: agent)
        #expect(drafted == shown, "\(filter)")
        let open = try await instance.job(draft, by: agent).users
        #expect(open == shown.count { $0.text.hasPrefix("u") && $0.text.count == 2 }, "\(filter)")
      }
    }
  }

  @Test func `more users than a search finds aren't previewed`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(Accounts.mostHits + 1)
      let agent = try await instance.agent()
      let removals = instance.identity.bulkRemovals
      await expect("tooLong") {
        try await removals.draft(
          all: AccountListing(text: "user"), in: instance.acme, by: agent.author, agent.session)
      }
      let draft = try await removals.draft(
        all: AccountListing(), in: instance.acme, by: agent.author, agent.session)
      #expect(try await instance.job(draft, by: agent).users == Accounts.mostHits + 1)
    }
  }

  @Test func `selected users are those with their UIDs`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(2)
      var new = NewAccount()
      new.localID = "user-0@example.com"
      _ = try await instance.identity.accounts.create(
        instance.acme, new, by: .program(Instance.boss))
      let agent = try await instance.agent()
      @Sendable func select(_ uids: [String]) async throws -> Int64 {
        try await instance.identity.bulkRemovals.draft(
          uids.map { ID($0) }, in: instance.acme, by: agent.author, agent.session)
      }
      let draft = try await select(["user-0@example.com", "u1", "u1"])
      let drafted = try await users(of: draft, instance, by: agent)
      #expect(drafted == [ID("user-0@example.com"), ID("u1"), ID("u1")])
      // One has no factor, and one is selected twice.
      #expect(try await instance.job(draft, by: agent).users == 1)
      await expect("nothingToDo") { try await select([]) }
    }
  }

  @Test func `an agent of another pool can't preview the users of a list`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(1)
      let agent = try await instance.agent("rita", project: instance.globex.project)
      for role in [agent, try await instance.agent("iris", role: .auditor)] {
        await expect("notAllowed") {
          try await instance.identity.bulkRemovals.draft(
            all: AccountListing(), in: instance.acme, by: role.author, role.session)
        }
      }
    }
  }
}
