public import Identity
public import Localization

extension ReportMail {
  private var place: Message.Value {
    switch about {
    case .pool(let scope): scope.place
    case .project(let scope):
      .message(Message("mail.project-with-tenants", ["project": scope.place]))
    case .instance:
      summary.report.coversPools
        ? .message(Message("mail.all-projects")) : .message(Message("common.the-instance"))
    }
  }

  var subject: Message {
    Message("mail.subject-report", ["report": .message(summary.report.name), "place": place])
  }

  var body: Message {
    Message(
      "mail.report",
      [
        "report": .message(summary.report.name), "place": place,
        "summary": .message(summary.sentence(rhythm)), "link": .text(link),
        "rhythm": .message(rhythm.sentence), "reports": .text(reports),
      ])
  }
}

extension Report {
  /// The report's name.
  public var name: Message {
    switch self {
    case .enrollment: Message("mail.report-enrollment")
    case .removals: Message("mail.report-removals")
    case .exemptions: Message("mail.report-exemptions")
    case .locked: Message("mail.report-locked")
    case .factors: Message("mail.report-factors")
    case .access: Message("mail.report-access")
    case .dormantAdministrators: Message("mail.report-dormant")
    }
  }
}

extension ReportSubscription.Rhythm {
  fileprivate var sentence: Message {
    switch self {
    case .weekly: Message("mail.report-weekly")
    case .monthly: Message("mail.report-monthly")
    }
  }
}

extension ReportSummary {
  private static func exempt(_ count: Int) -> Message {
    Message("mail.report-exemptions-count", ["count": .number(count)])
  }

  fileprivate func sentence(_ rhythm: ReportSubscription.Rhythm) -> Message {
    let days = Message.Value.number(rhythm.days)
    switch self {
    case .enrollment(let enrolled, let users, let before?, let exempt):
      return Message(
        "mail.report-enrollment-before",
        [
          "enrolled": .number(enrolled), "count": .number(users), "before": .number(before),
          "days": days, "exempt": .message(Self.exempt(exempt)),
        ])
    case .enrollment(let enrolled, let users, before: nil, let exempt):
      return Message(
        "mail.report-enrollment-now",
        [
          "enrolled": .number(enrolled), "count": .number(users),
          "exempt": .message(Self.exempt(exempt)),
        ])
    case .removals(let count):
      return Message("mail.report-removals-count", ["count": .number(count), "days": days])
    case .exemptions(let count):
      return Self.exempt(count)
    case .locked(let count):
      return Message("mail.report-locked-count", ["count": .number(count)])
    case .factors(let count, let unused, let never, let shared):
      return Message(
        "mail.report-factors-count",
        [
          "count": .number(count), "days": .number(unused),
          "never": .message(Message("mail.report-factors-never-used", ["count": .number(never)])),
          "shared": .message(Message("mail.report-factors-shared", ["count": .number(shared)])),
        ])
    case .access(let count, let roles, let dormant, let unused):
      return Message(
        "mail.report-access-count",
        [
          "count": .number(count),
          "roles": .message(Message("mail.report-roles", ["count": .number(roles)])),
          "dormant": .message(
            Message(
              "mail.report-dormant-among", ["count": .number(dormant), "days": .number(unused)])),
        ])
    case .dormantAdministrators(let count, let never, let invitations, let unused):
      return Message(
        "mail.report-dormant-count",
        [
          "count": .number(count), "days": .number(unused),
          "never": .message(
            Message("mail.report-never-signed-in", ["count": .number(never)])),
          "invitations": .message(
            Message("mail.report-open-invitations", ["count": .number(invitations)])),
        ])
    }
  }
}
