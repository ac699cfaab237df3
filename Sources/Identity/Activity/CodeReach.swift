/// The last days on which a user's codes were at least each distance from the current interval.
///
/// Only accepted codes of an authenticator app at sign-in and confirmed near misses count.
struct CodeReach: Sendable, Equatable {
  /// The distances, in intervals.
  static let range = 0...10
  /// The number of digits of a day in the stored form.
  static let digits = 5

  /// The last day by distance, from 0 to the largest ever; days never increase with the distance.
  private(set) var days: [Int64]

  init(_ text: String?) {
    var days: [Int64] = []
    var day: Int64 = 0
    for (index, digit) in (text ?? "").utf8.enumerated() {
      day = day * 10 + Int64(digit) - Int64(UInt8(ascii: "0"))
      if index % Self.digits == Self.digits - 1 {
        days.append(day)
        day = 0
      }
    }
    self.days = days
  }

  var text: String? {
    guard !days.isEmpty else { return nil }
    var text = ""
    for day in days {
      let number = String(day)
      text += String(repeating: "0", count: Self.digits - number.utf8.count) + number
    }
    return text
  }

  /// Adds a code; codes of a user arrive in order of time.
  mutating func add(distance: Int, day: Int64) -> Bool {
    guard day >= days.first ?? 0, day < 100_000 else { return false }
    var isChanged = false
    for reach in 0...min(abs(distance), Self.range.upperBound) {
      if reach == days.count {
        days.append(day)
        isChanged = true
      } else if days[reach] < day {
        days[reach] = day
        isChanged = true
      }
    }
    return isChanged
  }

  /// Returns the largest distance on the user's last day; nil if that was another day.
  func reach(on day: Int64) -> Int? { days.lastIndex(of: day) }

  /// Returns the largest distance since the beginning of a day; nil if there were no codes.
  func reach(since day: Int64) -> Int? { days.lastIndex { $0 >= day } }
}
