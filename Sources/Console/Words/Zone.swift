import Foundation
import Identity
import Synchronization

/// A time zone's distance from UTC at a moment.
///
/// Foundation is asked once for each stretch of time between two changes of a clock; asking for
/// each line of a list would cost more than the line.
final class Zone: Sendable {
  /// The distance in seconds, and how the zone's clocks are named then.
  struct Offset: Sendable {
    let seconds: Int64
    /// ` UTC+1`, with the blank in front.
    let label: [UInt8]
  }

  private struct Stretch: Sendable {
    let range: Range<Int64>
    let offset: Offset
  }

  private let zone: TimeZone
  private let stretches = Mutex<[Stretch]>([])

  private init(_ zone: TimeZone) { self.zone = zone }

  private static let known = Mutex<[String: Zone]>([:])

  /// The zone with an IANA name; nil for UTC and for names that nobody knows.
  static func named(_ name: String) -> Zone? {
    guard name != "UTC" else { return nil }
    return known.withLock { known in
      if let zone = known[name] { return zone }
      guard let found = TimeZone(identifier: name) else { return nil }
      let zone = Zone(found)
      known[name] = zone
      return zone
    }
  }

  /// Every name that can be chosen: UTC first.
  ///
  /// Foundation lists India under a name that the IANA gave up in 1993, and knows the other too.
  static let names =
    ["UTC"]
    + (TimeZone.knownTimeZoneIdentifiers.filter { $0.contains("/") && $0 != "Asia/Calcutta" }
    + ["Asia/Kolkata"]).sorted()

  /// The distance at a moment.
  func offset(at instant: Instant) -> Offset {
    let seconds = instant.seconds
    return stretches.withLock { stretches in
      if let found = stretches.first(where: { $0.range.contains(seconds) }) { return found.offset }
      let date = Date(timeIntervalSince1970: Double(seconds))
      let offset = Self.offset(zone.secondsFromGMT(for: date))
      let change = zone.nextDaylightSavingTimeTransition(after: date)
      // A year at most: rules of governments are no law of nature.
      let end = min(change.map { Int64($0.timeIntervalSince1970) } ?? .max, seconds + 31_536_000)
      if stretches.count >= 64 { stretches.removeAll() }
      if end > seconds { stretches.append(Stretch(range: seconds..<end, offset: offset)) }
      return offset
    }
  }

  private static func offset(_ seconds: Int) -> Offset {
    guard seconds != 0 else { return Offset(seconds: 0, label: Array(" UTC".utf8)) }
    let minutes = abs(seconds) / 60
    var label = " UTC" + (seconds < 0 ? "−" : "+") + String(minutes / 60)
    if minutes % 60 != 0 { label += ":" + (minutes % 60 < 10 ? "0" : "") + String(minutes % 60) }
    return Offset(seconds: Int64(seconds), label: Array(label.utf8))
  }
}
