import HTTP
import Identity
import Localization
import MailText
import Templating
import Text

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
