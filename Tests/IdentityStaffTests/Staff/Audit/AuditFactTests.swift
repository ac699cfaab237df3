import Crypto
import Database
import HostileText
@testable import Identity
import JSON
import Testing
import Text

@testable import TestIdentity

struct AuditFactTests {
  /// Values of every kind, including texts that look like the stored form of other values.
  static let values: [AuditValue] =
    [
      .absent, .number(0), .number(-7), .number(.max), .flag(true), .flag(false),
      .instant(Instant(microseconds: 1_234_567)), .duration(86_400), .secret, .list([]),
      .list([""]), .list(["a", "", "b"]), .list(["a\\n", "b\nc", "\\"]), .code("step-up"),
      .text(""), .text("none"), .text("a\nb"), .text("true"), .text("Caf\u{E9}"),
      .text("Cafe\u{301}"),
    ] + [Day("2026-12-01")].compactMap { $0.map { .day($0) } }

  @Test func `a value is equal to itself only`() {
    for (index, value) in Self.values.enumerated() {
      for (other, another) in Self.values.enumerated() {
        #expect((value == another) == (index == other), "\(value), \(another)")
      }
    }
  }

  @Test func `each kind of value survives a round trip through the table`() async throws {
    try await withInstance { instance in
      for value in Self.values {
        let row = try await instance.stored(AuditChange(.displayName, from: value, to: value))
        #expect(row.changes == [AuditChange(.displayName, from: value, to: value)])
      }
      for (old, new) in [(nil, .flag(true)), (.text("x"), nil), (nil, nil)]
        as [(AuditValue?, AuditValue?)]
      {
        let row = try await instance.stored(AuditChange(.disabled, from: old, to: new))
        #expect(row.changes == [AuditChange(.disabled, from: old, to: new)])
      }
    }
  }

  @Test func `factors are read back with their names and phone numbers`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      var change = AccountChange()
      let name = "a\nb\\n=\t“c”"
      change.factors = .replace([
        FactorEntry(id: device.factor.text, displayName: name),
        FactorEntry(phoneNumber: Instance.number),
      ])
      try await instance.identity.accounts.update(
        instance.acme, device.account.id, change, by: Instance.boss)
      let row = try #require(try await instance.log().first { $0.action == .accountChange })
      let factors = AuditRow.factors(row.new(.factors))
      #expect(factors.map(\.kind).contains(.phone) && factors.map(\.kind).contains(.totp))
      #expect(factors.contains { $0.phoneNumber == Instance.number && $0.displayName == nil })
      #expect(factors.contains { $0.id == device.factor.text && $0.phoneNumber == nil })
    }
  }

  @Test func `hostile text is read back byte for byte`() async throws {
    try await withInstance { instance in
      for text in [
        HostileText.marks(2_000), "<script>alert(1)</script>", "'; DROP TABLE audit; --",
        "\u{202E}abc\u{1B}[2J", "a; email: b", "\\\\n\n\\",
      ] {
        let change = AuditChange(.displayName, from: .text(text), to: .list([text, text]))
        let row = try await instance.stored(change)
        #expect(row.changes == [change])
      }
    }
  }

  @Test func `entries of an earlier version are read as text`() async throws {
    try await withInstance { instance in
      try await instance.database.write { connection in
        _ = try connection.run(
          """
          INSERT /* test */ INTO audit (at, actor_kind, actor_id, actor_name, project_id, tenant_id,
            action, object_kind, object_id, object_name, from_value, to_value, address, request_id)
          VALUES (1, 'robot', 'r', 'r', 'acme-app', '', 'policy.bend', 'spoon', 's', 's',
            'name: a', 'name: b', '', '')
          """)
      }
      let row = try #require(try await instance.log().first)
      #expect(row.action == nil && row.actionName == "policy.bend")
      #expect(row.object == nil && row.objectKind == "spoon")
      #expect(row.actor == nil && row.actorKind == "robot")
      #expect((row.legacyFrom, row.legacyTo) == ("name: a", "name: b"))
      #expect(row.changes.isEmpty)
    }
  }

  @Test func `entries with names of another version are found by them, before and after filing`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setWindow(3)
      try await instance.database.write { connection in
        let id = try connection.first(
          """
          INSERT /* test */ INTO audit (at, actor_kind, actor_id, actor_name, project_id, tenant_id,
            action, object_kind, object_id, object_name, address, request_id, filed)
          VALUES (\(instance.now), 'administrator', 'r', 'r', 'acme-app', '',
            'policy.bend', 'spoon', 's', 's', '', '', 0)
          RETURNING audit_id
          """
        ) { try $0.next() as Int64 }
        try connection.run(
          """
          INSERT /* test */ INTO audit_change (audit_id, position, field, old_kind, old_value,
            new_kind, new_value)
          VALUES (\(id), 0, 'mood', NULL, NULL, 'color', 'blue')
          """)
      }
      var filters: [AuditFilter] = []
      for pool in [nil, instance.acme] {
        var (byKind, byID) = (AuditFilter(pool: pool), AuditFilter(pool: pool, objectID: "s"))
        (byKind.objectKind, byID.objectKind) = ("spoon", "spoon")
        var (byAction, byField) = (AuditFilter(pool: pool), AuditFilter(pool: pool))
        byAction.action = .one("policy.bend")
        byField.fieldName = "mood"
        filters += [byKind, byID, byAction, byField]
      }
      var (group, changes) = (AuditFilter(pool: instance.acme), AuditFilter(pool: instance.acme))
      group.action = .any([.policyChange, .policyWiden, .policySignOff])
      changes.action = .any([.policyChange, .policyWiden])
      for _ in 0..<2 {
        for filter in filters {
          let found = try await instance.identity.audit.list(filter).items
          #expect(found.map(\.actionName) == ["policy.bend"], "\(filter)")
        }
        let ofGroup = try await instance.identity.audit.list(group).items.map(\.actionName)
        #expect(ofGroup == ["policy.bend", "policy.change", "policy.change"])
        let versions = try await instance.identity.audit.list(changes).items
        #expect(versions.map(\.actionName) == ["policy.change", "policy.change"])
        while try await instance.identity.audit.file() {}
      }
    }
  }

  @Test func `an action is found by its name and its former one, and keeps what's stored`()
    async throws
  {
    try await withInstance { instance in
      let (now, acme) = (instance.now, instance.acme)
      let entry = AuditEntry(.factorReport, .account, "uid-1", name: "Ada", in: acme)
      try await instance.database.write { connection in
        try entry.record(by: Instance.support, at: now, connection)
        _ = try connection.run(
          "UPDATE /* test */ audit SET action = 'factor.object' WHERE action = 'factor.report'")
        try entry.record(by: Instance.support, at: now, connection)
      }
      let actions: [AuditFilter.Action] = [
        .one("factor.report"), .one("factor.object"), .any([.factorReport, .factorRename]),
        .any([.factorReport, .accountLink]),
      ]
      for _ in 0..<2 {
        for action in actions {
          var filter = AuditFilter(pool: acme)
          filter.action = action
          let rows = try await instance.identity.audit.list(filter).items
          #expect(rows.map(\.actionName) == ["factor.report", "factor.object"], "\(action)")
          #expect(rows.map(\.action) == [.factorReport, .factorReport])
        }
        while try await instance.identity.audit.file() {}
      }
      try await instance.sealAll()
      let faults = try await instance.chain.verify().faults
      #expect(faults == [])
      var position = AuditFilePosition()
      let lines = try await instance.write(from: &position)
      let names = try lines.compactMap { try $0.json["action"]?.textValue?.text }
      #expect(names.filter { $0.hasPrefix("factor.") } == ["factor.object", "factor.report"])
    }
  }

  @Test func `a field written by a later version keeps its name`() async throws {
    try await withInstance { instance in
      try await instance.setWindow(3)
      try await instance.database.write { connection in
        _ = try connection.run(
          "UPDATE /* test */ audit_change SET field = 'mood', new_kind = 'color' WHERE new_value = '3'"
        )
      }
      let rows = try await instance.log()
      let row = try #require(rows.last { $0.changes.contains { $0.field == nil } })
      #expect(row.changes.map(\.fieldName).contains("mood"))
      #expect(row.changes.first?.new == .text("3"))
    }
  }

  @Test func `setting a current value again isn't audited`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let (identity, account) = (instance.identity, try await instance.reload(device.account))
      let before = try await instance.factCounts()
      _ = try await identity.policies.change(instance.acme, by: .program(Instance.boss)) { edit in
        edit.configuration = edit.configuration
      }
      _ = try await identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) {
        edit in
        edit.displayName = edit.displayName
        edit.project = edit.project
        edit.passwords = edit.passwords
        edit.signIn = edit.signIn
      }
      _ = try await identity.pools.update(
        project: instance.acme.project, tenant: instance.east.tenant,
        by: .program(Instance.boss)
      ) { $0.displayName = $0.displayName }
      try await instance.setSupportRules { $0.codeCap = $0.codeCap }
      for set in Self.settings(of: account) {
        var change = AccountChange()
        set(&change)
        try await identity.accounts.update(instance.acme, account.id, change, by: Instance.boss)
        #expect(try await instance.factCounts() == before)
      }
      #expect(try await instance.factCounts() == before)
    }
  }

  /// Sets each field of an account to its value.
  private static func settings(of account: Account) -> [@Sendable (inout AccountChange) -> Void] {
    [
      { $0.email = account.email.map { .set($0) } ?? .clear },
      { $0.emailVerified = account.emailVerified },
      { $0.displayName = account.displayName.map { .set($0) } ?? .clear },
      { $0.photoURL = account.photoURL.map { .set($0) } ?? .clear },
      { $0.phoneNumber = account.phoneNumber.map { .set($0) } ?? .clear },
      { $0.disabled = account.disabled }, { $0.createdAt = account.createdAt },
      {
        $0.factors = .replace(
          account.factors.map { FactorEntry(id: $0.id.text, displayName: $0.displayName) })
      },
    ]
  }

  @Test func `an audit entry stores each of its fields once`() async throws {
    try await withInstance { instance in
      let before = try await instance.factCounts()
      let dora = try await instance.administrator()
      let created = try await instance.factCounts()
      #expect(created.entries == before.entries + 1 && created.fields == before.fields + 2)
      let new = try await instance.consoleSession()
      try await instance.identity.consoleSessions.end(new.session, by: instance.author(dora))
      let after = try await instance.factCounts()
      #expect(after.entries == created.entries + 2 && after.fields == created.fields)
    }
  }

  @Test func `enrollments and removals can be filtered separately`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let agent = try await instance.agent()
      _ = try await instance.identity.factorRemovals.remove(
        instance.acme, device.account.id, device.factor, agent.request())
      let removals: [AuditAction] = [.factorRemove, .factorRemoveAll, .factorRevert]
      for (actions, action) in [
        ([.factorEnroll, .factorSendLink], AuditAction.factorEnroll), (removals, .factorRemove),
      ] {
        var filter = AuditFilter(pool: instance.acme)
        filter.action = .any(actions)
        #expect(try await instance.identity.audit.list(filter).items.map(\.action) == [action])
        filter.fieldName = "factors"
        #expect(try await instance.identity.audit.list(filter).items.map(\.action) == [action])
        filter.fieldName = "email"
        #expect(try await instance.identity.audit.list(filter).items.isEmpty)
      }
    }
  }

  @Test func `a filter by field pages through the index of fields`() async throws {
    try await withInstance { instance in
      for number in 0..<25 { try await instance.setWindow(number % 11) }
      while try await instance.identity.audit.file() {}
      for number in 0..<3 { try await instance.setWindow(number) }
      var filter = AuditFilter()
      filter.fieldName = "adjacent-intervals"
      let all = try await instance.wholeLog().filter { $0.fields.contains(.adjacentIntervals) }
      var (seen, after): ([Int64], String?) = ([], nil)
      repeat {
        let page = try await instance.identity.audit.list(filter, after: after, limit: 4)
        seen += page.items.map(\.id)
        after = page.next
      } while after != nil
      #expect(seen == all.map(\.id))
    }
  }
}

extension Instance {
  /// Writes an entry with one field and reads it back.
  fileprivate func stored(_ change: AuditChange) async throws -> AuditRow {
    try await identity.store.write { [acme, now] connection in
      var entry = AuditEntry(.accountChange, .account, "x", name: "x", in: acme)
      entry.add(change)
      try entry.record(by: Instance.boss, at: now, connection)
    }
    return try #require(try await log().first)
  }

  /// Counts the stored entries and fields.
  fileprivate func factCounts() async throws -> FactCounts {
    try await database.read { connection in
      try connection.first(
        """
        SELECT /* test */ (SELECT count(*) FROM audit), (SELECT count(*) FROM audit_change)
        """
      ) { FactCounts(entries: try $0.next(), fields: try $0.next()) }
    } ?? FactCounts(entries: 0, fields: 0)
  }
}

private struct FactCounts: Equatable {
  let entries: Int
  let fields: Int
}
