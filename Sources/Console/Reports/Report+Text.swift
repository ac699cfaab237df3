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

extension ChartWindow {
  /// The beginnings of its days, or of every seventh day of a year, and the present.
  func instants(until now: Instant, _ times: Times) -> [Instant] {
    let step = self == .year ? 7 : 1
    return stride(from: days % step, to: days, by: step).map {
      times.start(ofDays: days + 1 - $0, until: now)
    } + [now]
  }

  /// The first and the last day, for an axis.
  func ends(_ instants: [Instant], _ times: Times) -> [ChartTick] {
    ChartTick.points(
      [instants[0], instants[instants.count - 1]].map(times.calendarDay).map { day in
        .value(self == .year ? Times.month(day) : Times.short(day))
      })
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

  /// The choices for a pool: only ages if the server doesn't know when factors are used.
  static func all(in pool: Pool) -> [Self] {
    pool.offers.contains(.secrets) ? allCases : [.old1, .old2, .old3]
  }

  /// The choice in a query; the first one without one.
  init(_ text: String?, among all: [Self]) {
    let choice = text.flatMap(Self.init(rawValue:))
    self = choice.flatMap { all.contains($0) ? $0 : nil } ?? all[0]
  }

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
