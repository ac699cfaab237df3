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
    "IdentityTests/Administrators/ConsoleStorageTests.swift": .damage,
    "IdentityTests/Administrators/OwnFactorTests.swift": .damage,
    "IdentityTests/Administrators/SecondStepTests.swift": .damage,
    "IdentityTests/Audit/AuditTests.swift": .damage,
    "IdentityTests/Audit/UseCases+Server.swift": .damage,
    "IdentityTests/AuditChain/AuditChainTests.swift": .damage,
    "IdentityTests/AuditChain/AuditRetentionTests.swift": .damage,
    "IdentityTests/AuditFile/AuditFileTests.swift": .damage,
    "IdentityTests/AuditChain/AuditTamperingTests+Filing.swift": .damage,
    "IdentityTests/AuditChain/AuditTamperingTests.swift": .damage,
    "IdentityTests/Authorization/EndedSessionTests.swift": .damage,
    "IdentityTests/Bulk/BulkRemovalTests.swift": .damage,
    "IdentityTests/Core/SharedDatabaseTests.swift": .damage,
    "IdentityTests/ConsoleProvider/ProviderFactorTests.swift": .shortcut,
    "IdentityTests/Federation/IdentityProviderTests.swift": .damage,
    "IdentityTests/Keys/UnreadableSecretTests.swift": .damage,
    "IdentityTests/Move/MoveTests.swift": .damage,
    "IdentityTests/OutOfBand/SendingTests.swift": .damage,
    "IdentityTests/Outbox/InjectionTests.swift": .damage,
    "IdentityTests/Policy/VersionTests.swift": .damage,
    "IdentityTests/Reviews/PolicySetChangesTests.swift": .damage,
    "IdentityTests/Reviews/SignOffTests.swift": .damage,
    "IdentityTests/Security/SealedSecretTests.swift": .damage,
    "IdentityTests/Support/Agents.swift": .shortcut,
    "IdentityTests/Support/PasskeyOwners.swift": .damage,
    "ConsoleTests/Administration/KeptFormsTests.swift": .damage,
    "IdentityTests/Approvals/StoredChangeTests.swift": .formerFormat,
    "ConsoleTests/Audit/AuditPageTests.swift": .formerFormat,
    "ConsoleTests/FormTimesTests.swift": .formerFormat,
    "ConsoleTests/Review/SignOffChangesTests.swift": .damage,
    "ConsoleTests/Support/SampleInstances.swift": .formerFormat,
    "ConsoleTests/Support/World+Rules.swift": .shortcut,
    "IdentityToolkitAPITests/Support/Support.swift": .damage,
    "CountersignTests/DoctorTests.swift": .formerFormat,
    "IdentityTests/Accounts/SearchTests.swift": .formerFormat,
    "IdentityTests/Accounts/DeletionRuleTests.swift": .shortcut,
    "IdentityTests/Accounts/MailboxTests.swift": .formerFormat,
    "IdentityTests/Accounts/SearchUpgradeTests.swift": .formerFormat,
    "IdentityTests/Administrators/InvitationTests.swift": .formerFormat,
    "IdentityTests/Administrators/RoleMailTests.swift": .formerFormat,
    "IdentityTests/Audit/AuditFactTests.swift": .formerFormat,
    "IdentityTests/Outbox/EmailSenderTests.swift": .formerFormat,
    "IdentityTests/Keys/SecretDigestTests.swift": .formerFormat,
    "IdentityTests/Restore/RestoreTests.swift": .formerFormat,
    "IdentityTests/Start/StartTests.swift": .formerFormat,
    "IdentityTests/Start/UpgradeTests.swift": .formerFormat,
    "IdentityTests/Upgrades/SchemaCompatibilityTests.swift": .formerFormat,
    "IdentityTests/Upgrades/SchemaObjectsTests.swift": .damage,
    "IdentityTests/Activity/EnrollmentHistoryTests.swift": .volume,
    "IdentityTests/Audit/AuditSearchTests.swift": .volume,
    "IdentityTests/CodeAttempts/AgeingTests.swift": .volume,
    "IdentityTests/CodeAttempts/CodeAttemptTests.swift": .volume,
    "IdentityTests/Keys/MasterKeyTests.swift": .volume,
    "IdentityTests/Policy/InForceTests.swift": .volume,
    "IdentityTests/Reports/ReportTests.swift": .volume,
    "IdentityTests/Start/CleanupTests.swift": .volume,
    "IdentityTests/SupportActions/StateMachine/StateMachineModel.swift": .volume,
    "IdentityTests/SupportActions/StateMachine/StateMachineTests+Actions.swift": .volume,
    "IdentityTests/SupportActions/UndoTests.swift": .volume,
    "IdentityTests/Pools/ProjectDeletionTests.swift": .volume,
    "IdentityTests/Security/QueryPlanTests.swift": .plan,
    "IdentityTests/Support/Invariants.swift": .plan,
    "IdentityTests/Support/Plans.swift": .plan,
    "IdentityTests/Upgrades/MigrationPlanTests.swift": .plan,
    "IdentityTests/UserData/MarkedUser.swift": .marker,
    "IdentityTests/UserData/ReusedAddressTests.swift": .traces,
  ]

  @Test func `tests write no rows with SQL, except the listed ones`() throws {
    let files = try SourceTree.files(
      in: "Tests/IdentityTests", "Tests/ConsoleTests", "Tests/IdentityToolkitAPITests",
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
