import Database
import Foundation
import Identity
import Testing

@testable import countersign

/// Tests for the operator messages of errors that Identity reports as facts.
struct OperatorTextTests {
  @Test(arguments: [
    (StartError.wrongProfile(.emulator), "Add --profile emulator,"),
    (.migration(.unknown("m9999_later")), "migration m9999_later"),
    (.empty, "it isn't the one that belongs to the master key."),
    (.olderServer(["m1", "m2"]), "uses it (m1, m2)."),
  ])
  func `a start that fails is explained`(error: StartError, part: String) {
    #expect(OperatorText.string(error.message).contains(part))
  }

  @Test func `a backup with rows that refer to missing ones is damaged`() {
    let damage = """
      It's damaged: a row in factor refers to a missing row, a row in session refers to a \
      missing row.
      """
    #expect(OperatorText.string(BackupFault.orphans(["factor", "session"]).message) == damage)
  }

  @Test(arguments: [
    (Grant(role: .owner), "owner (instance)"),
    (Grant(role: .policy, project: ID("acme")), "policy (acme)"),
    (Grant(role: .support, project: ID("acme"), tenant: ID("eu-1")), "support (acme / eu-1)"),
  ])
  func `a role has its scope in parentheses, as on pages`(grant: Grant, text: String) {
    #expect(OperatorText.string(grant.message) == text)
  }

  @Test func `an error of Foundation has the reason of the system`() async throws {
    try await withFolder { folder in
      try "".write(toFile: "\(folder)/file", atomically: false, encoding: .utf8)
      let error = try #require(throws: ConfigurationError.self) {
        try DataFolder(path: "\(folder)/file/data").prepare()
      }
      #expect(
        "\(error)" == "The data folder \(folder)/file/data can't be created: Not a directory")
    }
  }

  @Test func `each kind of restored item has its own text`() {
    let kinds = RevivedState.Kind.allCases
    #expect(Set(kinds.map { OperatorText.string($0.message) }).count == kinds.count)
  }
}
