import Database
import Identity
import Testing

@testable import countersign

/// What Identity reports as a fact is a message to the operator.
struct OperatorTextTests {
  @Test(arguments: [
    (StartError.wrongProfile(.emulator), "Start with --profile emulator,"),
    (.migration(.unknown("m9999_later")), "migration m9999_later"),
    (.empty, "it isn't the one that belongs to the master key."),
    (.olderServer(["m1", "m2"]), "under it (m1, m2)."),
  ])
  func `a start that fails is explained`(error: StartError, part: String) {
    #expect(OperatorText.string(error.message).contains(part))
  }

  @Test func `a backup with rows that refer to none is damaged`() {
    #expect(
      OperatorText.string(BackupFault.orphans(["factor", "session"]).message)
        == "It's damaged: a row of factor refers to none, a row of session refers to none.")
  }

  @Test func `each kind of what is back has its own words`() {
    let kinds = RevivedState.Kind.allCases
    #expect(Set(kinds.map { OperatorText.string($0.message) }).count == kinds.count)
  }
}
