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
    case .enrollment: Message("Enrollment over time")
    case .removals: Message("Removals by reason")
    case .exemptions: Message("Exemptions")
    case .locked: Message("Locked users")
    case .factors: Message("Unused and old second factors, and shared secrets")
    }
  }

  /// The name, with what the report is about unless it's one pool.
  func name(about subject: ReportSubject) -> Message {
    switch subject {
    case .pool: name
    case .project: Message("{report} (with tenants)", ["report": .message(name)])
    case .instance: Message("{report} (all projects)", ["report": .message(name)])
    }
  }

  var explanation: Message {
    switch self {
    case .enrollment: Message("Enrolled users among all users over time.")
    case .removals: Message("Second factor removals, by reason and by who removed them.")
    case .exemptions:
      Message(
        """
        Users who are or were exempt from MFA, why, and who granted the exemption. Users deleted \
        since aren’t included; the audit log has their exemptions.
        """)
    case .locked: Message("Users whose codes are currently rejected without being checked.")
    case .factors:
      Message(
        """
        Second factors that have never been used, haven’t been used in 90 or 180 days, are over 1, \
        2, or 3 years old, or have the same secret as another user’s.
        """)
    }
  }

  var explanationOfAll: Message {
    switch self {
    case .removals:
      Message("Second factor removals in all projects, by reason and by who removed them.")
    case .exemptions: Message("Users who are exempt from MFA now, in all projects.")
    default: explanation
    }
  }

  var emptiness: Message {
    switch self {
    case .enrollment: Message("No data for this period yet.")
    case .removals: Message("No second factors were removed in this period.")
    case .exemptions: Message("No users were exempt from MFA in this period.")
    case .locked: Message("No users are locked.")
    case .factors: Message("No second factor meets this condition.")
    }
  }
}
