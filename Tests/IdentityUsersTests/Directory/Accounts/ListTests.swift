import Database
import Testing

@testable import Identity
@testable import TestIdentity

struct AccountListTests {
  /// Creates `count` accounts whose UIDs sort by number.
  private func fill(_ pool: Pool, _ count: Int, _ instance: Instance) async throws {
    _ = try await concurrently(count) { number in
      var new = NewAccount()
      new.localID = "u\(10_000 + number)"
      new.email = "user\(10_000 + number)@example.com"
      return try await instance.identity.accounts.create(pool, new, by: .program(Instance.boss))
        .value.key
    }
  }

  @Test
  func `paging returns 1000 accounts once each, even when accounts are added in between`()
    async throws
  {
    try await withInstance { instance in
      let accounts = instance.identity.accounts
      try await fill(instance.acme, 1_000, instance)
      try await fill(instance.east, 20, instance)
      var (seen, after, pages): ([ID<Account>], String?, Int) = ([], nil, 0)
      repeat {
        let page = try await accounts.list(instance.acme, after: after, limit: 70)
        seen += page.items.map(\.id)
        (after, pages) = (page.next, pages + 1)
        if pages == 3 { _ = try await instance.account(.alice) }
      } while after != nil
      #expect(pages == 15)
      #expect(seen.count == 1_000)
      #expect(Set(seen).count == 1_000)
      #expect(
        try await accounts.list(instance.acme, limit: 1).items.first?.email == "alice@example.com")
    }
  }

  @Test func `exports page through all accounts by UID`() async throws {
    try await withInstance { instance in
      let accounts = instance.identity.accounts
      try await fill(instance.acme, 55, instance)
      try await fill(instance.globex, 5, instance)
      var (seen, after): ([String], String?) = ([], nil)
      repeat {
        let page = try await accounts.export(instance.acme, after: after, limit: 10)
        seen += page.items.map(\.account.id.text)
        after = page.next
      } while after != nil
      #expect(seen == (0..<55).map { "u\(10_000 + $0)" })
    }
  }

  @Test(
    arguments: [
      "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-1", "0",
      "1099511627776", "x", "", "' OR 1=1 --", "-", "--", "1-", "1-!", "0-_w", "9-99999999999999",
    ])
  func `any cursor is answered with accounts of the pool only`(after: String) async throws {
    try await withInstance { instance in
      let accounts = instance.identity.accounts
      for pool in [instance.acme, instance.east, instance.west, instance.globex] {
        _ = try await instance.account(.alice, in: pool)
      }
      for pool in [instance.acme, instance.globex] {
        for filter in Accounts.Filter.allCases {
          for sort in Accounts.Sort.allCases {
            let page = try await accounts.list(pool, filter: filter, sort: sort, after: after)
            #expect(page.items.count <= 1)
            #expect(page.items.allSatisfy { pool.accountKeys.contains($0.key) })
          }
        }
      }
    }
  }

  @Test(arguments: [Int.min, -2, -1, 0, 1, Int.max])
  func `any page size is accepted`(limit: Int) async throws {
    try await withInstance { instance in
      try await fill(instance.acme, 3, instance)
      let (accounts, pool) = (instance.identity.accounts, instance.acme)
      let count = limit == Int.max ? 3 : 1
      #expect(try await accounts.list(pool, limit: limit).items.count == count)
      #expect(try await accounts.export(pool, after: nil, limit: limit).items.count == count)
      #expect(
        try await accounts.list(pool, sort: .email, limit: limit).items.count == count)
      let rows = try await instance.identity.audit.list(
        AuditFilter(pool: pool, object: .account), limit: limit)
      #expect(rows.items.count == count)
      let tenants = try await instance.identity.pools.tenants(project: pool.project, limit: limit)
      #expect(tenants.items.count == (limit == Int.max ? 2 : 1))
    }
  }

  @Test func `filters select users by authenticator app`() async throws {
    try await withInstance { instance in
      let accounts = instance.identity.accounts
      let alice = try await instance.enrolled(.alice)
      let bob = try await instance.account(.bob)
      func listed(_ filter: Accounts.Filter, search: String? = nil) async throws -> [ID<Account>] {
        guard let search else {
          return try await accounts.list(instance.acme, filter: filter).items.map(\.id)
        }
        return try await accounts.search(instance.acme, search, filter: filter).accounts.map(\.id)
      }
      #expect(try await listed(.all) == [bob.id, alice.account.id])
      #expect(try await listed(.totp) == [alice.account.id])
      #expect(try await listed(.none) == [bob.id])
      #expect(try await listed(.none, search: "alice") == [])
      #expect(try await listed(.totp, search: "alice") == [alice.account.id])
    }
  }

  @Test(arguments: Accounts.Filter.allCases, Accounts.Sort.allCases)
  func `each list has each account once, in order`(
    filter: Accounts.Filter, sort: Accounts.Sort
  ) async throws {
    try await withInstance { instance in
      try await populate(instance)
      let accounts = instance.identity.accounts
      let all = try await accounts.export(instance.east, after: nil, limit: 1_000).items.map(
        \.account)
      let known = Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0) })
      var (seen, after): ([AccountSummary], String?) = ([], nil)
      repeat {
        let page = try await accounts.list(
          instance.east, filter: filter, sort: sort, after: after, limit: 7)
        seen += page.items
        after = page.next
      } while after != nil
      let included = all.filter { filter.includes($0, exempt: [], at: instance.now) }
      #expect(Set(seen.map(\.id)) == Set(included.map(\.id)))
      #expect(seen.count == Set(seen.map(\.id)).count)
      let empty: Set<Accounts.Filter> = [.phone, .exempt, .clockOff, .reported, .inactive]
      #expect(seen.isEmpty == empty.contains(filter))
      #expect(seen == seen.compactMap { known[$0.id] }.map(AccountSummary.init))
      for (one, next) in zip(seen, seen.dropFirst()) {
        switch filter.order ?? sort {
        case .newest: #expect(one.key > next.key)
        case .email: #expect(one.email.sortsBefore(next.email))
        case .name:
          let texts = try [one, next].map { SearchText(try #require(known[$0.id])) }
          #expect(texts[0].name.sortsBefore(texts[1].name))
        case .lastSignIn:
          #expect(one.lastLoginAt?.microseconds ?? 0 >= next.lastLoginAt?.microseconds ?? 0)
        }
      }
    }
  }

  @Test func `users who signed in on one day are sorted by time`() async throws {
    try await withInstance { instance in
      for (minute, person) in [(3, Person.alice), (1, .bob), (2, .mallory)] {
        let account = try await instance.account(person)
        var change = AccountChange()
        change.lastLoginAt = instance.now.advanced(bySeconds: Int64((minute - 3) * 60))
        try await instance.identity.accounts.update(
          instance.acme, account.id, change, by: Instance.boss)
      }
      let list = try await instance.identity.accounts.list(instance.acme, sort: .lastSignIn)
      #expect(list.items.map(\.email) == [Person.alice, .mallory, .bob].map(\.email))
    }
  }

  /// Creates accounts of all kinds, some with equal sort values.
  private func populate(_ instance: Instance) async throws {
    let names = ["Zoë", "anna", "Ändy", "李小明", "محمد", "anna", "Bob"]
    for number in 0..<60 {
      var new = NewAccount()
      if number % 5 > 0 { new.email = "user\(number * 37 % 60)@example.com" }
      if number % 3 > 0 { new.displayName = names[number % names.count] }
      new.emailVerified = number % 2 == 0
      new.disabled = number % 7 == 0
      let account = try await instance.identity.accounts.create(
        instance.east, new, by: .program(Instance.boss)
      ).value
      if number % 6 == 0 {
        let until = number % 12 == 0 ? CodeLock.forever : instance.now.advanced(bySeconds: 60)
        try await instance.database.write { connection in
          let stored = try #require(try AccountRecord.find(instance.east, account.id, connection))
          try AccountRecord.lockCodes(of: stored, until: until, connection)
        }
      }
      if number % 4 == 1 {
        // A third of them has ended.
        let seconds: Int64 = number % 3 == 0 ? -60 : 600
        try await instance.addSuspendedFactor(
          to: account, in: instance.east, until: instance.now.advanced(bySeconds: seconds))
      }
      guard number % 4 == 0 else { continue }
      var change = AccountChange()
      change.lastLoginAt = Instant(seconds: 1_700_000_000 + Int64(number % 8) * 86_400)
      try await instance.identity.accounts.update(
        instance.east, account.id, change, by: Instance.boss)
    }
    _ = try await instance.enrolled(.alice, in: instance.east)
    _ = try await instance.account(.bob)
  }

  @Test func `key ranges of neighboring pools don't touch`() async throws {
    try await withInstance { instance in
      let ranges = [instance.acme, instance.globex, instance.east, instance.west]
        .map(\.accountKeys).sorted { $0.lowerBound < $1.lowerBound }
      for (left, right) in zip(ranges, ranges.dropFirst()) {
        #expect(left.upperBound < right.lowerBound)
        #expect(left.count == 1 << 40)
      }
    }
  }
}

extension String? {
  /// The sort order of lists, in which nil comes last.
  fileprivate func sortsBefore(_ other: String?) -> Bool {
    guard let self else { return other == nil }
    guard let other else { return true }
    return !other.utf8.lexicographicallyPrecedes(self.utf8)
  }
}
