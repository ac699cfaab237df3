import Crypto
import Database
import Testing
import Text

@testable import Identity
@testable import TestIdentity

/// Two spellings of one mailbox are one mailbox: its domain as U-labels or A-labels, and its letters
/// in either normalization form and case.
struct MailboxTests {
  private static let spellings = [
    "ren\u{E9}@b\u{FC}cher.example", "REN\u{C9}@B\u{DC}CHER.example",
    "rene\u{301}@bu\u{308}cher.example", "ren\u{E9}@xn--bcher-kva.example",
    "ren\u{E9}@XN--BCHER-KVA.Example", "ren\u{E9}@b\u{FC}cher\u{3002}example",
  ]
  private static let folded = "ren\u{E9}@xn--bcher-kva.example"
  private static let password = Secret("a long pass phrase")

  /// The places that look for a mailbox, by what they're called, with the outcome for the second
  /// spelling of one that the first was used for.
  private static let places:
    [(name: String, outcome: String, use: @Sendable (Instance, String, String) async -> String)] = [
      (
        "new account", "emailExists",
        { instance, one, other in
          await outcome {
            _ = try await add(instance, one)
            return try await add(instance, other)
          }
        }
      ),
      (
        "changed account", "emailExists",
        { instance, one, other in
          await outcome {
            _ = try await add(instance, one)
            let alice = try await instance.account(.alice)
            var change = AccountChange()
            change.email = .set(other)
            return try await instance.identity.accounts.update(
              instance.acme, alice.id, change, by: Instance.boss)
          }
        }
      ),
      (
        "own spelling", "done",
        { instance, one, other in
          await outcome {
            let account = try await add(instance, one)
            var change = AccountChange()
            change.email = .set(other)
            let changed = try await instance.identity.accounts.update(
              instance.acme, account.id, change, by: Instance.boss)
            #expect(changed.emailVerified && changed.email?.isSameBytes(as: folded) == true)
          }
        }
      ),
      (
        "sign-up", "emailExists",
        { instance, one, other in
          await outcome {
            _ = try await add(instance, one)
            var new = NewAccount()
            (new.email, new.password) = (other, password)
            return try await instance.identity.signIns.signUp(
              instance.acme, new, by: Instance.visitor)
          }
        }
      ),
      (
        "import", "emailExists",
        { instance, one, other in
          await outcome {
            _ = try await add(instance, one)
            let done = try await instance.identity.imports.run(
              instance.acme, [ImportRow.user(.bob) { $0.email = other }],
              ImportOptions(existing: .refuse), by: Instance.boss)
            if let refusal = done.refusals.first { throw refusal.fault }
          }
        }
      ),
      (
        "import of both", "duplicateEmail",
        { instance, one, other in
          await outcome {
            var options = ImportOptions(existing: .refuse)
            options.sanityCheck = true
            return try await instance.identity.imports.run(
              instance.acme,
              [
                ImportRow.user(.alice) { $0.email = one },
                ImportRow.user(.bob) { $0.email = other },
              ], options, by: Instance.boss)
          }
        }
      ),
      (
        "lookup", "1",
        { instance, one, other in
          await count {
            _ = try await add(instance, one)
            return try await instance.identity.accounts.lookup(instance.acme, emails: [other]).count
          }
        }
      ),
      (
        "search", "1",
        { instance, one, other in
          await count {
            _ = try await add(instance, one)
            return try await instance.identity.accounts.search(instance.acme, other).hits.count
          }
        }
      ),
      (
        "search by a part", "1",
        { instance, one, other in
          await count {
            _ = try await add(instance, one)
            return try await instance.identity.accounts.search(
              instance.acme, "b\u{FC}cher.exa"
            ).hits.count
          }
        }
      ),
      (
        "password", "done",
        { instance, one, other in
          await outcome {
            _ = try await add(instance, one)
            return try await instance.signedIn(.alice, as: other, with: password)
          }
        }
      ),
      (
        "limits", "done",
        { instance, one, other in
          await outcome {
            #expect(TypedEmail(one).digest == TypedEmail(other).digest)
            #expect(
              CounterName.requestedMails(to: one, in: instance.acme.key)
                == CounterName.requestedMails(
                  to: other, in: instance.acme.key))
          }
        }
      ),
      (
        "own account", "ownAccount",
        { instance, one, other in
          await outcome {
            let account = try await add(instance, one)
            let agent = try await supportAgent(instance, other)
            return try await instance.identity.support.endSessions(
              instance.acme, account.id, agent.request())
          }
        }
      ),
      (
        "own account on a list", "1",
        { instance, one, other in
          await count {
            let account = try await add(instance, one)
            let agent = try await supportAgent(instance, other)
            let job = try await instance.draft(account.id.text, by: agent)
            return try await instance.results(instance.job(job, by: agent)).count { $0 == "own" }
          }
        }
      ),
      (
        "list of users", "1",
        { instance, one, other in
          await count {
            _ = try await add(instance, one)
            let list = try BulkList("\(one),\(other)")
            #expect(list.lines.count == 1)
            let agent = try await instance.agent()
            let job = try await instance.draft(other, by: agent)
            return try await instance.results(instance.job(job, by: agent)).count
          }
        }
      ),
      (
        "confirmation", "done",
        { instance, one, other in
          await outcome {
            let account = try await add(instance, one)
            let agent = try await instance.agent()
            #expect(agent.request(typed: other).confirms(account))
          }
        }
      ),
      (
        "new administrator", "emailTaken",
        { instance, one, other in
          await outcome {
            _ = try await administrator(instance, one)
            return try await administrator(instance, other)
          }
        }
      ),
      (
        "administrator", "done",
        { instance, one, other in
          await outcome {
            let known = try await administrator(instance, one)
            #expect(known.hasEmail(other))
            let found = try await instance.identity.administrators.record(email: other)
            #expect(found.administrator.id == known.id)
            _ = try await instance.identity.consoleSessions.signIn(
              email: other, password: password, address: "a", userAgent: "Browser")
          }
        }
      ),
      (
        "invitation", "emailTaken",
        { instance, one, other in
          await outcome {
            let boss = try await instance.administrator("boss", .owner)
            _ = try await administrator(instance, one)
            return try await instance.invite(other, by: boss)
          }
        }
      ),
      (
        "message", "1",
        { instance, one, other in
          await count {
            _ = try await add(instance, one)
            let request = OutOfBandRequest(.passwordReset, for: .email(other))
            _ = try await instance.identity.outOfBandCodes.send(
              request, in: instance.acme, hidingUsers: false, from: nil)
            return try await instance.identity.messages.list(
              instance.acme, to: one
            ).items.count
          }
        }
      ),
    ]

  private static func count(_ body: @Sendable () async throws -> Int) async -> String {
    do { return String(try await body()) } catch { return caseName(error) }
  }

  private static func add(_ instance: Instance, _ email: String) async throws -> Account {
    var new = NewAccount()
    (new.email, new.password, new.emailVerified) = (email, password, true)
    return try await instance.identity.accounts.create(
      instance.acme, new, by: .program(Instance.boss)
    ).value
  }

  private static func administrator(
    _ instance: Instance, _ email: String
  ) async throws -> Administrator {
    try await instance.identity.administrators.create(
      email: email, displayName: "Renée", password: password, grant: Grant(role: .support),
      by: Author(actor: .commandLine))
  }

  private static func supportAgent(_ instance: Instance, _ email: String) async throws -> Agent {
    _ = try await administrator(instance, email)
    let new = try await instance.identity.consoleSessions.signIn(
      email: email, password: password, address: "a", userAgent: "Browser"
    ).session
    try await instance.reauthenticate(new.session)
    return Agent(session: new.session)
  }

  @Test(arguments: MailboxTests.places.map(\.name))
  func `two spellings of a mailbox are one`(place: String) async throws {
    let place = try #require(Self.places.first { $0.name == place })
    for other in Self.spellings.dropFirst() {
      try await withInstance { instance in
        #expect(await place.use(instance, Self.spellings[0], other) == place.outcome, "\(other)")
      }
    }
    try await withInstance { instance in
      let ascii = Self.spellings[3]
      #expect(await place.use(instance, ascii, Self.spellings[0]) == place.outcome)
    }
  }

  @Test(arguments: MailboxTests.spellings)
  func `addresses are folded once`(spelling: String) {
    #expect(AccountRules.folded(email: spelling).isSameBytes(as: Self.folded))
    #expect(Mailbox.folded(spelling).isSameBytes(as: Self.folded))
    #expect(AccountRules.readable(email: Self.folded).isSameBytes(as: Self.spellings[0]))
  }

  @Test(arguments: [
    ("Ann@Example.COM", "ann@example.com"), ("ann@fa\u{DF}.de", "ann@xn--fa-hia.de"),
    ("ann", "ann"), ("\u{E9}@", "\u{E9}@"), ("a@b@\u{E9}.com", "a@b@xn--9ca.com"),
    ("ann@\u{E9}_\u{E9}.com", "ann@\u{E9}_\u{E9}.com"),
  ])
  func `an address without a valid domain is folded too`(address: String, folded: String) {
    #expect(AccountRules.folded(email: address).isSameBytes(as: folded))
  }

  @Test func `addresses that an earlier version stored are folded at startup`() async throws {
    try await withInstance { instance in
      let (old, other) = ("ren\u{E9}@b\u{FC}cher.example", "rene\u{301}@b\u{FC}cher.example")
      let accounts = instance.identity.accounts
      let first = try await Self.add(instance, "first@example.com")
      let second = try await Self.add(instance, "second@example.com")
      let linked = try await Self.add(instance, "linked@example.com")
      var change = AccountChange()
      change.link = ProviderLink(
        provider: "google.com", rawID: "g", email: "other@example.org", displayName: "Zo\u{EB} Q")
      try await accounts.update(instance.acme, linked.id, change, by: Instance.boss)
      let dora = try await Self.administrator(instance, "dora@example.com")
      try await instance.database.write { connection in
        for (account, email) in [(first, old), (second, other)] {
          try connection.run(
            """
            UPDATE /* test */ account SET email = \(email), email_folded = \(email)
            WHERE account_key = \(account.key)
            """)
        }
        try connection.run(
          """
          UPDATE /* test */ administrator SET email = \(old), email_folded = \(old)
          WHERE administrator_id = \(dora.id)
          """)
        let text = "linked@example.com\n\n\n\(linked.id.text.lowercased())"
        try SearchIndex.parts.remove(
          linked.key,
          SearchText(try #require(try AccountRecord.find(key: linked.key, connection)))
            .folded, connection)
        try connection.run(
          "UPDATE /* test */ account_text SET folded = \(text) WHERE account_key = \(linked.key)")
        try SearchIndex.parts.insert(linked.key, text, connection)
        // Neither were the beginnings of what the identity adds to the first line.
        try connection.run(
          """
          DELETE /* test */ FROM account_beginning
          WHERE account_key = \(linked.key) AND beginning IN ('o', 'ot', 'or', 'z', 'zo', 'q')
          """)
        try connection.run(
          "UPDATE /* test */ instance SET name = 'search_2' WHERE name = 'search_3'")
      }
      #expect(try await accounts.lookup(instance.acme, emails: [old]).isEmpty)
      #expect(try await accounts.search(instance.acme, "other@example.org").hits.isEmpty)
      try await instance.identity.prepare()
      #expect(try await accounts.lookup(instance.acme, emails: [old]).map(\.id) == [first.id])
      // The second account of a mailbox keeps its address.
      let kept = try await accounts.find(instance.acme, second.id)
      #expect(kept?.email?.isSameBytes(as: other) == true)
      #expect(try await accounts.search(instance.acme, "other@example.org").hits.count == 1)
      #expect(try await accounts.search(instance.acme, "zoe q").hits.count == 1)
      let record = try await instance.identity.administrators.record(email: old)
      #expect(record.administrator.id == dora.id)
    }
  }
}
