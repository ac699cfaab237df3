import Testing

@testable import Identity

/// What columns hold in place of sentences.
struct StoredCodeTests {
  static let name = "a\"]\u{0}\n\\“\u{202E}🦄"
  static let until = Instant(microseconds: 1_795_252_320_000_001)

  @Test(arguments: [
    UserNotice.factorWithdrawn(name: name), .factorsRemoved(names: [name, "", "b"]),
    .factorReverted(name: name), .factorsAdded(names: ["a"]), .factorEnrolled(name: name),
    .factorsRestored(names: [name]), .factorSuspended(name: name, until: until),
    .factorResumed(name: name), .factorResynchronized(name: name),
    .clockOffsetCleared(name: name), .factorRenamed(from: name, to: "b"), .changesAllowed,
    .codesUnlocked, .sessionsEnded, .temporaryCodeMade(until: until), .temporaryCodeEnded,
    .recoveryCodesMade, .recoveryCodesVoided, .recoveryCodeUsed(left: 3), .enrollmentLinkSent,
    .factorEnrolledByLink(name: name), .passwordChanged, .providerLinked(name: name),
    .passwordSet, .passwordRemoved, .phoneNumberSet, .phoneNumberRemoved, .emailLinkAdded,
    .providerUnlinked(name: name), .emailChanged(from: name), .accountDeleted, .ownAccountDeleted,
    .manyChanges(until: until),
  ])
  func `a change is read as it was stored`(notice: UserNotice) {
    #expect(UserNotice(stored: notice.stored) == notice)
    #expect(ReportedChange.Fact(stored: notice.stored) == .notice(notice))
  }

  @Test(arguments: [
    "the second factor “phone” was removed", "", "[]", "[1]", #"["unknown"]"#, "null",
    #"["notice-recovery-code-used","many"]"#, #"["notice-temporary-code"]"#,
  ])
  func `other text is kept`(text: String) {
    #expect(ReportedChange.Fact(stored: text) == .clause(text))
    #expect(BulkEnding(stored: text) == .text(text))
    #expect(DeliveryProblem(stored: text) == .response(text))
    #expect(ApprovalObstacle(stored: text) == nil)
  }

  @Test(arguments: [
    BulkEnding.refused(by: name, answer: name), .withdrawn(by: name), .expired,
    .overtaken(.factorGone), .stopped(by: name), .poolDeleted, .permissionLost, .restored,
    .text("Stopped by omar."),
  ])
  func `an ending is read as it was stored`(ending: BulkEnding) {
    #expect(BulkEnding(stored: ending.stored) == ending)
  }

  @Test(arguments: [
    DeliveryProblem.undecryptable, .invalidRecipient, .restored, .invalidField("Subject"),
    .quoted(code: "554"), .quoted(code: ""),
    .response("451 Later"), .response(#"["undecryptable"]"#), .response(#"["response","x"]"#),
  ])
  func `a mail server cannot imitate a code`(problem: DeliveryProblem) {
    #expect(DeliveryProblem(stored: problem.stored) == problem)
  }

  @Test(arguments: ApprovalObstacle.allCases)
  func `an obstacle is read as it was stored`(obstacle: ApprovalObstacle) {
    #expect(ApprovalObstacle(stored: obstacle.stored) == obstacle)
  }
}
