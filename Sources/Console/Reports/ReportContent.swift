import HTTP
import Identity
import Localization
import Templating
import Text

struct ReportContent: Sendable {
  let summary: Message
  var menus: [ReportMenu] = []
  var query: Form = [:]
  var chart: ChartFrame?
  var byTenant: EnrollmentByTenant?
  var table: ReportTable
  /// The page that lists what the report counts.
  var details: Link?
  var next: String?
  /// The number of rows on all pages; nil if it isn't known.
  var total: Int?
  var users: DownloadedUsers?
}

struct ReportMenu: ViewModel {
  let label: Message
  var items: [Link]

  /// The choice in the printed report, which has no menus.
  private var choice: Message? {
    items.first(where: \.isCurrent).map {
      Message("{menu}: {choice}", ["menu": .message(label), "choice": .message($0.text)])
    }
  }

  static let keys: Keys<Self> = [
    .text(\.label),
    .text("choice") { $0.choice },
    .list(\.items),
  ]
}

struct ReportContents: Sendable {
  let identity: Identity
  let catalog: Catalog

  func read(
    _ report: Report, _ context: PoolContext, after: String?, limit: Int, counts: Bool = true
  ) async throws -> ReportContent {
    switch report {
    case .enrollment: try await enrollment(context, after: after, limit: limit, counts: counts)
    case .removals:
      try await removals(about: subject(report, context), context.signedIn)
    case .exemptions: try await exemptions(context)
    case .locked: try await locked(context, after: after, limit: limit)
    case .factors: try await factors(context, after: after, limit: limit, counts: counts)
    }
  }

  private func enrollment(
    _ context: PoolContext, after: String?, limit: Int, counts: Bool
  ) async throws -> ReportContent {
    let (times, now) = (context.signedIn.times, identity.clock.now())
    let window = ChartWindow(context.signedIn.query.text("period"))
    let isWhole = isWhole(context)
    let instants = window.instants(until: now, times)
    let points = try await identity.activity.enrollment(
      of: context.pool, isWhole: isWhole,
      at: instants.dropLast() + (isWhole ? EnrollmentByTenant.instants(before: now) : []),
      until: now)
    let history = EnrollmentHistory(points, at: instants, times)
    let exempt = try await identity.exemptions.list(
      in: context.pool, isWhole: isWhole, endingAfter: history.samples.first?.at ?? now)
    func exemptions(at instant: Instant) -> Int {
      exempt.count { $0.grantedAt <= instant && $0.endsAt > instant }
    }
    var content = ReportContent(
      summary: Message(
        one: "Enrolled users among all users over time. {count} user is exempt from MFA now.",
        other: "Enrolled users among all users over time. {count} users are exempt from MFA now.",
        ["count": .number(exemptions(at: now))]),
      query: query(["period": String(window.days)], isWhole: isWhole),
      table: ReportTable(
        caption: Report.enrollment.explanation,
        columns: [
          Message("Day"), Message("Enrolled"), Message("All users"),
          Message("Share"), Message("Exempt"),
        ], times: times))
    content.menus = [periods(ConsolePaths.report(.enrollment)(context.pool), content.query)]
    addTenantsMenu(
      to: &content, .enrollment, context.pool, context.signedIn)
    if context.may(.findUsers) {
      content.details = Link(
        text: Message("View exemptions"),
        href: self.query([:], isWhole: isWhole).query(
          of: ConsolePaths.report(.exemptions)(context.pool)))
    }
    content.chart = history.frame([], catalog)
    content.chart?.table = nil
    // The file has the numbers of all users.
    if isWhole, counts {
      let byTenant = try await EnrollmentByTenant(
        identity, context, points, exempt: exempt.filter { $0.endsAt > now }, window,
        after: after, limit: limit, until: now)
      if byTenant.tenants > 0 {
        (content.byTenant, content.next, content.chart) = (byTenant, byTenant.next, nil)
        content.query = PageSize(context.signedIn.query).added(to: content.query)
      }
    }
    content.table.rows = history.samples.reversed().map { sample in
      [
        .day(times.calendarDay(of: sample.at)), .number(sample.enrolled), .number(sample.users),
        .share(sample.enrolled, of: sample.users), .number(exemptions(at: sample.at)),
      ]
    }
    return content
  }

  func removals(
    about subject: ReportSubject, _ signedIn: SignedIn
  ) async throws -> ReportContent {
    let (window, start) = period(signedIn)
    let counts = try await identity.reports.removals(
      about: subject, since: start, visibleTo: signedIn.administrator)
    let isWhole = subject.basePool.map { subject == .project($0) } ?? false
    let path = ConsolePaths.report(.removals, about: subject)
    var content = ReportContent(
      summary: Message(
        one: "{count} removal in this period.", other: "{count} removals in this period.",
        ["count": .number(counts.map(\.count).reduce(0, +))]),
      query: query(["period": String(window.days)], isWhole: isWhole),
      chart: RemovalHistory(counts, window, until: identity.clock.now(), signedIn.times).frame,
      table: ReportTable(
        caption: Report.removals.explanation,
        columns: [
          Message("Reason"), Message("Removed by"), Message("Removals"),
        ], times: signedIn.times))
    content.table.rows = counts.map { count in
      [
        .text(
          count.reason?.name
            ?? (count.isReasonErased
              ? Message("Erased with the user’s data") : Message("No reason given"))),
        count.agentName.isEmpty ? .text(Message("Users")) : .name(count.agentName),
        .number(count.count),
      ]
    }
    content.menus = [periods(path, content.query)]
    if let pool = subject.basePool {
      addTenantsMenu(to: &content, .removals, pool, signedIn)
    }
    if !isWhole, signedIn.administrator.may(.readAudit, in: subject.basePool) {
      let log = subject.basePool.map { ConsolePaths.audit($0) } ?? ConsolePaths.instanceAudit()
      let since: Form = [
        "action": "removal", "from": signedIn.times.calendarDay(of: start).description,
      ]
      content.details = Link(
        text: Message("View removals and restorations"), href: since.query(of: log))
    }
    return content
  }

  private func exemptions(_ context: PoolContext) async throws -> ReportContent {
    let (window, start) = period(context.signedIn)
    let isWhole = isWhole(context)
    let now = identity.clock.now()
    let found = try await identity.exemptions.list(
      in: context.pool, isWhole: isWhole, endingAfter: start)
    let administrator = context.signedIn.administrator
    let query = query(["period": String(window.days)], isWhole: isWhole)
    var content = ReportContent(
      summary: Message(
        one: "{count} user is exempt from MFA now.",
        other: "{count} users are exempt from MFA now.",
        ["count": .number(found.count { $0.endsAt > now })]),
      query: query,
      table: ReportTable(
        caption: Report.exemptions.explanation,
        columns: [
          Message("User"), Message("Project or tenant"), Message("Reason"),
          Message("Ticket"), Message("Granted by"), Message("Granted on"),
          Message("Until"),
        ], times: context.signedIn.times))
    let shown = found.reversed().filter {
      administrator.may(.findUsers, project: $0.project, tenant: $0.tenant)
    }
    content.users = shown.isEmpty ? nil : DownloadedUsers(of: shown)
    content.table.rows = shown.map { exemption in
      [
        .name(exemption.label, href: exemption.userAddress), .name(exemption.poolName),
        .text(ExemptionText.reason(exemption)), .name(exemption.ticket),
        .name(exemption.grantorName), .moment(exemption.grantedAt), .end(exemption.endsAt),
      ]
    }
    content.menus = [periods(ConsolePaths.report(.exemptions)(context.pool), query)]
    addTenantsMenu(
      to: &content, .exemptions, context.pool, context.signedIn)
    return content
  }

  private func locked(
    _ context: PoolContext, after: String?, limit: Int
  ) async throws -> ReportContent {
    let now = identity.clock.now()
    let page = try await identity.accounts.list(
      context.pool, filter: .locked, after: after, limit: limit)
    let ends = try await identity.exemptions.ends(of: page.items.map(\.key))
    let causes = try await identity.reports.lockCauses(of: page.items.map(\.key))
    let unlocks = context.may(ConsoleAction.unlockCodes.requirements.permission)
    var content = ReportContent(
      summary: Report.locked.explanation, query: PageSize(context.signedIn.query).form,
      table: ReportTable(
        caption: Report.locked.explanation,
        columns: [
          Message("User"), Message("State"), Message("Cause"), Message("Since"), Message("Until"),
          Message("Exempt until"),
        ], times: context.signedIn.times), next: page.next)
    for account in page.items {
      let lock = account.codeLock(at: now)
      guard let state = AccountChips.words(lock) else { continue }
      var until = ReportTable.Cell.text(Message("Until unlocked"))
      if case .blocked(let end) = lock { until = .moment(end) }
      let (user, cause) = (account.id.text, causes[account.key])
      if unlocks {
        let reason: Form = ["reason": SupportReason.locked.rawValue]
        content.table.next.append(
          Link(
            text: Message("Unlock codes…"),
            href: reason.query(of: UnlockCodes.path(context.pool, user))))
      }
      content.table.rows.append([
        .name(account.label, href: ConsolePaths.user(context.pool, user)),
        .marked(AccountChips.lock(lock), state),
        .text(
          Message(
            one: "{count} incorrect code", other: "{count} incorrect codes",
            ["count": .number(cause?.wrongCodes ?? 0)])),
        .past(cause?.since), until, Self.exemptUntil(ends[account.key]),
      ])
    }
    return content
  }

  private func factors(
    _ context: PoolContext, after: String?, limit: Int, counts: Bool
  ) async throws -> ReportContent {
    let choices = FactorChoice.all(in: context.pool)
    let choice = FactorChoice(context.signedIn.query.text("age"), among: choices)
    let page = try await identity.reports.factors(
      in: context.pool, choice.condition, after: after, limit: limit)
    let conditions = choices.map(\.condition)
    let numbers =
      counts ? try await identity.reports.factorCounts(in: context.pool, conditions) : nil
    let ends = try await identity.exemptions.ends(of: Array(Set(page.items.map(\.key))))
    let query = PageSize(context.signedIn.query).added(to: ["age": choice.rawValue])
    // Tells who shares a secret with whom.
    let fingerprint: [Message] =
      choice == .sharedSecret ? [Message("Secret fingerprint")] : []
    var content = ReportContent(
      summary: Report.factors.explanation, query: query,
      table: ReportTable(
        caption: choice.name,
        columns: [
          Message("User"), Message("Second factor"), Message("Name"),
          Message("Enrolled"), Message("Last used"),
          Message("Exempt until"),
        ] + fingerprint, times: context.signedIn.times), next: page.next,
      total: numbers.flatMap { $0.isCut ? nil : $0[choice.condition] })
    content.table.rows = page.items.map { factor in
      [
        .name(factor.label, href: ConsolePaths.user(context.pool, factor.account.text)),
        .text(factor.kind.name), .name(factor.displayName ?? ""), .past(factor.enrolledAt),
        .past(factor.lastUsedAt), Self.exemptUntil(ends[factor.key]),
      ] + fingerprint.map { _ in .name(factor.secretFingerprint ?? "") }
    }
    content.menus = [
      menu(
        Message("Second factors"), "age",
        choices.map { choice in
          (
            choice.rawValue,
            numbers.map {
              Message(
                "{filter} ({number})",
                [
                  "filter": .message(choice.name),
                  "number": .message(
                    .counted($0[choice.condition], isCut: $0.isCut)),
                ])
            } ?? choice.name
          )
        },
        ConsolePaths.report(.factors)(context.pool), query)
    ]
    content.table.isSelecting = context.may(action: .startBulkRemoval)
    return content
  }

  private static func exemptUntil(_ end: Instant?) -> ReportTable.Cell {
    end.map { .end($0) } ?? .name("")
  }

  func period(_ signedIn: SignedIn) -> (ChartWindow, Instant) {
    let window = ChartWindow(signedIn.query.text("period") ?? "90")
    return (window, identity.clock.now().advanced(bySeconds: -Int64(window.days) * 86_400))
  }

  func periods(_ path: String, _ query: Form) -> ReportMenu {
    menu(
      Message("Period"), "period",
      ChartWindow.allCases.map { (String($0.days), $0.name) }, path, query)
  }

  /// Whether the report is about a project with all its tenants.
  private func isWhole(_ context: PoolContext) -> Bool {
    context.pool.tenant == nil && context.signedIn.query.text("tenants") == "all"
  }

  func subject(_ report: Report, _ context: PoolContext) -> ReportSubject {
    report.coversTenants && isWhole(context) ? .project(context.pool) : .pool(context.pool)
  }

  private func query(_ query: Form, isWhole: Bool) -> Form {
    var query = query
    if isWhole { query.add("tenants", "all") }
    return query
  }

  func tenants(_ path: String, _ query: Form) -> ReportMenu {
    menu(
      Message("Scope"), "tenants",
      [("", Message("Without tenants")), ("all", Message("With tenants"))], path, query)
  }

  private func addTenantsMenu(
    to content: inout ReportContent, _ report: Report, _ pool: Pool, _ signedIn: SignedIn
  ) {
    guard pool.tenant == nil else { return }
    var pools = tenants(ConsolePaths.report(report)(pool), content.query)
    if report.coversProjects, signedIn.administrator.may(report.permission, in: nil) {
      pools.items.append(
        Link(
          text: Message("All projects"),
          href: changed(content.query, "tenants", "").query(
            of: ConsolePaths.report(report, about: .instance)),
          isCurrent: false))
    }
    content.menus.append(pools)
  }

  private func menu(
    _ label: Message, _ field: String, _ choices: [(value: String, name: Message)],
    _ path: String, _ query: Form
  ) -> ReportMenu {
    let current = query.text(field) ?? ""
    return ReportMenu(
      label: label,
      items: choices.map { value, name in
        Link(
          text: name, href: changed(query, field, value).query(of: path),
          isCurrent: value == current)
      })
  }

  /// A query with another value of a field, or without it if the value is empty.
  private func changed(_ query: Form, _ field: String, _ value: String) -> Form {
    var form = Form()
    for entry in query.entries where entry.name.text != field {
      form.add(entry.name.text, entry.value.text)
    }
    if !value.isEmpty { form.add(field, value) }
    return form
  }
}
