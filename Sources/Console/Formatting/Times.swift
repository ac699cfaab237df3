import Foundation
import HTTP
import Identity
import Localization
import MailText
import Synchronization
import Templating

/// Formats dates and times in an administrator's time zone and the catalog's locale, as a value of
/// a message or as a `time` element.
///
/// The text includes the offset from UTC; the `datetime` attribute is always UTC. The title of a
/// `time` element has the day of the week and the seconds, which the text doesn't have.
struct Times: Hashable, Sendable {
  private let name: String
  /// Nil for UTC.
  private let zone: Zone?
  private let catalog: Catalog

  init(_ catalog: Catalog, zone name: String = "UTC") {
    self.name = name
    self.catalog = catalog
    zone = Zone.named(name)
  }

  static func == (left: Times, right: Times) -> Bool {
    left.name == right.name && left.catalog.locale == right.catalog.locale
  }

  func hash(into hasher: inout Hasher) { hasher.combine(name) }

  var zoneName: String { zone == nil ? "UTC" : name }

  var zoneText: Message {
    zone == nil
      ? Message("Times are in UTC.")
      : Message("Times are in the {zone} time zone.", ["zone": .text(name)])
  }

  /// An exact date and time as markup: `Nov 3, 2026, 09:12 UTC`.
  func moment(_ instant: Instant) -> Markup {
    markup(instant, .minute, isPast: false)
  }

  /// An exact date and time to the second as markup, for the audit log: `Nov 3, 2026, 09:12:11 UTC`.
  func second(_ instant: Instant) -> Markup {
    markup(instant, .second, isPast: false)
  }

  /// When something was last used, as markup.
  ///
  /// Uses are recorded by the hour, so the time can be earlier than that of its creation.
  func lastUse(_ instant: Instant?, since creation: Instant) -> Markup {
    instant.map { past(max($0, creation)) } ?? AccountChips.never
  }

  /// A date as markup: `Nov 3, 2026`.
  func day(_ instant: Instant) -> Markup {
    markup(instant, nil, isPast: false)
  }

  /// A time in the past as markup, which the script can change to “4 minutes ago”.
  func past(_ instant: Instant) -> Markup {
    markup(instant, .minute, isPast: true)
  }

  /// An exact date and time in a message: `Nov 3, 2026, 09:12 UTC`.
  func value(_ instant: Instant) -> Message.Value { .time(local(instant, instant.calendar)) }

  /// The first whole minute from which on something is possible, in a message.
  func start(_ instant: Instant) -> Message.Value { value(instant.advanced(bySeconds: 59)) }

  /// The end of something that's chosen by its last day, as markup after “through”: `Nov 28, 2026 (UTC)`
  /// for the whole of Nov 28, although it's over with the next day.
  func end(_ instant: Instant) -> Markup {
    guard let last = lastMinute(ofDayBefore: instant) else { return moment(instant) }
    return "\(day(last)) (\(zoneName))"
  }

  func endValue(_ instant: Instant) -> Message.Value {
    guard let last = lastMinute(ofDayBefore: instant) else { return value(instant) }
    return .message(
      Message(
        "{day} ({zone})", ["day": Self.value(calendarDay(of: last)), "zone": .text(zoneName)]))
  }

  /// The end to the minute, for the audit log.
  func exactEndValue(_ instant: Instant) -> Message.Value {
    value(lastMinute(ofDayBefore: instant) ?? instant)
  }

  /// Returns the last minute of the day before an end that's the start of a day; nil for another end.
  private func lastMinute(ofDayBefore end: Instant) -> Instant? {
    let start = start(of: calendarDay(of: end))
    return end == start ? end.lastMinute(ofDayBefore: start) : nil
  }

  /// A calendar date in a message, the same in every time zone: `Dec 1, 2026`.
  static func value(_ day: Day) -> Message.Value { .date(LocalDate(day)) }

  func calendarDay(of instant: Instant) -> Day {
    Day(instant.advanced(bySeconds: zone?.offset(at: instant).seconds ?? 0))
  }

  /// A calendar date without its year in a message, for the axis of a chart: `Dec 1`.
  static func short(_ day: Day) -> Message.Value {
    .dayOfMonth(LocalDate(year: day.year, month: day.month, day: day.day))
  }

  /// A month and its year in a message, for the axis of a chart: `Dec 2026`.
  static func month(_ day: Day) -> Message.Value {
    .month(LocalDate(year: day.year, month: day.month, day: day.day))
  }

  /// The last dates up to that of an instant in the administrator's time zone, oldest first.
  func days(_ count: Int, until instant: Instant) -> [Day] {
    let today = calendarDay(of: instant).start
    return (0..<count).reversed().map { Day(today.advanced(bySeconds: -86_400 * Int64($0))) }
  }

  /// The beginning of the last dates up to that of an instant: every page that counts the code
  /// attempts of a number of days counts those of the same days.
  func start(ofDays count: Int, until instant: Instant) -> Instant {
    start(of: days(count, until: instant)[0])
  }

  /// The weekday, 0 for Monday to 6 for Sunday, and the hour of an instant in the administrator's
  /// time zone.
  func hourOfWeek(of instant: Instant) -> (day: Int, hour: Int) {
    let local = instant.advanced(bySeconds: zone?.offset(at: instant).seconds ?? 0)
    // January 1, 1970 was a Thursday.
    return (
      Int((local.seconds / 86_400 + 3) % 7), Int(local.seconds % 86_400 / 3_600)
    )
  }

  /// The time at which days of hourly counts begin in the administrator's time zone, such as
  /// `00:30`; nil where they begin at midnight.
  ///
  /// Hours are those of UTC, and one that contains midnight belongs to the day in which it begins.
  func startOfCountedDays(at instant: Instant) -> String? {
    let rest = (zone?.offset(at: instant).seconds ?? 0) % 3_600
    let minute = (rest < 0 ? rest + 3_600 : rest) / 60
    return minute == 0 ? nil : "00:\(minute < 10 ? "0" : "")\(minute)"
  }

  func start(of day: Day) -> Instant {
    instant(ofLocal: day.start)
  }

  /// The instant of a local time that's given as if it were UTC.
  ///
  /// A time that occurs twice is the first of both. One that a clock change skips is later by the
  /// change, as if the clock hadn't been changed.
  private func instant(ofLocal time: Instant) -> Instant {
    guard let zone else { return time }
    let offsets = [-86_400, 86_400].map { zone.offset(at: time.advanced(bySeconds: $0)).seconds }
    let instants = offsets.map { (offset: $0, instant: time.advanced(bySeconds: -$0)) }
    return (instants.first { zone.offset(at: $0.instant).seconds == $0.offset } ?? instants[0])
      .instant
  }

  private typealias Parts = (
    year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int
  )

  /// A time with its title; the text is only the date without a form of the time.
  private func markup(_ instant: Instant, _ form: LocalTime.Form?, isPast: Bool) -> Markup {
    let parts = instant.calendar
    var bytes: [UInt8] = []
    bytes.reserveCapacity(144)
    bytes += Self.opening.utf8
    pair(parts.year / 100, to: &bytes)
    pair(parts.year % 100, to: &bytes)
    bytes.append(UInt8(ascii: "-"))
    pair(parts.month, to: &bytes)
    bytes.append(UInt8(ascii: "-"))
    pair(parts.day, to: &bytes)
    bytes.append(UInt8(ascii: "T"))
    pair(parts.hour, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    pair(parts.minute, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    pair(parts.second, to: &bytes)
    bytes += Self.title.utf8
    let local = local(instant, parts)
    // No locale's form has characters that HTML escapes.
    catalog.append(local, .full, to: &bytes)
    bytes += (isPast ? Self.endOfPast : Self.end).utf8
    if let form {
      catalog.append(local, form, to: &bytes)
    } else {
      catalog.append(local.date, to: &bytes)
    }
    bytes += Self.closing.utf8
    return Markup(trusted: bytes)
  }

  private func local(_ instant: Instant, _ utc: Parts) -> LocalTime {
    var (parts, label) = (utc, "UTC")
    if let zone {
      let offset = zone.offset(at: instant)
      parts = instant.advanced(bySeconds: offset.seconds).calendar
      label = offset.label
    }
    return LocalTime(
      LocalDate(year: parts.year, month: parts.month, day: parts.day), hour: parts.hour,
      minute: parts.minute, second: parts.second, zone: label)
  }

  /// Adds a number below 100 as two digits.
  private func pair(_ number: Int, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10 % 10))
    bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
  }

  private static let opening = "<time datetime=\""
  private static let title = "Z\" title=\""
  private static let end = "\">"
  private static let endOfPast = "\" data-ago>"
  private static let closing = "</time>"
}

extension Times {
  /// The name of the hidden field with the time zone in which a form was shown.
  static let zoneField = "time-zone"

  var hiddenZone: HiddenField { HiddenField(name: Self.zoneField, value: zoneName) }
}

extension SignedIn {
  /// Formats and reads the dates and times of a submitted form in the time zone that the form named.
  ///
  /// The administrator may have chosen another one for their account since they opened the form. The
  /// zone is that of the account if the form has none.
  ///
  /// - Throws: ``Refusal/unreadableForm`` for a zone that can't be selected.
  var formTimes: Times { get throws { try times(of: form) } }

  /// Formats and reads the dates and times of a form that was submitted before.
  ///
  /// - Returns: Those of the zone. The account's own zone may have been selected before an update of
  ///   the system removed it, and is then UTC, as on pages.
  /// - Throws: ``Refusal/unreadableForm`` for another zone that can't be selected.
  func times(of form: Form) throws -> Times {
    let zone = form.trimmed(Times.zoneField)
    guard !zone.isEmpty, ![times.zoneName, session.preferences.timeZone].contains(zone) else {
      return times
    }
    guard Zone.names.contains(zone) else { throw Refusal.unreadableForm }
    return Times(catalog, zone: zone)
  }
}

/// Looks up a time zone's offset from UTC.
///
/// Offsets are cached for each period between two clock changes, because asking Foundation for each
/// row of a list would cost more than rendering the row.
final class Zone: Sendable {
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
