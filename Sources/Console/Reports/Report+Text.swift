import HTTP
import Identity
import Localization
import MailText
import Templating
import Text

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

enum EnrollmentStep: String, CaseIterable, Sendable {
  case day, week, month

  /// The interval in a query; a week without one.
  init(_ text: String?) { self = text.flatMap(Self.init(rawValue:)) ?? .week }

  var name: Message {
    switch self {
    case .day: Message("Daily")
    case .week: Message("Weekly")
    case .month: Message("Monthly")
    }
  }

  /// The times of the numbers, oldest first: 30 days, a year of weeks, or two years of months, each
  /// from its beginning, and the present.
  func instants(until now: Instant, _ times: Times) -> [Instant] {
    let today = times.calendarDay(of: now)
    let days: [Day] =
      switch self {
      case .day: times.days(30, until: now)
      case .week:
        stride(from: 364, through: 0, by: -7).map {
          Day(today.start.advanced(bySeconds: -86_400 * Int64($0)))
        }
      case .month:
        (0..<24).reversed().compactMap { ago in
          let month = today.year * 12 + today.month - 1 - ago
          let number = month % 12 + 1
          return Day("\(month / 12)-\(number < 10 ? "0" : "")\(number)-01")
        }
      }
    return days.filter { $0 < today }.map(times.start) + [now]
  }
}

enum FactorChoice: String, CaseIterable, Sendable {
  case unused90 = "unused-90"
  case unused180 = "unused-180"
  case old1 = "old-1"
  case old2 = "old-2"
  case old3 = "old-3"
  case neverUsed = "never-used"
  case sharedSecret = "shared-secret"

  /// The choice in a query; those unused for 90 days without one.
  init(_ text: String?) { self = text.flatMap(Self.init(rawValue:)) ?? .unused90 }

  var condition: FactorCondition {
    switch self {
    case .unused90: .unused(days: 90)
    case .unused180: .unused(days: 180)
    case .old1: .enrolled(years: 1)
    case .old2: .enrolled(years: 2)
    case .old3: .enrolled(years: 3)
    case .neverUsed: .neverUsed
    case .sharedSecret: .sharedSecret
    }
  }

  var name: Message {
    switch condition {
    case .neverUsed: Message("Never used")
    case .sharedSecret: Message("Same secret as another user")
    case .unused(let days):
      Message(
        one: "Unused for {count} day", other: "Unused for {count} days", ["count": .number(days)])
    case .enrolled(let years):
      Message(
        one: "Over {count} year old",
        other: "Over {count} years old", ["count": .number(years)])
    }
  }
}
