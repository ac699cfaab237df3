import Localization

enum Formatted {
  /// A duration: `30 s`, `5 min`, `5 min 30 s`, `1 h`.
  static func duration(seconds: Int) -> Message {
    if seconds >= 3_600, seconds % 3_600 == 0 {
      return Message("{hours}\u{A0}h", ["hours": .number(seconds / 3_600)])
    }
    let (minutes, rest) = seconds.quotientAndRemainder(dividingBy: 60)
    if minutes == 0 { return Message("{seconds}\u{A0}s", ["seconds": .number(rest)]) }
    return rest == 0
      ? Message("{minutes}\u{A0}min", ["minutes": .number(minutes)])
      : Message(
        "{minutes}\u{A0}min {seconds}\u{A0}s",
        ["minutes": .number(minutes), "seconds": .number(rest)])
  }

  /// A duration in hours, or in days if it's a multiple of more than one day: `36 hours`, `3 days`.
  static func hours(_ hours: Int) -> Message {
    hours % 24 == 0 && hours > 24
      ? Message(one: "{count} day", other: "{count} days", ["count": .number(hours / 24)])
      : Message(one: "{count} hour", other: "{count} hours", ["count": .number(hours)])
  }

  static func short(_ name: String, _ limit: Int = 80) -> String {
    guard name.utf8.count > limit, name.count > limit else { return name }
    return name.prefix(limit - 1) + "…"
  }
}
