public import Identity
public import Localization

extension LocalDate {
  /// Creates a date from a day, which is the same in every time zone.
  public init(_ day: Day) {
    self.init(year: day.year, month: day.month, day: day.day)
  }
}

extension Instant {
  /// Returns this end as people chose it: where it's the start of a day, they chose the day before,
  /// whose last minute this is.
  public func lastMinute(ofDayBefore start: Instant) -> Instant {
    self == start ? advanced(bySeconds: -60) : self
  }
}

extension Message.Value {
  /// The name of the project, and of the tenant where there is one.
  static func application(_ pool: Pool) -> Message.Value {
    let project = SafeName.plain(pool.projectName)
    guard pool.tenant != nil else { return .text(project) }
    return .message(
      Message(
        "{project} ({tenant})",
        ["project": .text(project), "tenant": .text(SafeName.plain(pool.name))]))
  }

  static func factor(_ name: String) -> Message.Value { .message(quoted(name)) }

  static func factors(_ names: [String]) -> Message.Value { .list(names.map(quoted)) }

  private static func quoted(_ name: String) -> Message {
    Message("“{name}”", ["name": .text(SafeName.unlinked(name))])
  }

  /// The date and time in UTC, to the minute.
  static func moment(_ instant: Instant) -> Message.Value {
    let parts = instant.calendar
    return .time(
      LocalTime(LocalDate(Day(instant)), hour: parts.hour, minute: parts.minute, zone: "UTC"))
  }

  /// The end of something that's chosen by its last day, in UTC, after “through”.
  static func end(_ instant: Instant) -> Message.Value {
    let last = instant.lastMinute(ofDayBefore: Day(instant).start)
    guard last != instant else { return .moment(instant) }
    return .message(
      Message("{day} ({zone})", ["day": .date(LocalDate(Day(last))), "zone": .text("UTC")]))
  }

  static func reporting(_ link: String, _ pool: Pool) -> Message.Value {
    guard pool.kind == .hosted else {
      return .message(
        Message(
          """
          If you didn't do or request this, open this page within seven days to report it:

          {link}

          Your second factors can't be changed by support until your report is reviewed, and the \
          {application} administrators are notified.
          """, ["link": .text(link), "application": .application(pool)]))
    }
    return .message(
      Message(
        """
        If you didn't do or request this, open this page within seven days to report it:

        {link}

        You'll be signed out everywhere, your second factors can't be changed until your report \
        is reviewed, and the {application} administrators are notified.
        """, ["link": .text(link), "application": .application(pool)]))
  }
}

extension WeakPassword {
  /// How to choose a stronger password.
  public var message: Message {
    switch self {
    case .tooShort(let fewest):
      Message(
        one: "Use at least {count} character.", other: "Use at least {count} characters.",
        ["count": .number(fewest)])
    case .tooLong(let most):
      Message("Use at most {limit} bytes.", ["limit": .text(String(most))])
    case .isEmail: Message("Use something other than your email address.")
    }
  }
}
