import HTTP
import Identity
import Localization
import Templating
import Text

/// `S/bulk-removals`: past bulk removals, and the form for a new one.
struct RemovalsPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<RemovalsView>

  private var removals: BulkRemovals { identity.bulkRemovals }

  func show(_ context: PoolContext) async throws -> Response {
    try await page(context)
  }

  /// Creates a draft from a pasted list, from all users that a list shows, or from those of them
  /// that are selected, and redirects to its preview.
  func look(_ context: PoolContext) async throws -> Response {
    let signedIn = context.signedIn
    guard let typed = signedIn.form.text("list", atMost: Form.longestText) else {
      return try await select(context)
    }
    let list: BulkList
    do {
      list = try BulkList(typed)
    } catch {
      return try await page(context, typed: typed, fault: Self.fault(error))
    }
    return Self.preview(
      try await removals.draft(list, in: context.pool, by: signedIn.author, signedIn.session),
      in: context)
  }

  private func select(_ context: PoolContext) async throws -> Response {
    let signedIn = context.signedIn
    let asked = signedIn.query.text(UserSelection.kind) ?? BulkJob.Kind.removal.rawValue
    // Campaigns have a separate address.
    guard let kind = BulkJob.Kind(rawValue: asked), kind != .campaign else {
      throw Refusal.unreadableForm
    }
    guard context.may(kind.permission) else { throw Refusal.notAllowed(kind.permission) }
    do {
      if let all = UsersQuery.selected(by: signedIn.query) {
        return Self.preview(
          try await removals.draft(
            all: all, kind, in: context.pool, by: signedIn.author, signedIn.session), in: context)
      }
      return Self.preview(
        try await removals.draft(
          signedIn.form.selectedUsers(of: context.pool), kind, in: context.pool,
          by: signedIn.author, signedIn.session), in: context)
    } catch let error as BulkError {
      switch error {
      case .nothingToDo where kind != .removal:
        return frames.leave(
          Flash(text: UserSelection.missing, isAlert: true), signedIn, renewed: nil,
          to: ConsolePaths.users(context.pool))
      case .nothingToDo:
        return try await page(
          context,
          fault: Message(
            "Select users in the list, or enter email addresses or UIDs, one per line."))
      case .tooLong where kind != .removal:
        return frames.leave(
          Flash(text: UserSelection.tooMany, isAlert: true), signedIn, renewed: nil,
          to: ConsolePaths.users(context.pool))
      case .tooLong:
        let text = Message(
          one: """
            Too many users match for one bulk removal. Narrow the list, or enter at most {count} \
            line.
            """,
          other: """
            Too many users match for one bulk removal. Narrow the list, or enter at most {count} \
            lines.
            """, ["count": .number(BulkList.longest)])
        return try await page(context, fault: text)
      }
    }
  }

  private static func preview(_ id: Int64, in context: PoolContext) -> Response {
    .redirect(to: ConsolePaths.bulkRemoval(context.pool, String(id)))
  }

  private static func fault(_ error: BulkListError) -> Message {
    switch error {
    case .empty: Message("Enter email addresses or UIDs, one per line.")
    case .tooLong:
      Message(
        one: "Enter at most {count} line. Create another removal for the rest.",
        other: "Enter at most {count} lines. Create another removal for the rest.",
        ["count": .number(BulkList.longest)])
    case .severalAddresses(let line):
      Message(
        """
        Line {line} has several email addresses. Put each on its own line, or add a first line \
        that names the columns.
        """, ["line": .number(line)])
    case .missingUser(let line):
      Message(
        "Line {line} has no UID or email address. Add one, or remove the line.",
        ["line": .number(line)])
    case .containsNUL(let line):
      Message(
        """
        Line {line} contains a NUL character, shown as ␀. Remove it, or save the list as UTF-8 \
        and paste it again.
        """, ["line": .number(line)])
    }
  }

  private func page(
    _ context: PoolContext, typed: String = "", fault: Message? = nil
  ) async throws -> Response {
    let size = PageSize(context.signedIn.query)
    let after = context.signedIn.query.text("after")
    let (jobs, undos) = try await removals.list(context.pool, after: after, limit: size.rows)
    let path = ConsolePaths.removals(context.pool)
    if fault == nil, let first = context.signedIn.firstPage(of: path, insteadOf: jobs) {
      return first
    }
    let frame = try await frames.frame(
      Message("Bulk removals · Users"), in: context,
      crumbs: [Link(text: Message("Users"), href: ConsolePaths.users(context.pool))],
      errors: fault.map { [FieldError(field: "list", text: $0)] } ?? [])
    let model = RemovalsView(
      frame: FrameView(frame), context: context, jobs: jobs, undos: undos, size: size,
      after: after,
      form: ListForm(context, typed: typed, error: fault))
    return .html(view.render(model), status: fault == nil ? .ok : .unprocessableContent)
  }
}

struct RemovalsView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let jobs: Page<BulkJob>
  let undos: [Int64: BulkUndo.State]
  let size: PageSize
  let after: String?
  let form: ListForm

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("poolName") { $0.context.pool.name },
    .object(\.form),
    .flag("hasRows") { !$0.jobs.items.isEmpty },
    .list("rows") { view in
      view.jobs.items.map {
        RemovalRow(
          job: $0, undo: view.undos[$0.id], pool: view.context.pool,
          times: view.frame.times)
      }
    },
    .object("pager") { view in
      PagerView(
        shown: Message(
          one: "{count} bulk action", other: "{count} bulk actions",
          ["count": .number(view.jobs.items.count)]),
        path: ConsolePaths.removals(view.context.pool), query: view.size.form, after: view.after,
        next: view.jobs.next)
    },
    .text("daysKept") { _ in Message.value(.number(BulkRemovals.daysKept)) },
    .object("empty") { _ in
      EmptyView(
        heading: Message("No bulk actions"),
        sentence: Message(
          """
          If many devices are lost at once, enter their users’ email addresses above. You can \
          preview the matching users before anything is removed.
          """))
    },
  ]
}

struct RemovalRow: ViewModel {
  let job: BulkJob
  /// How far its undo is; nil if nobody undid it.
  let undo: BulkUndo.State?
  let pool: Pool
  let times: Times

  static let keys: Keys<Self> = [
    .text("href") { ConsolePaths.bulkRemoval($0.pool, String($0.job.id)) },
    .text("name") {
      $0.job.kind == .removal ? BulkText.users($0.job.users) : BulkWords($0.job).name
    },
    .text("number") { String($0.job.id) },
    .text("reason") { $0.job.reason?.name },
    .markup("state") { BulkText.chip($0.job.state, undo: $0.undo) },
    .text("done") {
      Message(
        "{removed} of {users}",
        ["removed": .number($0.job.usersRemoved), "users": .number($0.job.users)])
    },
    .text("who") { $0.job.requesterName },
    .markup("when") { $0.times.past($0.job.startedAt ?? $0.job.createdAt) },
  ]
}

enum RemovalsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let removals = try parts.page("removals/removals", RemovalsPage.init)
    let reading = ConsoleRoute.Use.get(.removeFactors, needs: .userChanges)
    table.inside(ConsolePaths.removals, reading, removals.show)
    table.inside(ConsolePaths.removals, .performing(.previewBulkRemoval), removals.look)

    let job = RemovalJobPage(
      parts: parts, view: try parts.template("removals/job"),
      draft: try parts.template("removals/draft"))
    table.inside(ConsolePaths.bulkRemoval, reading, job.show)
    table.inside(ConsolePaths.bulkRemoval, .performing(.startBulkRemoval), job.begin)
    table.inside(ConsolePaths.endOfRemoval, .performing(.stopBulkRemoval), job.end)
    table.inside(ConsolePaths.removalFile, reading, job.download)
    let undo = try parts.page("removals/undo", UndoRemovalPage.init)
    table.inside(
      ConsolePaths.undoOfBulkRemoval, .get(.removeFactors, needs: .secrets), undo.show)
    table.inside(ConsolePaths.undoOfBulkRemoval, .performing(.undoBulkRemoval), undo.perform)
  }
}

extension ConsolePaths {
  // Not below `users`, because a UID can be any word.
  static let removals = PoolPath0("bulk-removals")
  static let bulkRemoval = PoolPath1("bulk-removals", nil)
  static let endOfRemoval = PoolPath1("bulk-removals", nil, "end")
  static let undoOfBulkRemoval = PoolPath1("bulk-removals", nil, "undo")
  static let removalFile = PoolPath1("bulk-removals", nil, "result.csv")
}
