import Database
import Foundation

/// An administrator's subscription to a report by email.
public struct ReportSubscription: Sendable {
  /// How often a report is sent.
  public enum Rhythm: String, CaseIterable, Sendable {
    /// On Mondays.
    case weekly
    /// On the first day of the month.
    case monthly

    /// The number of days that the email summarizes.
    public var days: Int {
      switch self {
      case .weekly: 7
      case .monthly: 30
      }
    }

    /// Returns the next time at which a report is sent: at 7:00 on its day in a time zone.
    func next(after now: Instant, in zone: String) -> Instant {
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = TimeZone(identifier: zone) ?? .gmt
      let parts =
        switch self {
        case .weekly: DateComponents(hour: 7, minute: 0, second: 0, weekday: 2)
        case .monthly: DateComponents(day: 1, hour: 7, minute: 0, second: 0)
        }
      let date = calendar.nextDate(
        after: Date(timeIntervalSince1970: Double(now.seconds)), matching: parts,
        matchingPolicy: .nextTime)
      guard let date else { return now.advanced(bySeconds: Int64(days) * 86_400) }
      return Instant(seconds: Int64(date.timeIntervalSince1970))
    }
  }

  /// The number.
  public let id: Int64
  /// The subscriber.
  public let administrator: ID<Administrator>
  /// What the report is about.
  public let subject: ReportSubject
  /// The report.
  public let report: Report
  /// How often it's sent.
  public let rhythm: Rhythm
  /// When it's sent next.
  public let nextAt: Instant
}

/// The numbers of a report that an email contains.
public enum ReportSummary: Sendable, Equatable {
  /// Enrolled users among all users, now and a period ago, if that's known; and users who are exempt
  /// now.
  case enrollment(enrolled: Int, users: Int, before: Int?, exempt: Int)
  /// Removals of second factors in a period.
  case removals(Int)
  /// Users who are exempt now.
  case exemptions(Int)
  /// Users whose codes aren't checked now.
  case locked(Int)
  /// Second factors unused for this many days, never used, and with another user's secret.
  case factors(Int, days: Int, neverUsed: Int, sharedSecret: Int)
  /// Administrators and their roles, and how many of them didn't use the console for this many days.
  case access(Int, roles: Int, dormant: Int, days: Int)
  /// Administrators who signed in, but didn't use the console for this many days; those who never
  /// signed in; and open invitations.
  case dormantAdministrators(Int, neverSignedIn: Int, invitations: Int, days: Int)

  /// The report.
  public var report: Report {
    switch self {
    case .enrollment: .enrollment
    case .removals: .removals
    case .exemptions: .exemptions
    case .locked: .locked
    case .factors: .factors
    case .access: .access
    case .dormantAdministrators: .dormantAdministrators
    }
  }
}

extension Reports {
  /// The number of days after which emails count a second factor as unused.
  static let unusedDays = 90

  /// Whether this server sends emails, so that there can be subscriptions.
  public var carriesMail: Bool { store.outbox.carriesMail }

  /// Subscribes an administrator to a report, or changes how often they get it.
  ///
  /// - Throws: ``ReportError/notAllowed`` if they can't read it.
  public func subscribe(
    _ id: ID<Administrator>, to report: Report, _ rhythm: ReportSubscription.Rhythm,
    about subject: ReportSubject
  ) async throws(ReportError) {
    let now = store.clock.now()
    try await store.write(ReportError.self) { connection in
      guard let administrator = try Administrators.present(id, at: now, connection),
        administrator.may(read: report, about: subject)
      else { throw ReportError.notAllowed }
      let next = rhythm.next(after: now, in: try Self.zone(of: id, connection))
      // Not an upsert: the instance has no key, so its rows never conflict.
      let changed = try connection.run(
        """
        UPDATE report_subscription SET rhythm = \(rhythm.rawValue), next_at = \(next.microseconds)
        WHERE administrator_id = \(id.text) AND subject = \(subject.text)
          AND scope_key IS NOT DISTINCT FROM \(subject.scope?.key) AND report = \(report.rawValue)
        """)
      guard changed == 0 else { return }
      try connection.run(
        """
        INSERT INTO report_subscription (administrator_id, subject, scope_key, report, rhythm,
          next_at)
        VALUES (\(id.text), \(subject.text), \(subject.scope?.key), \(report.rawValue),
          \(rhythm.rawValue), \(next.microseconds))
        """)
    }
  }

  /// Cancels an administrator's own subscription.
  ///
  /// - Throws: ``ReportError/subscriptionNotFound`` if it isn't theirs.
  public func cancel(_ id: Int64, of administrator: ID<Administrator>) async throws(ReportError) {
    try await store.write(ReportError.self) { connection in
      let deleted = try connection.run(
        """
        DELETE FROM report_subscription
        WHERE subscription_id = \(id) AND administrator_id = \(administrator.text)
        """)
      guard deleted == 1 else { throw ReportError.subscriptionNotFound }
    }
  }

  /// Lists an administrator's subscriptions to reports that they can still read.
  ///
  /// - Throws: ``ReportError/unavailable(_:)``.
  public func subscriptions(
    of administrator: Administrator
  ) async throws(ReportError) -> [ReportSubscription] {
    try await store.read(ReportError.self) { connection in
      try connection.all(
        """
        SELECT \(ReportSubscription.columns) FROM \(ReportSubscription.source)
        WHERE r.administrator_id = \(administrator.id.text) AND s.deleted_at IS NULL
        ORDER BY r.subject, r.scope_key, r.report
        """
      ) { try ReportSubscription($0) }.filter {
        administrator.may(read: $0.report, about: $0.subject)
      }
    }
  }

  /// Sends the summaries that are due, and deletes subscriptions of administrators who lost access.
  ///
  /// Nothing is sent without a mail server.
  fileprivate func sendDue() async throws(ReportError) {
    guard carriesMail else { return }
    let now = store.clock.now()
    while true {
      // Numbers of a large pool take a while, so they aren't read in the write.
      let due = try await store.read(ReportError.self) { connection in
        try Self.due(at: now, connection).map { subscription in
          (
            subscription,
            try Administrators.present(subscription.administrator, at: now, connection).map {
              try Self.summary(of: subscription, for: $0, at: now, connection)
            }
          )
        }
      }
      guard let (subscription, summary) = due else { return }
      try await store.write(ReportError.self) { connection in
        guard try Self.due(at: now, connection)?.id == subscription.id else { return }
        try send(summary, subscription, at: now, connection)
      }
    }
  }

  private func send(
    _ summary: ReportSummary?, _ subscription: ReportSubscription, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    guard let summary,
      let reader = try Administrators.present(subscription.administrator, at: now, connection),
      let subject = try Self.present(subscription.subject, connection),
      reader.may(read: subscription.report, about: subject)
    else {
      try connection.run(
        "DELETE FROM report_subscription WHERE subscription_id = \(subscription.id)")
      return
    }
    let next = subscription.rhythm.next(
      after: now, in: try Self.zone(of: subscription.administrator, connection))
    try connection.run(
      """
      UPDATE report_subscription SET next_at = \(next.microseconds)
      WHERE subscription_id = \(subscription.id)
      """)
    guard let scope = try subject.scope ?? Outbox.pool(of: reader, connection) else { return }
    let mail = ReportMail(
      about: subject, rhythm: subscription.rhythm, summary: summary,
      link: store.links.console(subscription.report, about: subject),
      reports: store.links.reports)
    try store.outbox.add(
      "report", .report(mail),
      to: OutboxMessage.Reader(
        id: reader.id, requirement: .report(subscription.report, about: subject)),
      at: reader.email, in: scope, now, connection)
  }

  /// Returns a subject as it is now; nil if it was deleted.
  private static func present(
    _ subject: ReportSubject, _ connection: borrowing Connection
  ) throws -> ReportSubject? {
    do {
      switch subject {
      case .pool(let scope):
        return .pool(
          try Scopes.find(project: scope.project, tenant: scope.tenant, connection))
      case .project(let scope):
        return .project(try Scopes.find(project: scope.project, tenant: nil, connection))
      case .instance: return .instance
      }
    } catch is ScopeError {
      return nil
    }
  }

  private static func summary(
    of subscription: ReportSubscription, for reader: Administrator, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> ReportSummary {
    let subject = subscription.subject
    let start = now.advanced(bySeconds: -Int64(subscription.rhythm.days) * 86_400)
    switch (subscription.report, subject.scope) {
    case (.access, _):
      let grants = try access(at: now, connection)
      let roles = grants.filter { $0.grant != nil }
      return .access(
        roles.administrators, roles: roles.count,
        dormant: grants.filter { $0.state(at: now) == .dormant }.administrators,
        days: AccessGrant.dormantDays)
    case (.dormantAdministrators, _):
      let found = try dormant(days: AccessGrant.dormantDays, at: now, connection)
      let invitations = found.count { if case .invited = $0.holder { true } else { false } }
      let dormant = found.count { $0.lastUsedAt != nil }
      return .dormantAdministrators(
        dormant, neverSignedIn: found.count - dormant - invitations, invitations: invitations,
        days: AccessGrant.dormantDays)
    case (.exemptions, _):
      return .exemptions(try exempt(about: subject, for: reader, at: now, connection))
    case (.removals, _), (_, nil):
      let counts = try removals(about: subject, since: start, visibleTo: reader, connection)
      return .removals(counts.map(\.count).reduce(0, +))
    case (.enrollment, let scope?):
      let counted = Activity.Subject(key: scope.key, isWhole: subject == .project(scope))
      let current = try Activity.users(of: counted, connection)
      let before = try Activity.enrollment(of: counted, at: start, connection)
      return .enrollment(
        enrolled: current?.enrolled ?? 0, users: current?.users ?? 0,
        before: before?.enrolled,
        exempt: try exempt(about: subject, for: reader, at: now, connection))
    case (.locked, let scope?):
      let locked = try connection.first(
        """
        SELECT \(AccountCounts.current("locked_users")) FROM scope s
        WHERE s.scope_key = \(scope.key)
        """
      ) { try $0.value(0) as Int }
      return .locked(locked ?? 0)
    case (.factors, let scope?):
      return .factors(
        try countFactors(in: scope, .unused(days: unusedDays), at: now, connection),
        days: unusedDays,
        neverUsed: try countFactors(in: scope, .neverUsed, at: now, connection),
        sharedSecret: try countFactors(in: scope, .sharedSecret, at: now, connection))
    }
  }

  /// Counts the users who are exempt now; of all projects, those whom the reader can find.
  private static func exempt(
    about subject: ReportSubject, for reader: Administrator, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Int {
    try Exemptions.list(in: subject.scope?.project, at: now, connection).count {
      switch subject {
      case .pool(let scope): $0.tenant == scope.tenant
      case .project: true
      case .instance: reader.may(.findUsers, project: $0.project, tenant: $0.tenant)
      }
    }
  }

  private static func due(
    at now: Instant, _ connection: borrowing Connection
  ) throws -> ReportSubscription? {
    try connection.first(
      """
      SELECT \(ReportSubscription.columns) FROM \(ReportSubscription.source)
      WHERE r.next_at <= \(now.microseconds) ORDER BY r.next_at LIMIT 1
      """
    ) { try ReportSubscription($0) }
  }

  private static func zone(
    of id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> String {
    try connection.first(
      "SELECT time_zone FROM administrator WHERE administrator_id = \(id.text)"
    ) { try $0.value(0) } ?? "UTC"
  }
}

extension Identity {
  /// Sends the summaries of reports that are due, and deletes subscriptions of administrators who
  /// lost access.
  ///
  /// After a downtime, each subscription gets one email, not one for each missed time. Nothing is
  /// sent while the clock isn't trusted, or without a mail server.
  ///
  /// - Throws: ``ReportError/unavailable(_:)``; the next call tries again.
  public func sendReports() async throws(ReportError) {
    guard clockGuard.doubt == nil else { return }
    try await reports.sendDue()
  }
}

extension ReportSubscription {
  fileprivate static let columns: SQL = """
    r.subscription_id, r.administrator_id, r.report, r.rhythm, r.next_at, r.subject,
      \(Scope.columns)
    """
  fileprivate static let source: SQL = """
    report_subscription r LEFT JOIN scope s ON s.scope_key = r.scope_key
      LEFT JOIN project p ON p.project_id = s.project_id
    """

  fileprivate init(_ row: borrowing Row) throws {
    id = try row.value(0)
    administrator = ID(try row.value(1))
    guard let report = Report(rawValue: try row.value(2)),
      let rhythm = Rhythm(rawValue: try row.value(3)),
      let subject = ReportSubject(
        try row.value(5), (try row.value(6) as Int64?) == nil ? nil : try Scope(row, from: 6))
    else { throw Failure("unknown report") }
    (self.report, self.rhythm, self.subject) = (report, rhythm, subject)
    nextAt = Instant(microseconds: try row.value(4))
  }
}
