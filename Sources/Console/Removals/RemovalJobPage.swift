import HTTP
import Identity
import Localization
import Templating

/// `S/bulk-removals/{number}`: the preview of a bulk removal with the form to run it; later its
/// progress and the result of each line.
struct RemovalJobPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<RemovalJobView>
  let draft: Template<RemovalDraftView>

  private var removals: BulkRemovals { identity.bulkRemovals }

  func show(_ context: PoolContext, _ id: String) async throws -> Response {
    let job = try await removals.job(id, context)
    guard job.kind != .campaign else {
      return .redirect(to: ConsolePaths.campaign(context.pool, id))
    }
    guard job.state != .draft else {
      return try await ask(context, job, ActionInput(), number: "", errors: [])
    }
    let lines = try await BulkLines(removals, job, context, frames)
    let approval = try await identity.approvals.find(forJob: job.id, in: context.pool)
    let progress = try await removals.progress(of: job, in: context.pool)
    let model = RemovalJobView(
      frame: try await frame(context, job), context: context, progress: progress, lines: lines,
      approval: approval,
      undoByOthers: try await .find(
        identity.administrators, toUndo: progress, in: context, frames))
    var response = Response.html(view.render(model))
    if progress.isRunning { lines.refresh.add(to: &response) }
    return response
  }

  /// Runs a bulk removal, or requests approval for it.
  func begin(_ context: PoolContext, _ id: String) async throws -> Response {
    let job = try await removals.job(id, context)
    let form = context.signedIn.form
    let answers = ActionInput(form)
    let number = form.trimmed("number")
    let outcome: ActionOutcome<BulkJob>
    do {
      outcome = try await removals.begin(
        job.id, in: context.pool, number: number, answers.request(context.signedIn))
    } catch let denial as ActionDenial {
      let faults = try BulkFaults.faults(
        denial, job.kind.permission, users: job.users, context.signedIn.times)
      return try await ask(context, job, answers, number: number, errors: faults)
    }
    let text = BulkWords(job).begun(isWaiting: outcome.value.state == .waiting)
    return frames.leave(
      Flash(text: text), context.signedIn, renewed: outcome.renewed,
      to: ConsolePaths.bulkRemoval(context.pool, id))
  }

  func end(_ context: PoolContext, _ id: String) async throws -> Response {
    let job = try await removals.job(id, context)
    let isStopped: Bool
    do {
      isStopped = try await removals.stop(job.id, in: context.pool, context.signedIn.plainRequest)
    } catch let denial as ActionDenial {
      throw Refusal.of(denial, job.kind.permission)
    }
    return frames.leave(
      BulkWords(job).ended(isStopped: isStopped), for: context.signedIn,
      to: ConsolePaths.bulkRemoval(context.pool, id))
  }

  /// Returns every line with its result as CSV, except of a draft.
  ///
  /// The administrator who submitted the draft gave a reason and re-authenticated, which is recorded.
  /// A draft of selected users would export the list of users without any of it.
  func download(_ context: PoolContext, _ id: String) async throws -> Response {
    let job = try await removals.job(id, context)
    guard job.kind != .campaign, job.state != .draft else { throw Refusal.notFound }
    let catalog = frames.catalog
    let removes = job.kind == .removal
    let columns = [
      Message("Line"), Message("User"), Message("Result"),
      removes ? Message("Factors removed") : nil, Message("Sessions ended"),
    ].compactMap(\.self)
    var file = CSV(columns.map(catalog.text))
    var after: String?
    repeat {
      let place = after
      let page = try await removals.items(of: job, after: place, limit: 500)
      for item in page.items {
        let result = catalog.text(BulkText.cell(item, of: job))
        file.add(
          [String(item.line), item.given, result] + (removes ? [String(item.removed)] : [])
            + [String(item.sessions)])
      }
      after = page.next
      // Lets other tasks of this thread run.
      await Task.yield()
    } while after != nil
    return file.response(named: "\(job.kind.rawValue)-\(job.id)")
  }

  // MARK: - Parts

  private func frame(
    _ context: PoolContext, _ job: BulkJob, errors: [FieldError] = []
  ) async throws -> FrameView {
    let title = Message(
      "{name} · #{id} · Users",
      ["name": .message(BulkWords(job).name), "id": .text(String(job.id))])
    let frame = try await frames.frame(
      title, in: context, crumbs: Link.crumbsOfRemovals(context.pool), errors: errors)
    return FrameView(frame)
  }

  private func ask(
    _ context: PoolContext, _ job: BulkJob, _ answers: ActionInput, number: String,
    errors: [FieldError]
  ) async throws -> Response {
    let eligibility = try await removals.eligibility(
      context.signedIn.session, on: job, in: context.pool)
    let refusal = Notice(eligibility.support, context.signedIn)
    // Without a form, there's no field for the error summary to link to.
    let errors = refusal == nil ? errors : []
    let frame = try await frame(context, job, errors: errors)
    let lines = try await BulkLines(removals, job, context, frames)
    let model = RemovalDraftView(
      frame: frame, context: context, job: job, lines: lines, eligibility: eligibility.support,
      approval: eligibility.approval, refusal: refusal, answers: answers, number: number,
      carriesMail: identity.messages.carriesMail,
      signIn: try await identity.policies.signInWithoutFactor(in: context.pool))
    return .html(draft.render(model), errors: errors)
  }
}

extension Link {
  static func crumbsOfUsers(_ pool: Pool) -> [Link] {
    [Link(text: Message("Users"), href: ConsolePaths.users(pool))]
  }

  static func crumbsOfRemovals(_ pool: Pool) -> [Link] {
    crumbsOfUsers(pool)
      + [Link(text: Message("Bulk removals"), href: ConsolePaths.removals(pool))]
  }
}

extension BulkRemovals {
  func job(_ id: String, _ context: PoolContext) async throws -> BulkJob {
    guard let number = Int64(id) else { throw Refusal.notFound }
    return try await find(number, in: context.pool, for: context.signedIn.administrator.id)
  }
}

struct BulkLines: ViewModel {
  let job: BulkJob
  let pool: Pool
  let page: Page<BulkItem>
  let counts: [BulkResult?: Int]
  let refresh: PageRefresh
  private let all: String

  /// The tab of lines that haven't been processed.
  static let open = "open"
  /// The tab of all lines of a campaign, whose page shows users without one.
  static let every = "lines"

  /// Reads the lines that the query of a page chooses.
  init(
    _ removals: BulkRemovals, _ job: BulkJob, _ context: PoolContext, _ frames: Frames
  ) async throws {
    (self.job, pool) = (job, context.pool)
    let page = job.kind == .campaign ? ConsolePaths.campaign : ConsolePaths.bulkRemoval
    all = job.kind == .campaign ? Self.every : ""
    let query = context.signedIn.query
    let show = query.text("show") ?? ""
    let result = BulkResult(rawValue: show)
    let isOpen = show == Self.open
    refresh = PageRefresh(
      page(pool, String(job.id)), query, tab: isOpen || result != nil ? show : all)
    self.page = try await removals.items(
      of: job, result, isOpen: isOpen, after: refresh.after, limit: refresh.size.rows)
    try await frames.record(self.page.items.count, shownIn: context)
    counts = try await removals.counts(of: job)
  }

  private var tabs: [Link] {
    let all = Link(
      text: Message("All ({number})", ["number": .number(job.lines)]),
      href: refresh.address(ofTab: all), isCurrent: refresh.tab == all)
    let kinds: [BulkResult?] = [nil] + BulkResult.allCases.map { $0 }
    return [all]
      + kinds.compactMap { kind in
        guard let count = counts[kind], count > 0 else { return nil }
        let name = kind?.rawValue ?? Self.open
        return Link(
          text: BulkText.tab(kind, of: job, count), href: refresh.address(ofTab: name),
          isCurrent: refresh.tab == name)
      }
  }

  static let keys: Keys<Self> = [
    .list("tabs") { $0.tabs },
    .flag("hasRows") { !$0.page.items.isEmpty },
    .list("rows") { lines in
      lines.page.items.map { BulkLineRow(item: $0, job: lines.job, pool: lines.pool) }
    },
    .object("pager") { lines in
      PagerView(
        shown: Message(
          one: "{count} line", other: "{count} lines", ["count": .number(lines.page.items.count)]),
        path: lines.refresh.path, query: lines.refresh.query, after: lines.refresh.after,
        next: lines.page.next)
    },
    .object("empty") { lines in
      EmptyView(
        heading: Message("No matching lines"),
        sentence: Message("No line of this list has this result."),
        link: Link(
          text: Message("Show all lines"), href: lines.refresh.address(ofTab: lines.all)))
    },
  ]
}

struct BulkLineRow: ViewModel {
  let item: BulkItem
  let job: BulkJob
  let pool: Pool

  static let keys: Keys<Self> = [
    .text("given") { Formatted.short($0.item.given, 120) },
    .text("href") { row in row.item.account.map { ConsolePaths.user(row.pool, $0.text) } },
    .number("line") { $0.item.line },
    .text("result") { BulkText.result($0.item, of: $0.job) },
  ]
}
