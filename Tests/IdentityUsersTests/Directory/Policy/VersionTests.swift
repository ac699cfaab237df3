import Database
import Testing

@testable import Identity
@testable import TestIdentity

@Suite struct VersionTests {
  @Test func `each version has the policy after its change`() async throws {
    try await withInstance { instance in
      let policies = instance.identity.policies
      let edits: [@Sendable (inout PolicyEdit) -> Void] = [
        { $0.configuration = MFAConfiguration(state: .unspecified, smsEnabled: true) },
        {
          $0.configuration.totp = TOTPConfiguration(state: .mandatory, adjacentIntervals: nil)
          $0.pattern = .mandatory
          $0.mandatoryFrom = Day("2026-12-01")
        },
        { $0.configuration.totp?.adjacentIntervals = 0 },
        { $0.configuration.totp?.adjacentIntervals = 10 },
        { $0 = PolicyEdit(configuration: MFAConfiguration(), pattern: .stepUp) },
      ]
      var saved: [PolicyEdit] = []
      for edit in edits {
        instance.clock.advance(3)
        saved.append(
          try await policies.change(instance.east, by: .program(Instance.boss)) { edit(&$0) }.value
            .policy
            .edit)
      }
      let versions = try await policies.restorable(instance.east)
      #expect(versions.prefix(5).map(\.edit) == saved.reversed())
      let current = try await policies.read(instance.east).version
      #expect(versions.map(\.number).prefix(5) == (current - 4...current).reversed()[...])
      let third = versions[2]
      let found = try #require(try await policies.version(third.row.id, of: instance.east))
      #expect(found.edit == third.edit)
      #expect(try await policies.version(third.row.id, of: instance.west) == nil)
      #expect(try await policies.version(0, of: instance.east) == nil)
    }
  }

  @Test func `versions end where the audit log doesn't lead to the current policy`() async throws {
    try await withInstance { instance in
      for intervals in [1, 2, 3] { try await instance.setWindow(intervals) }
      try await instance.database.write { connection in
        _ = try connection.run(
          """
          UPDATE /* test */ scope SET totp_intervals = 7 WHERE scope_key = \(instance.acme.key)
          """)
      }
      #expect(try await instance.identity.policies.restorable(instance.acme).count == 1)
    }
  }

  @Test func `versions end at a change that wasn't recorded in fields`() async throws {
    try await withInstance { instance in
      for intervals in [1, 2, 3] { try await instance.setWindow(intervals) }
      try await instance.database.write { connection in
        _ = try connection.run(
          """
          DELETE /* test */ FROM audit_change
          WHERE audit_id = (SELECT audit_id FROM audit WHERE object_kind = 'policy'
            ORDER BY audit_id DESC LIMIT 1 OFFSET 1)
          """)
      }
      let versions = try await instance.identity.policies.restorable(instance.acme)
      #expect(versions.map(\.edit.configuration.totp?.adjacentIntervals) == [3, 2])
    }
  }

  @Test func `restoring a version is a change with the guards of any other`() async throws {
    try await withInstance { instance in
      try await instance.setWindow(9)
      try await instance.setWindow(1)
      let policies = instance.identity.policies
      let pia = try await instance.agent("pia", role: .policy)
      let versions = try await policies.restorable(instance.acme)
      let (edit, version) = (versions[1].edit, versions[0].number)
      await expect("writtenReasonRequired") {
        try await policies.change(instance.acme, expecting: version, by: .console(pia.request(nil)))
        { $0 = edit }
      }
      _ = try await policies.change(
        instance.acme, expecting: version, by: .console(pia.request(nil, note: "Too strict"))
      ) { $0 = edit }
      #expect(try await policies.read(instance.acme).edit == edit)
    }
  }
}
