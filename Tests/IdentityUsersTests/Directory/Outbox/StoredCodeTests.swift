import Testing

@testable import Identity

/// What columns hold in place of sentences.
struct StoredCodeTests {
  static let name = "a\"]\u{0}\n\\“\u{202E}🦄"
  static let until = Instant(microseconds: 1_795_252_320_000_001)

  /// Each kind as earlier versions stored it, whose rows wait during an upgrade, and later ones read it.
  static let notices: [(UserNotice, String)] = [
    (UserNotice(.factorWithdrawn, ["a"]), #"["notice-factor-withdrawn","a"]"#),
    (UserNotice(.factorsRemoved, ["a", "", "b"]), #"["notice-factors-removed","a","","b"]"#),
    (UserNotice(.factorReverted, ["a"]), #"["notice-factor-reverted","a"]"#),
    (UserNotice(.factorsAdded, ["a"]), #"["notice-factors-added","a"]"#),
    (UserNotice(.factorEnrolled, ["a"]), #"["notice-new-factor","a"]"#),
    (UserNotice(.factorsRestored, ["a"]), #"["notice-factors-restored","a"]"#),
    (
      UserNotice(.factorSuspended, ["a"], until: until),
      #"["notice-factor-suspended","a","1795252320000001"]"#
    ),
    (UserNotice(.factorResumed, ["a"]), #"["notice-factor-resumed","a"]"#),
    (UserNotice(.factorResynchronized, ["a"]), #"["notice-factor-resynchronized","a"]"#),
    (UserNotice(.clockOffsetCleared, ["a"]), #"["notice-clock-offset-cleared","a"]"#),
    (UserNotice(.factorRenamed, ["a", "b"]), #"["notice-factor-renamed","a","b"]"#),
    (UserNotice(.changesAllowed), #"["notice-changes-allowed"]"#),
    (UserNotice(.codesUnlocked), #"["notice-codes-unlocked"]"#),
    (UserNotice(.sessionsEnded), #"["notice-sessions-ended"]"#),
    (
      UserNotice(.temporaryCodeMade, until: until),
      #"["notice-temporary-code","1795252320000001"]"#
    ),
    (UserNotice(.temporaryCodeEnded), #"["notice-temporary-code-ended"]"#),
    (UserNotice(.recoveryCodesMade), #"["notice-recovery-codes"]"#),
    (UserNotice(.recoveryCodesVoided), #"["notice-recovery-codes-voided"]"#),
    (UserNotice(.recoveryCodeUsed, left: 3), #"["notice-recovery-code-used","3"]"#),
    (UserNotice(.enrollmentLinkSent), #"["notice-enrollment-link"]"#),
    (UserNotice(.factorEnrolledByLink, ["a"]), #"["notice-factor-enrolled","a"]"#),
    (UserNotice(.passwordChanged), #"["notice-password-changed"]"#),
    (UserNotice(.passwordSet), #"["notice-password-set"]"#),
    (UserNotice(.passwordRemoved), #"["notice-password-removed"]"#),
    (UserNotice(.phoneNumberSet), #"["notice-phone-number-set"]"#),
    (UserNotice(.phoneNumberRemoved), #"["notice-phone-number-removed"]"#),
    (UserNotice(.emailLinkAdded), #"["notice-email-link-added"]"#),
    (UserNotice(.providerLinked, ["a"]), #"["notice-provider-linked","a"]"#),
    (UserNotice(.providerUnlinked, ["a"]), #"["notice-provider-unlinked","a"]"#),
    (UserNotice(.emailChanged, ["a@b.example"]), #"["notice-email-changed","a@b.example"]"#),
    (UserNotice(.accountDeleted), #"["notice-account-deleted"]"#),
    (UserNotice(.ownAccountDeleted), #"["notice-own-account-deleted"]"#),
    (UserNotice(.manyChanges, until: until), #"["notice-many-changes","1795252320000001"]"#),
  ]

  @Test(arguments: notices)
  func `a change is stored and read in the form that every version knows`(
    notice: UserNotice, text: String
  ) {
    #expect(notice.stored == text)
    #expect(UserNotice(stored: text) == notice)
    #expect(ReportedChange.Fact(stored: text) == .notice(notice))
  }

  @Test
  func `every kind of change has its form, and is an alert if someone with a session can make it`()
  {
    #expect(Self.notices.map(\.0.kind) == UserNotice.Kind.allCases)
    let others: Set<UserNotice.Kind> = [
      .factorsRemoved, .factorsAdded, .factorsRestored, .factorSuspended, .factorResumed,
      .factorResynchronized, .clockOffsetCleared, .factorRenamed, .changesAllowed, .codesUnlocked,
      .sessionsEnded, .temporaryCodeMade, .temporaryCodeEnded, .recoveryCodesVoided,
      .enrollmentLinkSent, .passwordChanged, .emailChanged, .accountDeleted,
    ]
    #expect(UserNotice.Kind.allCases.filter { $0.isAlert == others.contains($0) } == [])
  }

  @Test func `any name is read as it was stored`() {
    for notice in [
      UserNotice(.factorRenamed, [Self.name, "b"]), UserNotice(.emailChanged, [Self.name]),
    ] {
      #expect(UserNotice(stored: notice.stored) == notice)
    }
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
