import Identity
import Localization

extension Report {
  /// Whether the report lists users, so that its file requires the permission to export them, and
  /// is recorded.
  var listsUsers: Bool {
    switch self {
    case .exemptions, .locked, .factors: true
    case .enrollment, .removals: false
    }
  }

  var name: Message {
    switch self {
    case .enrollment: Message("reports.name-enrollment")
    case .removals: Message("reports.name-removals")
    case .exemptions: Message("reports.name-exemptions")
    case .locked: Message("reports.name-locked")
    case .factors: Message("reports.name-factors")
    }
  }

  /// The name, with what the report is about unless it's one pool.
  func name(about subject: ReportSubject) -> Message {
    switch subject {
    case .pool: name
    case .project: Message("reports.name-with-tenants", ["report": .message(name)])
    case .instance: Message("reports.name-all-projects", ["report": .message(name)])
    }
  }

  var explanation: Message {
    switch self {
    case .enrollment: Message("reports.explain-enrollment")
    case .removals: Message("reports.explain-removals")
    case .exemptions: Message("reports.explain-exemptions")
    case .locked: Message("reports.explain-locked")
    case .factors: Message("reports.explain-factors")
    }
  }

  var explanationOfAll: Message {
    switch self {
    case .removals: Message("reports.explain-all-removals")
    case .exemptions: Message("reports.explain-all-exemptions")
    default: explanation
    }
  }

  var emptiness: Message {
    switch self {
    case .enrollment: Message("reports.empty-enrollment")
    case .removals: Message("reports.empty-removals")
    case .exemptions: Message("reports.empty-exemptions")
    case .locked: Message("reports.empty-locked")
    case .factors: Message("reports.empty-factors")
    }
  }
}
