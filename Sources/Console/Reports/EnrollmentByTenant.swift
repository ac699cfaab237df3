import HTTP
import Identity
import Localization
import Templating

/// The enrollment of a project's pools: a panel each on one scale, and the table of their numbers.
struct EnrollmentByTenant: ViewModel {
  /// The maximum number of panels in addition to that of all users.
  private static let most = 11

  /// The number of tenants of the project.
  let tenants: Int
  let next: String?
  private let all: Share
  private(set) var panels: [ReportCard] = []
  /// Most users without a second factor first.
  private(set) var rows: [EnrollmentRow]

  /// `all` are the states of all users, also at the times of ``instants(before:)``, and `exempt` the
  /// exempt users.
  init(
    _ identity: Identity, _ context: PoolContext, _ all: [EnrollmentPoint], exempt: [Exemption],
    _ window: ChartWindow, after: String?, limit: Int, until now: Instant
  ) async throws {
    let times = context.signedIn.times
    let instants = window.instants(until: now, times)
    let review = try await identity.policies.review(
      context.pool.project, visibleTo: context.signedIn.administrator,
      PolicyReviewQuery(order: .unenrolled), after: after, limit: limit)
    (tenants, next) = (review.count, review.tenants.next)
    let own = after == nil ? [review.project].compactMap { $0 } : []
    let pools = (own + review.tenants.items).sorted {
      $0.users - $0.enrolledUsers > $1.users - $1.enrolledUsers
    }
    let campaigns = try await identity.bulkRemovals.campaigns(of: pools.map(\.key))
    // 90, 60, and 30 days ago, and now.
    let past = try await identity.activity.trends(
      of: pools, points: 4, from: now.advanced(bySeconds: -90 * 86_400), to: now)
    let exempt = Dictionary(grouping: exempt.filter { !$0.hasFactor }, by: \.tenant)
    rows = pools.map { pool in
      EnrollmentRow(
        pool, past[pool.key].map { [$0[2], $0[0]].map { $0.map(Share.init) } } ?? [nil, nil],
        exempt: exempt[pool.tenant]?.count ?? 0, campaigns[pool.key], in: context)
    }
    func known(_ at: Instant) -> Share? { all.last { $0.at <= at }.map(Share.init) }
    self.all = known(now) ?? Share(part: 0, whole: 0)
    if next == nil {
      rows.append(
        EnrollmentRow(
          self.all, Self.instants(before: now).map(known),
          exempt: exempt.values.reduce(0) { $0 + $1.count }))
    }
    guard after == nil else { return }
    panels = [ReportCard(instants.map(known), at: instants, of: window, times)]
    let shown = Array(pools.prefix(Self.most))
    let trends = try await identity.activity.trends(
      of: shown, points: instants.count, from: instants[0], to: now)
    for (pool, row) in zip(shown, rows) {
      let earlier = (trends[pool.key] ?? []).dropLast().map { $0.map(Share.init) }
      var panel = ReportCard(earlier + [row.now], at: instants, of: window, times)
      (panel.name, panel.href) = (Formatted.short(row.name), row.href)
      panels.append(panel)
    }
  }

  /// 30 and 90 days ago.
  static func instants(before now: Instant) -> [Instant] {
    [30, 90].map { now.advanced(bySeconds: -86_400 * $0) }
  }

  static let keys: Keys<Self> = [
    .list(\.panels),
    .text("number") { .value(.number($0.all.whole - $0.all.part)) },
    .number("count") { $0.all.whole },
    .flag("isCut") { $0.tenants >= most },
    .markup("swatch") { _ in ChartFill.enrolled.swatch },
    .list(\.rows),
    .number("daysKept") { _ in BulkRemovals.daysKept },
    .flag("hasCampaigns") { $0.rows.contains { $0.funnel != nil } },
  ]
}

/// A pool in the table, or all users.
struct EnrollmentRow: ViewModel {
  private(set) var name = ""
  private(set) var href: String?
  let now: Share
  private var pattern: Message?
  private var isOfProject = false
  /// The shares 30 and 90 days ago; nil if they aren't known.
  private let earlier: [Share?]
  /// The number of users without a second factor who are exempt.
  private let exempt: Int
  /// The page with the users without a second factor; nil without the permission.
  private var users: String?
  private var next: Link?
  /// How far the users of its campaigns are; nil if there were none.
  private(set) var funnel: CampaignFunnel?

  init(_ now: Share, _ earlier: [Share?], exempt: Int) {
    (self.now, self.earlier, self.exempt) = (now, earlier, exempt)
  }

  init(
    _ pool: PolicySummary, _ earlier: [Share?], exempt: Int, _ campaigns: CampaignCounts?,
    in context: PoolContext
  ) {
    self.init(Share(part: pool.enrolledUsers, whole: pool.users), earlier, exempt: exempt)
    let project = context.pool.project
    func may(_ permission: Permission) -> Bool {
      permission.isOffered(by: context.pool.kind, at: context.pool.access)
        && context.signedIn.administrator.may(permission, project: project, tenant: pool.tenant)
    }
    let isOn = pool.edit.configuration.isTOTPOn
    funnel = campaigns.map { CampaignFunnel(counts: $0) }
    name = pool.tenant == nil ? context.pool.projectName : pool.displayName
    href = ConsolePaths.report(.enrollment)(project, pool.tenant)
    isOfProject = pool.tenant == nil
    pattern =
      isOn
      ? PatternText.name(pool.edit.pattern, from: pool.edit.mandatoryFrom) : Message("TOTP off")
    let list = ConsolePaths.users(project, pool.tenant) + "?factor=none"
    users = without > 0 && may(.findUsers) ? list : nil
    if !isOn, may(.changePolicy) {
      next = Link(
        text: Message("Turn on TOTP…"),
        href: PolicyLinks.turnOn(ConsolePaths.policy(project, pool.tenant)))
    } else if isOn, without > 0, may(.removeFactors), context.offers(.secrets) {
      next = Link(text: Message("Send links…"), href: list + "&select=all")
    }
  }

  /// The number of users whom the list shows, which exempt ones aren't in.
  private var without: Int { max(now.whole - now.part - exempt, 0) }

  /// By how many points the share fell since then; nil if it didn't.
  private func fall(_ index: Int) -> Message? {
    let change = now.change(from: earlier[index], FigureChange.inMonth)
    return change.flatMap { $0.difference < 0 ? $0.text : nil }
  }

  static let keys: Keys<Self> = [
    .text(\.name),
    .text(\.href),
    .text(\.pattern),
    .flag(\.isOfProject),
    .text("all") { Message.value(.number($0.now.whole)) },
    .text("without") { Message.value(.number($0.without)) },
    .text("exempt") { $0.exempt > 0 ? .value(.number($0.exempt)) : nil },
    .text(\.users),
    .markup("share") { Meter.share($0.now.part, of: $0.now.whole) },
    .text("month") { $0.earlier[0]?.percent },
    .text("monthFall") { $0.fall(0) },
    .text("quarter") { $0.earlier[1]?.percent },
    .text("quarterFall") { $0.fall(1) },
    .optional(\.next),
    .optional(\.funnel),
  ]
}
