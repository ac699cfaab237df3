import HTTP
import Identity
import Localization
import Templating

/// `S/enrollment-campaigns/{number}`: how far a campaign's users are, and who they are.
struct CampaignPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<CampaignView>
  let new: NewCampaignPage

  private var removals: BulkRemovals { identity.bulkRemovals }

  func show(_ context: PoolContext, _ id: String) async throws -> Response {
    let job = try await removals.job(id, context)
    guard job.kind == .campaign, job.state != .draft else {
      return try await new.page(context, job)
    }
    let (path, query) = (ConsolePaths.campaign(context.pool, id), context.signedIn.query)
    let show = query.text("show") ?? ""
    let filter = CampaignUser.Filter(rawValue: show)
    let refresh = PageRefresh(path, query, tab: filter?.rawValue ?? "")
    let showsLines = job.startedAt == nil || filter == nil && !show.isEmpty
    let users = try await removals.users(
      of: job, filter, after: showsLines ? nil : refresh.after, limit: refresh.size.rows)
    if !showsLines {
      if let first = context.signedIn.firstPage(of: path, insteadOf: users) { return first }
      try await frames.record(users.items.count, shownIn: context)
    }
    let frame = try await frames.frame(
      Message("Enrollment campaign · #{id} · Users", ["id": .text(id)]), in: context,
      crumbs: Link.crumbsOfUsers(context.pool))
    let model = CampaignView(
      frame: FrameView(frame), context: context, job: job,
      counts: try await removals.campaign(job), users: showsLines ? nil : users,
      lines: showsLines ? try await BulkLines(removals, job, context, frames) : nil,
      refresh: refresh,
      approval: try await identity.approvals.find(forJob: job.id, in: context.pool),
      now: identity.clock.now())
    var response = Response.html(view.render(model))
    if model.isBusy { refresh.add(to: &response) }
    return response
  }

  /// Returns the users who were sent a link as CSV.
  func download(_ context: PoolContext, _ id: String) async throws -> Response {
    let job = try await removals.job(id, context)
    guard job.kind == .campaign, job.state != .draft else { throw Refusal.notFound }
    let columns = [
      Message("User"), Message("Sent"), Message("Opened"), Message("Enrolled"), Message("State"),
    ]
    var file = CSV(columns.map(frames.catalog.text))
    let users = try await removals.users(of: job, limit: BulkList.longest).items
    try await frames.record(users.count, shownIn: context)
    for user in users {
      let times = [user.sentAt, user.openedAt, user.enrolledAt]
      file.add(
        [user.label] + times.map { $0?.rfc3339Milliseconds ?? "" }
          + [frames.catalog.text(user.state(in: job).state.word)])
    }
    return file.response(named: "campaign-\(job.id)")
  }
}

struct CampaignView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let job: BulkJob
  let counts: CampaignCounts
  /// The users who were sent a link; nil where the page shows lines.
  let users: Page<CampaignUser>?
  let lines: BulkLines?
  let refresh: PageRefresh
  let approval: Approval?
  let now: Instant

  private var unsent: Int { job.state == .running ? job.users - job.usersDone : 0 }
  private var isSending: Bool { unsent > 0 }
  /// Whether emails are being sent, and not waiting for the next hour.
  var isBusy: Bool { isSending && job.nextAt.map { $0 <= now } ?? true }
  private var skipped: Int { job.lines - job.usersRemoved - unsent }
  private var notEnrolled: Int { counts.sent - counts.enrolled }
  private var resend: String {
    (["campaign": String(job.id)] as Form).query(of: ConsolePaths.enrollmentLinks(context.pool))
  }

  private func day(_ instant: Instant) -> Message.Value {
    Times.short(frame.times.calendarDay(of: instant))
  }

  private var filters: [Link] {
    func link(_ filter: CampaignUser.Filter?, _ name: Message, _ count: Int) -> Link {
      let tab = filter?.rawValue ?? ""
      return Link(
        text: Message("{name} ({number})", ["name": .message(name), "number": .number(count)]),
        href: refresh.address(ofTab: tab), isCurrent: lines == nil && refresh.tab == tab)
    }
    return [
      link(nil, Message("All"), counts.sent),
      link(
        .notEnrolled, job.state == .running ? Message("Not enrolled") : Message("Expired"),
        notEnrolled),
      link(.notOpened, Message("Not opened"), counts.notOpened),
      link(.enrolled, Message("Enrolled"), counts.enrolled),
    ]
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("day") { .value($0.day($0.job.startedAt ?? $0.job.createdAt)) },
    .text("requester") { $0.job.requesterName },
    .text("approver") { $0.job.approverName },
    .texts("terms") { $0.job.terms?.texts ?? [] },
    .text("until") { view in
      view.job.state == .stopped
        ? nil : view.job.linksEndAt.map { Message.value(view.day($0)) }
    },
    .number("id") { Int($0.job.id) },
    .markup("state") { BulkText.chip($0.job.state) },
    .text("file") { ConsolePaths.campaignFile($0.context.pool, String($0.job.id)) },
    .text("resend") { $0.resend },
    .text("missing") { view in
      view.notEnrolled > 0 ? .value(.number(view.notEnrolled)) : nil
    },
    .text("ending") { $0.job.endingSentence },
    .flag("isStarted") { $0.job.startedAt != nil },
    .flag("isWaiting") { $0.job.state == .waiting },
    .text("approval") { $0.approval?.address },
    .object("funnel") { CampaignFunnel(counts: $0.counts) },
    .flag("isSending") { $0.isSending },
    .number("sent") { $0.job.usersRemoved },
    .number("all") { $0.job.users },
    .number("most") { _ in BulkRemovals.mostLinks },
    .optional("refresh") { $0.isBusy ? $0.refresh : nil },
    .number("count") { $0.skipped },
    .text("skipped") {
      $0.skipped > 0 ? $0.refresh.address(ofTab: BulkLines.every) : nil
    },
    .flag("mayStop") { $0.job.state == .running && $0.context.may($0.job.kind.permission) },
    .text("end") { ConsolePaths.endOfRemoval($0.context.pool, String($0.job.id)) },
    .list("filters") { $0.filters },
    .list("rows") { view in
      (view.users?.items ?? []).map {
        CampaignRow(user: $0, job: view.job, pool: view.context.pool, times: view.frame.times)
      }
    },
    .optional("pager") { view in
      view.users.map { page in
        PagerView(
          shown: Message(
            one: "{count} user, not enrolled first", other: "{count} users, not enrolled first",
            ["count": .number(page.items.count)]),
          path: view.refresh.path, query: view.refresh.query, after: view.refresh.after,
          next: page.next)
      }
    },
    .optional(\.lines),
  ]
}

struct CampaignRow: ViewModel {
  let user: CampaignUser
  let job: BulkJob
  let pool: Pool
  let times: Times

  static let keys: Keys<Self> = [
    .text("href") { ConsolePaths.user($0.pool, $0.user.account.text) },
    .text("label") { Formatted.short($0.user.label, 120) },
    .text("name") { $0.user.name.map { Formatted.short($0) } },
    .markup("opened") { row in row.user.openedAt.map { row.times.day($0) } },
    .markup("state") { $0.user.state(in: $0.job).state.chip },
    .markup("date") { $0.times.day($0.user.state(in: $0.job).at) },
    .flag("mayResend") { $0.user.enrolledAt == nil },
  ]
}

extension CampaignUser {
  fileprivate var label: String { email ?? account.text }
}

extension CampaignUser.State {
  fileprivate var word: Message {
    switch self {
    case .sent: Message("sent")
    case .opened: Message("opened")
    case .enrolled: Message("enrolled")
    case .expired: Message("expired")
    }
  }

  fileprivate var chip: Markup {
    self == .enrolled ? Chip.on(word) : self == .expired ? Chip.look(word) : Chip.off(word)
  }
}

extension CampaignTerms {
  /// How long links are valid, and the number of reminders.
  var texts: [Message] {
    let days = Int(seconds / 86_400)
    let reminders = reminders(from: Instant(seconds: 0)).count
    return [
      // Those of earlier versions.
      days == 0
        ? Message("links for 30 minutes")
        : Message(
          one: "links for {count} day", other: "links for {count} days", ["count": .number(days)]),
      Message(one: "{count} reminder", other: "{count} reminders", ["count": .number(reminders)]),
    ]
  }
}

enum CampaignRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let new = try parts.page("campaigns/new", NewCampaignPage.init)
    table.inside(
      ConsolePaths.enrollmentLinks, .performing(.previewBulkRemoval, needs: .secrets), new.create)
    table.inside(ConsolePaths.campaign, .performing(.startCampaign), new.begin)
    let page = CampaignPage(parts: parts, view: try parts.template("campaigns/campaign"), new: new)
    let reading = ConsoleRoute.Use.get(.removeFactors, needs: .secrets)
    table.inside(ConsolePaths.campaign, reading, page.show)
    table.inside(ConsolePaths.campaignFile, reading, page.download)
  }
}

extension ConsolePaths {
  static let enrollmentLinks = PoolPath0("enrollment-links")
  static let campaign = PoolPath1("enrollment-campaigns", nil)
  static let campaignFile = PoolPath1("enrollment-campaigns", nil, "result.csv")
}
