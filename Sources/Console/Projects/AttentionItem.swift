import HTTP
import Identity
import Localization
import Templating

struct AttentionItem: ViewModel, Comparable {
  enum Severity: Int, Comparable {
    case critical, warning, notice

    static func < (one: Severity, other: Severity) -> Bool { one.rawValue < other.rawValue }

    fileprivate var word: Message {
      switch self {
      case .critical: Message("Critical")
      case .warning: Message("Warning")
      case .notice: Message("Notice")
      }
    }

    fileprivate var shape: String {
      switch self {
      case .critical: "■"
      case .warning: "▲"
      case .notice: "○"
      }
    }
  }

  let severity: Severity
  /// When it began, or was due; nil if that isn't known.
  var at: Instant?
  /// The project whose row counts it; nil for the instance.
  var projectID: ID<Project>?
  /// The pool, project, or person; nil for the instance.
  var name: Message?
  /// The project of a tenant.
  var project: String?
  var overview: String?
  let sentence: Message
  var link: Link?

  /// Whether an item is worse or, if they're equally bad, newer.
  static func < (one: AttentionItem, other: AttentionItem) -> Bool {
    guard one.severity == other.severity else { return one.severity < other.severity }
    guard let first = one.at else { return false }
    return other.at.map { first > $0 } ?? true
  }

  static func == (one: AttentionItem, other: AttentionItem) -> Bool {
    !(one < other) && !(other < one)
  }

  static let keys: Keys<Self> = [
    .text("shape") { $0.severity.shape },
    .text("word") { $0.severity.word },
    .flag("isBad") { $0.severity == .critical },
    .flag("isQuiet") { $0.severity == .notice },
    .text(\.name),
    .text(\.project),
    .text(\.overview),
    .text(\.sentence),
    .optional(\.link),
  ]
}

extension AttentionItem {
  /// Each item once, without those that are about something the reader neither changes nor reviews.
  static func all(
    _ facts: ProjectsAttention.Facts, clock: ClockBanner?, _ signedIn: SignedIn
  ) -> [AttentionItem] {
    let (administrator, times) = (signedIn.administrator, signedIn.times)
    var items: [AttentionItem] = []
    if let clock { items.append(AttentionItem(clock)) }
    if let damage = facts.damage { items.append(AttentionItem(damage, times)) }
    if let breakGlass = facts.breakGlass { items.append(AttentionItem(breakGlass, times)) }
    for group in facts.unreadable { items.append(AttentionItem(group)) }
    for pool in facts.reporting { items.append(AttentionItem(pool)) }
    for alert in facts.alerts { items.append(AttentionItem(alert, for: administrator, times)) }
    for agent in facts.held { items.append(AttentionItem(agent, for: administrator, times)) }
    if let warning = facts.fileWarning(administrator) {
      items.append(AttentionItem(severity: .warning, sentence: warning))
    }
    for warning in facts.warnings
    where administrator.minds(warning.project, warning.tenant) && !facts.isWeakening(warning) {
      items.append(AttentionItem(warning, for: administrator, times))
    }
    for pool in facts.drifting where administrator.minds(pool.project, pool.tenant) {
      items.append(AttentionItem(pool))
    }
    for each in facts.differing where administrator.minds(each.project, nil) {
      items.append(AttentionItem(each))
    }
    for due in facts.overdue { items.append(AttentionItem(overdue: due.signOff, due.projectName)) }
    for each in facts.unreviewed { items.append(AttentionItem(neverReviewed: each.id, each.name)) }
    return items
  }

  private init(_ clock: ClockBanner) {
    let roles = Permission.protectUsers.roleNames
    self.init(
      severity: .critical, name: Message("The server’s clock may be wrong."),
      sentence: clock.link == nil
        ? Message(
          "{sentence} Confirming the time requires the {roles} role.",
          ["sentence": .message(clock.sentence), "roles": roles]) : clock.sentence,
      link: clock.link)
  }

  private init(_ damage: IntegrityChecks.Result, _ times: Times) {
    self.init(
      severity: .critical, at: damage.checkedAt, name: Message("The database is damaged"),
      sentence: Message(
        """
        Found by the integrity check on {time}: {faults}. Stop the server and restore the latest \
        backup that’s intact.
        """,
        [
          "time": times.value(damage.checkedAt),
          "faults": .list(damage.faults.map { .verbatim($0) }),
        ]))
  }

  private init(_ breakGlass: BreakGlassAlert, _ times: Times) {
    self.init(
      severity: .critical, at: breakGlass.lastSeenAt,
      sentence: Message(
        one: "The break-glass account signed in {count} time without the provider, last on {time}.",
        other: """
          The break-glass account signed in {count} times without the provider, last on {time}.
          """,
        ["count": .number(breakGlass.count), "time": times.value(breakGlass.lastSeenAt)]),
      link: Link(text: Message("Open the audit log"), href: ConsolePaths.instanceAudit()))
  }

  private init(_ unreadable: UnreadableSecrets.Group) {
    let project = unreadable.project?.text
    let overview = unreadable.project.map { ConsolePaths.overview($0, unreadable.tenant) }
    self.init(
      severity: .critical, projectID: unreadable.project,
      name: (unreadable.tenant?.text ?? project).map(Message.verbatim) ?? Message("This instance"),
      project: unreadable.tenant == nil ? nil : project, overview: overview ?? unreadable.history,
      sentence: unreadable.sentence,
      link: Link(text: Message("View audit log"), href: unreadable.history))
  }

  private typealias Place = (project: ID<Project>, tenant: ID<Tenant>?, projectName: String)

  /// An item about a project or tenant.
  private init(
    _ severity: Severity, at: Instant? = nil, _ name: String, _ place: Place,
    _ sentence: Message, _ verb: Message, _ href: String
  ) {
    self.init(
      severity: severity, at: at, projectID: place.project, name: .verbatim(name),
      project: place.tenant == nil ? nil : place.projectName,
      overview: ConsolePaths.overview(place.project, place.tenant), sentence: sentence,
      link: Link(text: verb, href: href))
  }

  private init(_ reporting: ReportingPool) {
    let pool = reporting.pool
    self.init(
      .critical, pool.name, (pool.project, pool.tenant, pool.projectName),
      Message(
        one: "{count} user reported a change to their second factors that they didn’t make.",
        other: "{count} users reported a change to their second factors that they didn’t make.",
        ["count": .number(reporting.users)]), Message("Review reports"),
      ConsolePaths.overview(pool))
  }

  private init(_ alert: Alert, for administrator: Administrator, _ times: Times) {
    let severity: Severity =
      switch alert.kind {
      case .spraying, .removals: .critical
      case .drift, .textMessages: .warning
      }
    let (pool, evidence) = (alert.pool, alert.evidence(for: administrator))
    self.init(
      severity, at: alert.startedAt, pool.name, (pool.project, pool.tenant, pool.projectName),
      alert.sentence(times), evidence?.text ?? Message("View overview"),
      evidence?.href ?? ConsolePaths.overview(pool))
  }

  private init(_ held: HeldAgent, for administrator: Administrator, _ times: Times) {
    self.init(
      severity: .warning, at: held.since, projectID: held.pool.project,
      name: .verbatim(held.name), project: held.pool.name,
      overview: administrator.may(.readAudit, in: held.pool)
        ? (["actor": "administrator:\(held.agent.text)"] as Form).query(
          of: ConsolePaths.audit(held.pool)) : nil,
      sentence: Message(
        "Hit the hourly action limit on {since}.", ["since": times.value(held.since)]),
      link: Link(
        text: Message("Unblock…"), href: ConsolePaths.unblockAgent(held.pool, held.agent.text)))
  }

  private init(_ pool: DriftingPool) {
    self.init(
      .warning, pool.name, (pool.project, pool.tenant, pool.projectName),
      PolicyFileText.sentence(pool.fields), Message("Review policy"),
      ConsolePaths.policy(pool.project, pool.tenant))
  }

  private init(_ warning: PoolWarning, for administrator: Administrator, _ times: Times) {
    let place = (warning.project, warning.tenant, warning.projectName)
    let policy = ConsolePaths.policy(warning.project, warning.tenant)
    let mayChange = administrator.may(
      .changePolicy, project: warning.project, tenant: warning.tenant)
    switch warning.reason {
    case .stateNotGiven:
      self.init(
        .notice, warning.name, place, Message("TOTP state is unset (treated as enabled)."),
        mayChange ? Message("Set to Enabled") : Message("View policy"), policy)
    case .enrolledWhileOff(let users):
      self.init(
        .warning, warning.name, place,
        Message(
          one: "TOTP is off: {count} user with a factor isn’t asked for codes.",
          other: "TOTP is off: {count} users with a factor aren’t asked for codes.",
          ["count": .number(users)]),
        mayChange ? Message("Turn on TOTP…") : Message("View policy"),
        mayChange ? PolicyLinks.turnOn(policy) : policy)
    case .weakened(let weakened):
      let mayTurnOn = mayChange && weakened.weakenings.contains(.factorDisabled(.totp))
      self.init(
        .warning, at: weakened.at, warning.name, place, weakened.sentence(times),
        mayTurnOn ? Message("Turn on TOTP…") : Message("Review policy"),
        mayTurnOn ? PolicyLinks.turnOn(policy) : policy)
    case .phonesWhileOff(let users):
      self.init(
        .notice, warning.name, place,
        Message(
          one: "SMS codes are off: {count} user with a phone isn’t asked for codes.",
          other: "SMS codes are off: {count} users with a phone aren’t asked for codes.",
          ["count": .number(users)]),
        mayChange ? Message("Change policy") : Message("View policy"), policy)
    }
  }

  private init(_ differing: DifferingTenants) {
    self.init(
      .notice, reviewOf: differing.project, differing.projectName,
      Message(
        one: "{count} tenant differs from the project’s policy.",
        other: "{count} tenants differ from the project’s policy.",
        ["count": .number(differing.count)]), ["show": "differs"])
  }

  private init(overdue signOff: SignOff, _ name: String) {
    self.init(
      .warning, at: signOff.dueOn.start, reviewOf: signOff.project, name,
      Message("The policy review was due on {due}.", ["due": Times.value(signOff.dueOn)]))
  }

  private init(neverReviewed project: ID<Project>, _ name: String) {
    self.init(
      .notice, reviewOf: project, name,
      Message("This project’s policies have never been signed off."))
  }

  private init(
    _ severity: Severity, at: Instant? = nil, reviewOf project: ID<Project>, _ name: String,
    _ sentence: Message, _ query: Form = Form()
  ) {
    self.init(
      severity, at: at, name, (project, nil, name), sentence, Message("Review policies"),
      query.query(of: ConsolePaths.review(project.text)))
  }
}

extension Administrator {
  /// Whether the administrator changes or reviews the policy of a pool, and doesn't only see it.
  func minds(_ project: ID<Project>, _ tenant: ID<Tenant>?) -> Bool {
    may(.changePolicy, project: project, tenant: tenant)
      || may(.signOffReview, project: project, tenant: tenant)
  }
}
