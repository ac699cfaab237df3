import Foundation
import Identity
import Synchronization

/// Looks up a time zone's offset from UTC.
///
/// Offsets are cached for each period between two clock changes, because asking Foundation for each
/// row of a list would cost more than rendering the row.
final class Zone: Sendable {
  /// An offset from UTC in seconds, and its label.
  struct Offset: Sendable {
    let seconds: Int64
    let label: String
  }

  private struct OffsetPeriod: Sendable {
    let range: Range<Int64>
    let offset: Offset
  }

  private let zone: TimeZone
  private let periods = Mutex<[OffsetPeriod]>([])

  private init(_ zone: TimeZone) { self.zone = zone }

  private static let known = Mutex<[String: Zone]>([:])

  /// The zone with an IANA name; nil for UTC and for unknown names.
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

  /// All names that can be selected, UTC first.
  ///
  /// Foundation lists India under `Asia/Calcutta`, which the IANA replaced with `Asia/Kolkata` in
  /// 1993; it accepts both.
  static let names =
    ["UTC"]
    + (TimeZone.knownTimeZoneIdentifiers.filter { $0.contains("/") && $0 != "Asia/Calcutta" }
    + ["Asia/Kolkata"]).sorted()

  func offset(at instant: Instant) -> Offset {
    let seconds = instant.seconds
    return periods.withLock { periods in
      if let found = periods.first(where: { $0.range.contains(seconds) }) { return found.offset }
      let date = Date(timeIntervalSince1970: Double(seconds))
      let offset = Self.offset(zone.secondsFromGMT(for: date))
      let change = zone.nextDaylightSavingTimeTransition(after: date)
      // Cache for at most a year: governments change the rules.
      let end = min(change.map { Int64($0.timeIntervalSince1970) } ?? .max, seconds + 31_536_000)
      if periods.count >= 64 { periods.removeAll() }
      if end > seconds { periods.append(OffsetPeriod(range: seconds..<end, offset: offset)) }
      return offset
    }
  }

  private static func offset(_ seconds: Int) -> Offset {
    guard seconds != 0 else { return Offset(seconds: 0, label: "UTC") }
    let minutes = abs(seconds) / 60
    var label = "UTC" + (seconds < 0 ? "−" : "+") + String(minutes / 60)
    if minutes % 60 != 0 { label += ":" + (minutes % 60 < 10 ? "0" : "") + String(minutes % 60) }
    return Offset(seconds: Int64(seconds), label: label)
  }
}
