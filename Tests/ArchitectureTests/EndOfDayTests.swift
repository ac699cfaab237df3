import Testing

/// Ends that are chosen by their last day are shown as that day, wherever they're shown; in the audit
/// log as its last minute.
struct EndOfDayTests {
  /// The values that are ends of days.
  private static let ends = ["endsAt", "suspendedUntil", "grantEndsAt", "grantEnds", "exemptUntil"]

  /// The files that show one, with the number of their lines that do.
  private static let places = [
    "Sources/Console/Administrators/AdministratorPage.swift": 1,
    "Sources/Console/Administrators/ChangeGrantEnd.swift": 2,
    "Sources/Console/Shared/GrantText.swift": 1,
    "Sources/Console/Shared/ExemptionTable.swift": 2,
    "Sources/Console/Administrators/InvitationPage.swift": 1,
    "Sources/Console/Shared/AuditFormatter.swift": 1,
    "Sources/Console/Exemptions/ExemptUser.swift": 1,
    "Sources/Console/Factors/SuspendFactor.swift": 1,
    "Sources/Console/Projects/ProjectsPage.swift": 1,
    "Sources/Console/Reports/ReportCards.swift": 1,
    "Sources/Console/Reports/ReportContent.swift": 2,
    "Sources/Console/Reports/ReportPage.swift": 1,
    "Sources/Console/SignInSimulator/SignInSimulatorCase.swift": 1,
    "Sources/Console/Users/DiagnosisView.swift": 2,
    "Sources/Console/Users/UserSupport.swift": 1,
    "Sources/Console/Users/UserRow.swift": 1,
    "Sources/MailText/GrantMail+Text.swift": 1,
    "Sources/MailText/NoticeMail+Text.swift": 1,
    "Sources/MailText/ReportedChange+Text.swift": 1,
  ]

  @Test func `no end of a day is shown as the moment after it`() throws {
    let breaches = try SourceTree.files(in: "Sources/Console", "Sources/MailText").flatMap { file in
      file.lines.enumerated().compactMap { number, line in
        Self.showsMomentAfter(line) ? file.breach(number, "use end or endValue") : nil
      }
    }
    #expect(breaches == [])
  }

  @Test func `every place that shows an end of a day is listed`() throws {
    var found: [String: Int] = [:]
    for file in try SourceTree.files(in: "Sources/Console", "Sources/MailText") {
      let lines = file.lines.filter {
        $0.contains("nd")
          && $0.contains(
            /[tT]imes\.end(?:Value)?\b|\.exactEndValue\(moment\)|\.end\((?:(?:notice\.)?until|exemption\.endsAt)\)|\{ \.end\(/
          )
      }
      if !lines.isEmpty { found[file.path] = lines.count }
    }
    #expect(found == Self.places)
  }

  @Test func `a moment after the end is found`() {
    #expect(Self.showsMomentAfter("Fact(title, times.moment(exemption.endsAt)),"))
    #expect(Self.showsMomentAfter("grant.grantEndsAt.map { times.value($0) }"))
    #expect(!Self.showsMomentAfter("Fact(title, times.end(exemption.endsAt)),"))
  }

  private static func showsMomentAfter(_ line: some StringProtocol) -> Bool {
    let line = String(line)
    return ends.contains { line.contains($0) }
      && (line.contains(/\.(?:moment|value|second|past|day)\([\w.$]*(?:[eE]nds(?:At)?|Until)\b/)
        || line.contains(
          /(?:[eE]nds(?:At)?|Until)(?:\[\w+\])?\.map ?[({][^,]*\.(?:moment|value|second|past|day)\b/
        ))
  }
}
