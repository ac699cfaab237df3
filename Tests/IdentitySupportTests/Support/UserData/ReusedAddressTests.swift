import Database
import Foundation
import JSON
import TestDatabases
import Testing
import Text
@testable import Identity
@testable import TestIdentity

/// Erasures of users whose addresses and phone numbers others have now.
struct ReusedAddressTests {
  private static func setPhone(
    _ number: String, of account: Account, _ instance: Instance
  ) async throws {
    var change = AccountChange()
    change.phoneNumber = .set(number)
    try await instance.identity.accounts.update(
      instance.acme, account.id, change, by: Instance.boss)
  }

  /// Adds a message without an account.
  private static func addMessage(
    to recipient: String, in pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      INSERT INTO /* test */ outbox (message_id, scope_key, account_key, channel, purpose,
        recipient, language, created_at, expires_at)
      VALUES (\(SQL.nextNumber("message_id", of: "outbox")), \(pool.key), NULL, 'mail', 'link',
        \(recipient), 'en', \(now), \(now.advanced(bySeconds: 3_600)))
      """)
  }

  @Test func `a phone number that another account has now isn't the erased user's`() async throws {
    try await withInstance { instance in
      let (accounts, acme, now) = (instance.identity.accounts, instance.acme, instance.now)
      let number = "+4915100000009"
      let alice = try await instance.account(.alice)
      try await Self.setPhone(number, of: alice, instance)
      try await accounts.delete(acme, alice.id, by: Instance.boss)
      try await Self.setPhone(number, of: try await instance.account(.bob), instance)
      try await instance.database.write { connection in
        try Self.addMessage(to: number, in: acme, at: now, connection)
      }
      _ = try await instance.identity.userData.erase(
        acme, alice.id, by: .program(Instance.boss, because: "asked"))
      try await instance.finishErasures()
      let rest = try await instance.test.query(
        "SELECT recipient FROM outbox WHERE purpose = 'link'")
      #expect(rest == [number])
    }
  }

  @Test func `an address that another account has now isn't the erased user's`() async throws {
    try await withInstance { instance in
      let (data, acme, now, email) = (
        instance.identity.userData, instance.acme, instance.now, Person.bob.email
      )
      let alice = try await instance.account(.alice)
      _ = try await instance.code(.changeEmail, newEmail: email)
      try await instance.identity.accounts.delete(acme, alice.id, by: Instance.boss)
      let bob = try await instance.account(.bob)
      _ = await outcome {
        try await instance.identity.signIns.password(
          acme, email: email, password: Person.wrong, address: "203.0.113.5")
      }
      try await instance.database.write { connection in
        try connection.run(
          """
          INSERT INTO /* test */ bulk_job (job_id, scope_key, state, administrator_id,
            administrator_name, address, request_id, created_at, note)
          VALUES (77, \(acme.key), 'done', 'dora', 'Dora', '', '', \(now),
            'for bob@example.com')
          """)
        try connection.run(
          """
          INSERT INTO /* test */ bulk_item (scope_key, job_id, line, given, uid, factors, result)
          VALUES (\(acme.key), 77, 1, \(email), \(bob.id), '', 'removed')
          """)
        try Self.addMessage(to: email, in: acme, at: now, connection)
        var entry = AuditEntry(.accountChange, .account, bob.id.text, name: email, in: acme)
        entry.note = "bob@example.com called"
        try entry.record(by: Instance.support, at: now, connection)
      }
      let counter = CounterName.passwords(of: TypedEmail(email), in: acme.key).text
      let kept = [
        "SELECT count(*) FROM throttle WHERE substr(name, 1, \(counter.count)) = '\(counter)'",
        "SELECT given FROM bulk_item", "SELECT note FROM bulk_job",
        "SELECT purpose FROM outbox WHERE account_key IS NULL",
      ]
      var before: [[String]] = []
      for query in kept { before.append(try await instance.test.query(query)) }
      #expect(before.first != ["0"])
      #expect(before.dropFirst() == [[email], ["for \(email)"], ["link"]])
      let file = try JSON.parse(
        try await data.export(acme, alice.id, by: .program(Instance.boss)).value)
      let messages = try #require(file["messages"]?.arrayValue)
      #expect(messages.count { $0["recipient"]?.textValue?.text == email } == 1)
      _ = try await data.erase(acme, alice.id, by: .program(Instance.boss, because: "asked"))
      try await instance.finishErasures()
      for (query, rows) in zip(kept, before) {
        #expect(try await instance.test.query(query) == rows, "\(query)")
      }
      let note = try await instance.log().first { $0.objectID == bob.id.text }?.note
      #expect(note == "bob@example.com called")
      for mark in [alice.id.text, Person.alice.email] {
        #expect(try await instance.tables(with: mark) == [], "\(mark)")
      }
      let rest = try await instance.test.query("SELECT recipient, purpose FROM outbox")
      #expect(rest.count == 1)
    }
  }
}
