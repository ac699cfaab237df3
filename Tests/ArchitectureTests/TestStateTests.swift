import Testing

/// Tests create states with the rules that create them in production, so that no test is about a
/// state that can't exist.
struct TestStateTests {
  /// Why the tests of a file write rows with SQL.
  private enum Reason {
    /// Rows that are damaged or forged, or that no rule writes.
    case damage
    /// What a rule leaves, in a helper of many tests that depend on neither its steps nor their time.
    case shortcut
    /// Rows of another release.
    case formerFormat
    /// More rows than rules write in reasonable time.
    case volume
    /// Statements that are planned or checked.
    case plan
    /// A marker in every column.
    case marker
    /// What several rules leave about one address.
    case traces
  }

  /// The files that write rows, in `Tests`.
  private static let allowed: [String: Reason] = [
    "IdentityStaffTests/Staff/Administrators/ConsoleStorageTests.swift": .damage,
    "IdentityStaffTests/Staff/Administrators/OwnFactorTests.swift": .damage,
    "IdentityStaffTests/Staff/Administrators/SecondStepTests.swift": .damage,
    "IdentityStaffTests/Staff/Audit/AuditTests.swift": .damage,
    "TestIdentity/UseCases/UseCases+Server.swift": .damage,
    "IdentityStaffTests/Staff/AuditChain/AuditChainTests.swift": .damage,
    "IdentityStaffTests/Staff/AuditChain/AuditRetentionTests.swift": .damage,
    "IdentityStaffTests/Staff/AuditChain/AuditFileTests.swift": .damage,
    "IdentityStaffTests/Staff/AuditChain/AuditTamperingTests+Filing.swift": .damage,
    "IdentityStaffTests/Staff/AuditChain/AuditTamperingTests.swift": .damage,
    "IdentityStaffTests/Staff/Authorization/EndedSessionTests.swift": .damage,
    "IdentitySupportTests/Support/Bulk/BulkRemovalTests.swift": .damage,
    "IdentityStaffTests/Core/SharedDatabaseTests.swift": .damage,
    "IdentityStaffTests/Staff/ConsoleProvider/ProviderFactorTests.swift": .shortcut,
    "IdentityUsersTests/Users/Federation/IdentityProviderTests.swift": .damage,
    "IdentityStaffTests/Core/Keys/UnreadableSecretTests.swift": .damage,
    "IdentitySupportTests/Operations/Move/MoveTests.swift": .damage,
    "IdentityUsersTests/Users/OutOfBand/SendingTests.swift": .damage,
    "IdentityUsersTests/Directory/Outbox/InjectionTests.swift": .damage,
    "IdentityUsersTests/Directory/Policy/UnsaidIntervalsTests.swift": .damage,
    "IdentityUsersTests/Directory/Policy/VersionTests.swift": .damage,
    "IdentitySupportTests/Support/Reviews/PolicySetChangesTests.swift": .damage,
    "IdentitySupportTests/Support/Reviews/SignOffTests.swift": .damage,
    "IdentitySupportTests/Security/SealedSecretTests.swift": .damage,
    "TestIdentity/Agents.swift": .shortcut,
    "TestIdentity/ConnectedPools.swift": .shortcut,
    "TestIdentity/PasskeyOwners.swift": .damage,
    "ConsoleTests/Administration/KeptFormsTests.swift": .damage,
    "IdentitySupportTests/Support/Approvals/StoredChangeTests.swift": .formerFormat,
    "ConsoleTests/Audit/AuditPageTests.swift": .formerFormat,
    "ConsoleTests/FormTimesTests.swift": .formerFormat,
    "ConsoleTests/Review/SignOffChangesTests.swift": .damage,
    "ConsoleTests/Support/SampleInstances.swift": .formerFormat,
    "ConsoleTests/Support/World+Rules.swift": .shortcut,
    "ConsoleTests/SupportActions/IntentRowTests.swift": .shortcut,
    "ConsoleTests/Connections/ConnectionPageTests.swift": .shortcut,
    "IdentitySupportTests/Connections/IntentTests.swift": .shortcut,
    "IdentitySupportTests/Connections/WalkTests.swift": .shortcut,
    "CountersignTests/ConnectionTaskTests.swift": .shortcut,
    "IdentityToolkitAPITests/ConnectedProjectTests.swift": .shortcut,
    "IdentityToolkitAPITests/Support/Support.swift": .damage,
    "CountersignTests/DoctorTests.swift": .formerFormat,
    "IdentityUsersTests/Directory/Accounts/SearchTests.swift": .formerFormat,
    "IdentityUsersTests/Directory/Accounts/DeletionRuleTests.swift": .shortcut,
    "IdentityUsersTests/Directory/Accounts/MailboxTests.swift": .formerFormat,
    "IdentityUsersTests/Directory/Accounts/SearchUpgradeTests.swift": .formerFormat,
    "IdentityStaffTests/Staff/Administrators/InvitationTests.swift": .formerFormat,
    "IdentityStaffTests/Staff/Administrators/RoleMailTests.swift": .formerFormat,
    "IdentityStaffTests/Staff/Audit/AuditFactTests.swift": .formerFormat,
    "IdentityUsersTests/Directory/Outbox/EmailSenderTests.swift": .formerFormat,
    "IdentityStaffTests/Core/Keys/SecretDigestTests.swift": .formerFormat,
    "IdentitySupportTests/Operations/Restore/RestoreTests.swift": .formerFormat,
    "IdentitySupportTests/StartTests.swift": .formerFormat,
    "IdentitySupportTests/Operations/Upgrades/UpgradeTests.swift": .formerFormat,
    "IdentitySupportTests/Operations/Upgrades/SchemaCompatibilityTests.swift": .formerFormat,
    "IdentitySupportTests/Operations/Upgrades/SchemaObjectsTests.swift": .damage,
    "IdentityUsersTests/Directory/Activity/EnrollmentHistoryTests.swift": .volume,
    "IdentityStaffTests/Staff/Audit/AuditSearchTests.swift": .volume,
    "IdentityUsersTests/Directory/CodeAttempts/AgeingTests.swift": .volume,
    "IdentityUsersTests/Directory/CodeAttempts/CodeAttemptTests.swift": .volume,
    "IdentityStaffTests/Core/Keys/MasterKeyTests.swift": .volume,
    "IdentityUsersTests/Directory/Policy/InForceTests.swift": .volume,
    "IdentitySupportTests/Support/Reports/ReportTests.swift": .volume,
    "IdentityStaffTests/Core/CleanupTests.swift": .volume,
    "IdentitySupportTests/Support/StateMachine/StateMachineModel.swift": .volume,
    "IdentitySupportTests/Support/StateMachine/StateMachineTests+Actions.swift": .volume,
    "IdentitySupportTests/Support/FactorRemovals/UndoTests.swift": .volume,
    "IdentityUsersTests/Directory/Pools/ProjectDeletionTests.swift": .volume,
    "IdentitySupportTests/Security/QueryPlanTests.swift": .plan,
    "TestIdentity/Invariants.swift": .plan,
    "TestIdentity/Plans.swift": .plan,
    "IdentitySupportTests/Operations/Upgrades/MigrationPlanTests.swift": .plan,
    "IdentitySupportTests/Support/UserData/MarkedUser.swift": .marker,
    "IdentitySupportTests/Support/UserData/ReusedAddressTests.swift": .traces,
  ]

  @Test func `tests write no rows with SQL, except the listed ones`() throws {
    let files = try SourceTree.files(
      in: "Tests/IdentityStaffTests", "Tests/IdentityUsersTests", "Tests/IdentitySupportTests",
      "Tests/TestIdentity", "Tests/ConsoleTests", "Tests/IdentityToolkitAPITests",
      "Tests/CountersignTests")
    let writing = files.filter { !Self.breaches($0).isEmpty }
    let unknown = writing.filter { Self.allowed[String($0.path.dropFirst("Tests/".count))] == nil }
    #expect(unknown.flatMap(Self.breaches) == [])
    let unused = Set(Self.allowed.keys.map { "Tests/\($0)" }).subtracting(writing.map(\.path))
    #expect(unused == [], "unused entries")
  }

  @Test(arguments: [
    "run(\"INSERT INTO alert (alert_id) VALUES (1)\")",
    "run(\"INSERT /* test */ INTO alert (alert_id) VALUES (1)\")",
    "run(\"INSERT INTO /* test */ alert (alert_id) VALUES (1)\")",
    "run(\"UPDATE account SET disabled = 1\")",
    "run(\"UPDATE /* test */ account SET disabled = 1\")",
    "run(\"\"\"\n  UPDATE account\n  SET disabled = 1\n  \"\"\")",
    "run(\"UPDATE \\(table) SET a = 1\")", "run(\"DELETE FROM throttle\")",
    "run(\"DELETE /* test */ FROM throttle\")", "run(\"DELETE FROM \\(table)\")",
    "run(\"WITH RECURSIVE n (i) AS (SELECT 1) INSERT INTO audit (at) SELECT i FROM n\")",
  ])
  func `each violation is found`(_ text: String) {
    #expect(Self.breaches(SourceFile(path: "A.swift", text: "let a = 1\n\(text)")).count == 1)
  }

  @Test(arguments: [
    "run(\"SELECT updated_at FROM account\")", "/// Runs `DELETE FROM throttle`.",
    "addTrigger(\"full\", before: \"INSERT ON audit\")", "method(\"UPDATE\")",
  ])
  func `reads, comments, and triggers are no violations`(_ text: String) {
    #expect(Self.breaches(SourceFile(path: "A.swift", text: text)) == [])
  }

  /// Returns the statements that write rows; those of tests are marked with a comment.
  private static func breaches(_ file: SourceFile) -> [String] {
    guard ["INSERT", "UPDATE", "DELETE"].contains(where: file.text.contains) else { return [] }
    let code = file.lines.map { line in
      line.drop { $0 == " " }.hasPrefix("//") ? "" : line.replacing(#/\s?\/\*[^*]*\*\//#, with: "")
    }
    let text = code.joined(separator: "\n")
    let statement = /\b(?:INSERT\s+INTO|UPDATE\s+(?:\w+|\\\([^)]*\))\s+SET|DELETE\s+FROM)\s/
    return text.matches(of: statement).map { match in
      let line = text[..<match.range.lowerBound].count { $0 == "\n" }
      return file.breach(line, "a row written by SQL")
    }
  }
}
