import Database
import Testing

@testable import Identity
@testable import TestIdentity

/// What an upgrade drops is listed before, counted in the audit log, and shown to owners.
struct DroppedSettingsTests {
  @Test func `an upgrade lists what it drops, and records it once`() async throws {
    try await ReleasedDatabase.with { released in
      var dropped: [DroppedSetting] = []
      let identity = try released.identity()
      let planned = try await MigrationPlan.estimate(released.database).dropped
      let first = try await identity.prepare(creates: false, dropping: { dropped.append($0) })
      let report = try #require(first)
      #expect(dropped == planned)
      #expect(
        report.dropped == [
          .scheduledChange: 1, .policyTemplate: 1, .eventStream: 1, .reportSubscription: 2,
          .groupedRemoval: 1, .bouncedAddress: 1, .note: 2,
        ])
      #expect(Dictionary(grouping: dropped, by: \.kind).mapValues(\.count) == report.dropped)
      let change = try #require(dropped.first { $0.kind == .scheduledChange })
      #expect(change.project == "acme-app" && change.tenant == "" && change.author == "Ada")
      #expect(change.policy?.configuration.totp?.adjacentIntervals == 3)
      #expect(change.at?.rfc3339Milliseconds.hasPrefix("2027-06-01") == true)
      let rows = try await identity.audit.list(limit: 100).items.filter {
        $0.action == .instanceUpgrade
      }
      try #require(rows.count == 1)
      #expect(rows[0].new(.notesDropped) == .number(2))
      #expect(rows[0].new(.migrations) == .number(report.migrations))
      // A second start upgrades nothing.
      let again = try await identity.prepare(creates: false, dropping: { dropped.append($0) })
      #expect(again == nil && dropped == planned)
    }
  }

  @Test func `what was counted before an interruption is recorded by the next start`()
    async throws
  {
    try await ReleasedDatabase.with { released in
      let identity = try released.identity()
      let migrations = Identity.migrations(for: released.database.dialect)
      let pending = ([migrations.upgrade] + migrations.later).map(\.name)
      #expect(try await Upgrade.begin(pending, identity.store).count == 9)
      let first = Migrations(
        baseline: migrations.baseline, upgrade: migrations.upgrade, from: migrations.upgradable)
      try await released.database.migrate(first, at: 0)
      let report = try await identity.prepare(creates: false)
      #expect(report?.dropped[.note] == 2)
    }
  }

  @Test func `owners see what was dropped for 30 days`() async throws {
    try await withInstance { instance in
      let begun = StoredCode("begun", ["2", "notes=3"]).text
      try await instance.database.write { try InstanceValue("upgrade").store(begun, $0) }
      let (owner, agent) = (
        try await instance.administrator("olive", .owner),
        try await instance.administrator("stan", .support)
      )
      #expect(try await instance.identity.droppedByUpgrade(visibleTo: owner) == nil)
      try await instance.identity.prepare(creates: false)
      #expect(try await instance.identity.droppedByUpgrade(visibleTo: owner)?.dropped == [.note: 3])
      #expect(try await instance.identity.droppedByUpgrade(visibleTo: agent) == nil)
      instance.clock.advance(UpgradeReport.shown)
      #expect(try await instance.identity.droppedByUpgrade(visibleTo: owner) == nil)
    }
  }

  @Test(arguments: [
    ("archive", "archive"), ("log.example.com:6514", "log.example.com:6514"),
    ("https://me:hunter2@example.com:8443/in?token=hunter2#x", "https://example.com:8443"),
    ("https://example.com", "https://example.com"), ("https://", "https://"),
  ])
  func `the target of a stream is shown without what can be secret`(target: String, shown: String) {
    #expect(DroppedSetting.withoutCredentials(target) == shown)
  }
}
