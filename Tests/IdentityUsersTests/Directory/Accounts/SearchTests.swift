import Database
import Testing

@testable import Identity
@testable import TestIdentity

struct SearchTests {
  /// People with names in many scripts, identified by UID.
  private static let people: [(uid: String, email: String?, name: String?, phone: String?)] = [
    ("chiara", "chiara.bianchi@example.com", "Chiara Bianchi", "+4917012345678"),
    ("zoe", "ZOE@Straße.example", "Zoë Ångström-Núñez", nil),
    ("wide", nil, "Ｗｉｄｅ Ｌｅｔｔｅｒｓ ﬁne", nil),
    ("farid", "farid@example.com", "فريد رضايي", nil),
    ("marks", nil, "مُحَمَّد", nil),
    ("ahmad", nil, "أَحْمَد", nil),
    ("shalom", nil, "שָׁלוֹם", nil),
    ("devanagari", nil, "प्रिया शर्मा", nil),
    ("wang", "wang@example.cn", "王小明", nil),
    ("korea", nil, "김민준", nil),
    ("odd", nil, "100% _under_ \"quoted\" *star* NEAR(a b) — 🎉 party", nil),
    ("turned", nil, "\u{202E}live\u{202C} Mallory", nil),
    ("obrien", "keane.o'brien@mail.test", "Keane O’Brien", nil),
    ("teresa", "t.garcia@mail.test", "Teresa Garcia", "+16505550101"),
    ("fatima", nil, "فاطمة موسى", nil),
    ("lukasz", nil, "Łukasz Ørsted", nil), ("aegir", nil, "Ægir Þór Đặng Ħal Œuvre", nil),
    ("isik", nil, "Işık IRMAK", nil),
  ]

  private func populate(_ instance: Instance) async throws {
    for person in Self.people {
      var new = NewAccount()
      new.localID = person.uid
      (new.email, new.displayName, new.phoneNumber) = (person.email, person.name, person.phone)
      for pool in [instance.east, instance.globex] {
        _ = try await instance.identity.accounts.create(pool, new, by: .program(Instance.boss))
      }
    }
  }

  @Test func `search matches any part regardless of script, case, accents, and width`() async throws
  {
    let cases: [(text: String, uids: Set<String>)] = [
      ("chiara.bianchi@example.com", ["chiara"]), ("ara.bia", ["chiara"]), ("BIANCHI", ["chiara"]),
      ("bianchi chiara", ["chiara"]), ("example.c", ["chiara", "farid", "wang"]),
      ("angstrom", ["zoe"]), ("ÅNGSTRÖM", ["zoe"]), ("núñ", ["zoe"]), ("strasse", ["zoe"]),
      ("wide letters", ["wide"]), ("ｗｉｄｅ", ["wide"]), ("fine", ["wide"]),
      ("فريد", ["farid"]), ("ضاي", ["farid"]), ("محمد", ["marks"]),
      ("शर्मा", ["devanagari"]), ("प्रिया", ["devanagari"]),
      ("王小明", ["wang"]), ("小明", ["wang"]), ("明", ["wang"]), ("王", ["wang"]),
      ("민준", ["korea"]), ("김", ["korea"]),
      ("+4917012345678", ["chiara"]), ("4917012345678", ["chiara"]), ("1234", ["chiara"]),
      ("+49 170 12 34 56 78", ["chiara"]), ("0170-12345678", ["chiara"]), ("+4", ["chiara"]),
      ("devana", ["devanagari"]), ("Mallory", ["turned"]), ("live mall", ["turned"]),
      ("\u{202E}live\u{202C}", ["turned"]),
      ("c", ["chiara", "farid", "wang"]), ("ch", ["chiara"]), ("bi", ["chiara"]), ("hi", []),
      ("w", ["wide", "wang"]), ("ex", ["chiara", "farid", "wang", "zoe"]), ("nu", ["zoe"]),
      ("ch bi", ["chiara"]), ("ch wa", []), ("c wang", ["wang"]), ("🎉", ["odd"]),
      ("chi\u{0}ara", ["chiara"]), ("فرید", ["farid"]), ("أحمد", ["ahmad"]), ("احمد", ["ahmad"]),
      ("שלום", ["shalom"]), ("nobody", []), ("chiara wang", []),
      ("o'brien", ["obrien"]), ("O’BRIEN", ["obrien"]), ("obrien", ["obrien"]),
      ("keane.o'brien@mail.test", ["obrien"]), ("mailto:keane.o'brien@mail.test", ["obrien"]),
      ("Garcia, Teresa", ["teresa"]), ("garcia,teresa", ["teresa"]), ("\"Teresa\"", ["teresa"]),
      ("Terry Garcia <T.Garcia@mail.test>", ["teresa"]), ("<t.garcia@mail.test>", ["teresa"]),
      ("MAILTO:t.garcia@mail.test?subject=Lost%20phone", ["teresa"]),
      ("tel:+1-650-555-0101", ["teresa"]), ("tel:+16505550101;ext=2", ["teresa"]),
      ("فاطمه", ["fatima"]), ("فاطمة", ["fatima"]), ("موسي", ["fatima"]), ("موسى", ["fatima"]),
      ("lukasz", ["lukasz"]), ("ŁUKASZ orsted", ["lukasz"]), ("łu", ["lukasz"]), ("ør", ["lukasz"]),
      ("ægir", ["aegir"]), ("aegir thor", ["aegir"]), ("dang hal", ["aegir"]), ("ae", ["aegir"]),
      ("isik ırmak", ["isik"]), ("IŞIK Irmak", ["isik"]), ("ISIK IRMAK", ["isik"]),
    ]
    try await withInstance { instance in
      try await populate(instance)
      for (text, uids) in cases {
        let found = try await instance.identity.accounts.search(instance.east, text)
        #expect(Set(found.accounts.map(\.id.text)) == uids, "\(text)")
        #expect(found.hits.allSatisfy { $0.pool == instance.east } && !found.isCut)
      }
    }
  }

  @Test(
    arguments: [
      "%", "_", "*", "\"", "'", "\"\"", "(", "NEAR", "AND", "OR NOT", "a AND", "folded:chi",
      "chi*", "^chi", "chi\" OR \"wan", "--", "; DROP", "\u{202E}",
      "\u{200B}\u{FEFF}", "👩‍👩‍👧‍👦", "{chiara}", "chi + wang", "\\", String(repeating: "a", count: 9_000),
      String(repeating: "word ", count: 2_000), "\u{FDFA}",
    ])
  func `search text is never treated as an operator`(text: String) async throws {
    try await withInstance { instance in
      try await populate(instance)
      let owner = try await instance.administrator()
      let found = try await instance.identity.accounts.search(instance.east, text)
      let isLiteral = ["%", "_", "*", "\"", "NEAR", "\"\"", "'"].contains(text)
      #expect(found.hits.isEmpty || isLiteral && found.accounts.allSatisfy { $0.id.text == "odd" })
      _ = try await instance.identity.accounts.search(everywhere: text, visibleTo: owner)
    }
  }

  @Test func `search finds current values and not former ones`() async throws {
    try await withInstance { instance in
      let accounts = instance.identity.accounts
      func found(_ texts: String...) async throws -> [Int] {
        var counts: [Int] = []
        for text in texts {
          counts.append(try await accounts.search(instance.acme, text).hits.count)
        }
        return counts
      }
      let device = try await instance.enrolled(.alice)
      let id = device.account.id
      let part = String(device.factor.text.dropFirst(3).prefix(12))
      #expect(try await found(part, device.factor.text) == [1, 1])
      var change = AccountChange()
      change.email = .set("renamed@example.org")
      change.displayName = .set("Quentin")
      change.phoneNumber = .set("+33123456789")
      try await accounts.update(instance.acme, id, change, by: Instance.boss)
      #expect(try await found("alice", "al") == [0, 0])
      #expect(try await found("uent", "qu", "named@") == [1, 1, 1])
      #expect(try await found("2345", "+3") == [1, 1])
      change = AccountChange()
      (change.displayName, change.phoneNumber) = (.clear, .clear)
      try await accounts.update(instance.acme, id, change, by: Instance.boss)
      #expect(try await found("uent", "qu", "2345") == [0, 0, 0])
      let agent = try await instance.agent()
      _ = try await instance.identity.factorRemovals.remove(
        instance.acme, id, nil, agent.request())
      #expect(try await found(part) == [0])
      try await accounts.delete(instance.acme, id, by: Instance.boss)
      #expect(try await found("renamed", "re") == [0, 0])
    }
  }

  @Test func `emptying a pool clears its search indexes`() async throws {
    try await withInstance { instance in
      try await populate(instance)
      try await instance.identity.accounts.deleteAll(
        instance.globex, by: Author(actor: .emulatorOwner))
      try await instance.identity.pools.delete(
        project: instance.acme.project, tenant: instance.east.tenant,
        by: .program(Instance.boss))
      let left = try await instance.database.read { connection in
        let found: SQL =
          connection.dialect == .sqlite
          ? "(SELECT count(*) FROM account_search WHERE account_search MATCH '\"exa\"')" : "0"
        return try connection.first(
          """
          SELECT /* test */ (SELECT count(*) FROM account_text)
            + (SELECT count(*) FROM account_beginning) + \(found)
          """
        ) { try $0.next() as Int }
      }
      #expect(left == 0)
    }
  }

  @Test func `200 hits are paged by 50, each once and in order`() async throws {
    try await withInstance { instance in
      let accounts = instance.identity.accounts
      for number in 0..<Accounts.mostHits {
        var new = NewAccount()
        new.email = "same\(number)@example.com"
        new.displayName = "Sam \(2_000 - number)"
        _ = try await accounts.create(instance.east, new, by: .program(Instance.boss))
      }
      func parts(_ sort: Accounts.Sort, _ text: String) async throws -> ([String?], Bool) {
        var (emails, after, isCut): ([String?], Int?, Bool) = ([], 0, false)
        while let start = after {
          let found = try await accounts.search(
            instance.east, text, sort: sort, part: SearchPart(after: start))
          #expect(found.hits.count == 50 && found.only == nil)
          emails += found.accounts.map(\.email)
          (after, isCut) = (found.next, found.isCut)
        }
        return (emails, isCut)
      }
      let created = (0..<Accounts.mostHits).map { "same\($0)@example.com" }
      let orders: [(Accounts.Sort, [String])] = [
        (.newest, created.reversed()), (.email, created.sorted()), (.name, created.reversed()),
      ]
      for (sort, order) in orders {
        for text in ["same", "s"] {
          let (emails, isCut) = try await parts(sort, text)
          #expect(!isCut && emails == order)
        }
      }

      var new = NewAccount()
      new.email = "same200@example.com"
      _ = try await accounts.create(instance.east, new, by: .program(Instance.boss))
      let newest = Set(created.dropFirst() + ["same200@example.com"])
      for (sort, _) in orders {
        let (emails, isCut) = try await parts(sort, "same")
        #expect(isCut && Set(emails) == newest)
        let whole = try await accounts.search(instance.east, "same", sort: sort, part: .whole)
        #expect(whole.isCut && whole.accounts.map(\.email) == emails)
        let beyond = try await accounts.search(
          instance.east, "same", sort: sort, part: SearchPart(after: 9_999))
        #expect(beyond.accounts.map(\.email) == emails.suffix(50))
      }
    }
  }

  @Test func `a search reports the number of matches, or more than 200`() async throws {
    try await withInstance { instance in
      let accounts = instance.identity.accounts
      func total(_ text: String, _ filter: Accounts.Filter = .all) async throws
        -> FoundAccounts.Total
      {
        try await accounts.search(instance.east, text, filter: filter).total
      }
      for number in 0...Accounts.mostHits {
        if number == 132 {
          for text in ["same", "s", "sam s", "same0@example.com"] {
            let count = text.contains("0@") ? 1 : 132
            #expect(try await total(text) == .exactly(count), "\(text)")
          }
          #expect(try await total("same", .unverified) == .exactly(132))
          #expect(try await total("same", .totp) == .exactly(0))
        }
        var new = NewAccount()
        new.email = "same\(number)@example.com"
        new.displayName = "Sam"
        _ = try await accounts.create(instance.east, new, by: .program(Instance.boss))
      }
      for text in ["same", "s", "sam s"] {
        #expect(try await total(text) == .atLeast(200), "\(text)")
      }
      #expect(try await total("same", .unverified) == .atLeast(200))
      #expect(try await total("same200@example.com") == .exactly(1))
    }
  }

  @Test func `hits across pools are grouped by pool, exact matches first`() async throws {
    try await withInstance { instance in
      let (identity, owner) = (instance.identity, try await instance.administrator())
      for pool in [instance.east, instance.globex, instance.west, instance.east] {
        var new = NewAccount()
        new.displayName = "Same Name"
        _ = try await identity.accounts.create(pool, new, by: .program(Instance.boss))
      }
      var new = NewAccount()
      new.email = "same@example.com"
      _ = try await identity.accounts.create(instance.globex, new, by: .program(Instance.boss))
      let found = try await identity.accounts.search(everywhere: "same", visibleTo: owner)
      #expect(found.total == .exactly(5) && found.only == nil)
      #expect(found.pools.map(\.pool) == [instance.east, instance.west, instance.globex])
      #expect(found.pools.map(\.count) == [2, 1, 2])
      #expect(
        found.hits.map(\.pool.key)
          == [instance.east, instance.east, instance.west, instance.globex, instance.globex].map(
            \.key))
      let exact = try await identity.accounts.search(
        everywhere: "same@example.com", visibleTo: owner)
      #expect(exact.only?.pool == instance.globex)
      new.email = "same@example.com.invalid"
      _ = try await identity.accounts.create(instance.east, new, by: .program(Instance.boss))
      let both = try await identity.accounts.search(
        everywhere: "same@example.com", visibleTo: owner)
      #expect(both.only == nil && both.pools.map(\.pool) == [instance.globex, instance.east])
    }
  }

  @Test func `the last page of hits has no next page`() async throws {
    try await withInstance { instance in
      let accounts = instance.identity.accounts
      for number in 0..<50 {
        var new = NewAccount()
        new.email = "same\(number)@example.com"
        _ = try await accounts.create(instance.east, new, by: .program(Instance.boss))
      }
      for text in ["same", "s"] {
        let all = try await accounts.search(instance.east, text)
        #expect(all.hits.count == 50 && all.next == nil && !all.isCut)
      }
      var new = NewAccount()
      new.email = "asame7@example.com"
      new.displayName = "Sam"
      _ = try await accounts.create(instance.east, new, by: .program(Instance.boss))
      for text in ["same", "s"] {
        let first = try await accounts.search(instance.east, text)
        #expect(first.hits.count == 50 && first.next == 50 && !first.isCut && first.only == nil)
        let second = try await accounts.search(instance.east, text, part: SearchPart(after: 50))
        #expect(second.accounts.map(\.email) == ["same0@example.com"] && second.next == nil)
        #expect(second.only == nil, "the only hit of a later page isn't the only match")
      }
      let exact = try await accounts.search(instance.east, "SAME7@example.com")
      #expect(exact.accounts.map(\.email) == ["same7@example.com", "asame7@example.com"])
      #expect(exact.only == nil, "another user matches too")
      #expect(try await accounts.search(instance.east, "asame7").only != nil)
      #expect(try await accounts.search(instance.east, "same", filter: .totp).hits.isEmpty)
      let unverified = try await accounts.search(
        instance.east, "ame4", filter: .unverified, sort: .email)
      #expect(
        unverified.accounts.compactMap(\.email).prefix(2) == [
          "same40@example.com", "same41@example.com",
        ])
    }
  }

  @Test func `administrators find users only where they have permission`() async throws {
    try await withInstance { instance in
      try await populate(instance)
      _ = try await instance.account(.alice)
      let identity = instance.identity
      func found(_ text: String, _ grants: Grant...) async throws -> [Pool] {
        let administrator = Administrator(grants: grants)
        return try await identity.accounts.search(everywhere: text, visibleTo: administrator)
          .hits.map(\.pool)
      }
      let (acme, globex) = (instance.acme.project, instance.globex.project)
      for text in ["chiara", "chi", "ch", "wang"] {
        let all = try await found(text, Grant(role: .owner))
        #expect(Set(all) == [instance.east, instance.globex], "\(text)")
        let both = try await found(text, Grant(role: .auditor))
        #expect(both.count == 2)
        let none = try await found(text, Grant(role: .policy))
        #expect(none == [])
        let east = try await found(text, Grant(role: .support, project: acme))
        #expect(east == [instance.east])
        let west = try await found(
          text, Grant(role: .support, project: acme, tenant: instance.west.tenant))
        #expect(west == [])
        let mixed = try await found(
          text, Grant(role: .support, project: acme, tenant: instance.east.tenant),
          Grant(role: .policy, project: globex))
        #expect(mixed == [instance.east])
      }
      let own = try await found("alice", Grant(role: .support, project: acme))
      #expect(own == [instance.acme])
    }
  }

  @Test func `a search covers all permitted pools and skips those in between`() async throws {
    try await withInstance { instance in
      let identity = instance.identity
      var (mine, grants): ([Pool], [Grant]) = ([], [])
      for number in 0..<50 {
        let tenant = try await identity.pools.createTenant(
          in: instance.acme.project, PoolEdit(displayName: "tenant-\(number)"),
          by: .program(Instance.boss)
        ).value
        _ = try await instance.account(.alice, in: tenant.pool)
        guard number % 2 == 0 else { continue }
        mine.append(tenant.pool)
        grants.append(
          Grant(role: .support, project: instance.acme.project, tenant: tenant.pool.tenant))
      }
      let found = try await identity.accounts.search(
        everywhere: "lice", visibleTo: Administrator(grants: grants))
      #expect(Set(found.hits.map(\.pool)) == Set(mine) && found.hits.count == mine.count)
    }
  }

  @Test func `accounts that predate the search index are indexed at startup`() async throws {
    try await withInstance { instance in
      try await populate(instance)
      for number in 0..<520 {
        var new = NewAccount()
        new.email = "old\(number)@example.com"
        _ = try await instance.identity.accounts.create(
          instance.west, new, by: .program(Instance.boss))
      }
      try await instance.database.write { connection in
        if connection.dialect == .sqlite {
          try connection.run(
            "INSERT /* test */ INTO account_search (account_search) VALUES ('delete-all')")
        }
        for text in [
          "DELETE /* test */ FROM account_text", "DELETE /* test */ FROM account_beginning",
          "UPDATE /* test */ account SET name_folded = NULL",
          "DELETE /* test */ FROM instance WHERE name = 'search_3'",
        ] as [SQL] { try connection.run(text) }
      }
      let accounts = instance.identity.accounts
      #expect(try await accounts.search(instance.east, "bianchi").hits.isEmpty)
      try await instance.identity.prepare()
      #expect(try await accounts.search(instance.east, "bianchi").hits.count == 1)
      #expect(try await accounts.search(instance.west, "old519").hits.count == 1)
      let first = try await accounts.list(instance.east, sort: .name).items.first
      #expect(first?.id.text == "odd")
    }
  }
}

extension Administrator {
  init(grants: [Grant]) {
    self.init(id: ID("x"), email: "x@example.com", displayName: "X", grants: grants)
  }
}
