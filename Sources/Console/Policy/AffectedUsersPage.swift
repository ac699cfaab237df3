import HTTP
import Identity
import Localization
import OTP
import Templating

/// `S/policy/affected`: the users with a correct code outside a window.
struct AffectedUsersPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<AffectedUsersView>

  /// The address of the users outside a window; nil for administrators who can't see users.
  static func address(_ window: Window, days: Int, in context: PoolContext) -> String? {
    guard context.may(.findUsers) else { return nil }
    return AffectedUsersQuery(window: window, days: days).form.query(
      of: ConsolePaths.affectedUsers(context.pool))
  }

  func show(_ context: PoolContext) async throws -> Response {
    let query = AffectedUsersQuery(context.signedIn.query)
    let size = PageSize(context.signedIn.query)
    let after = context.signedIn.query.text("after")
    let page = try await identity.activity.affected(
      in: context.pool, beyond: query.window.adjacentIntervals, days: query.days, after: after,
      limit: size.rows)
    let path = ConsolePaths.affectedUsers(context.pool)
    if let first = context.signedIn.firstPage(of: path, insteadOf: page) { return first }
    try await frames.record(page.items.count, shownIn: context)
    let frame = try await frames.frame(
      Message("Correct codes outside {window}", ["window": .text(WindowText.name(query.window))]),
      in: context,
      crumbs: [
        Link(text: Message("MFA policy"), href: ConsolePaths.policy(context.pool))
      ])
    return .html(
      view.render(
        AffectedUsersView(
          frame: FrameView(frame), context: context, query: query, page: page, size: size,
          after: after)))
  }
}

struct AffectedUsersQuery: Sendable {
  let window: Window
  let days: Int

  init(window: Window, days: Int) {
    (self.window, self.days) = (window, days)
  }

  /// Reads `?beyond=` and `?days=`; other values mean the defaults.
  init(_ form: Form) {
    window =
      form.text("beyond").flatMap { Int($0) }.flatMap(Window.init(adjacentIntervals:)) ?? .standard
    days = EvidenceQuery(form).days
  }

  var form: Form { ["beyond": String(window.adjacentIntervals), "days": String(days)] }
}

struct AffectedUsersView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let query: AffectedUsersQuery
  let page: Page<AffectedUser>
  let size: PageSize
  let after: String?

  private var path: String { ConsolePaths.affectedUsers(context.pool) }

  private var pager: PagerView? {
    guard !page.items.isEmpty else { return nil }
    return PagerView(
      shown: Message(
        one: "{count} user", other: "{count} users", ["count": .number(page.items.count)]),
      path: path,
      query: size.added(to: query.form), after: after, next: page.next)
  }

  private var periods: [Link] {
    EvidenceQuery.periods.map { days in
      Link(
        text: Message(one: "{count} day", other: "{count} days", ["count": .number(days)]),
        href: size.added(to: AffectedUsersQuery(window: query.window, days: days).form)
          .query(of: path),
        isCurrent: days == query.days)
    }
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("heading") {
      Message(
        "Users with correct codes outside {window}",
        ["window": .text(WindowText.name($0.query.window))])
    },
    .text("explanation") {
      Message(
        one: """
          Accepted codes and confirmed near misses from today (UTC), most recent first. Codes are \
          counted while they’re in the code attempt log.
          """,
        other: """
          Accepted codes and confirmed near misses from the last {count} days (UTC), most recent \
          first. Codes are counted while they’re in the code attempt log.
          """, ["count": .number($0.query.days)])
    },
    .list("periods") { $0.periods },
    .list("rows") { view in
      view.page.items.map {
        AffectedUserRow(user: $0, window: view.query.window, pool: view.context.pool)
      }
    },
    .optional("pager") { $0.pager },
    .object("empty") { _ in
      EmptyView(
        heading: Message("No users"),
        sentence: Message(
          """
          No current user entered a correct code outside the window in this period. The evidence \
          also counts codes of deleted users.
          """))
    },
    .text("file") { view in
      view.context.may(.exportUsers)
        ? view.query.form.query(of: ConsolePaths.affectedUsersFile(view.context.pool)) : nil
    },
  ]
}

struct AffectedUserRow: ViewModel {
  let user: AffectedUser
  let window: Window
  let pool: Pool

  static let keys: Keys<Self> = [
    .text("href") { ConsolePaths.user($0.pool, $0.user.account.text) },
    .text("name") { Formatted.short($0.user.label) },
    .text("sub") { $0.user.email == nil ? nil : $0.user.displayName.map { Formatted.short($0) } },
    .text("reach") { $0.user.farthest },
    .markup("strip") { WindowStrip.marked($0.window, at: $0.user.distance, isAccepted: false) },
    .text("codes") { $0.user.codes > 0 ? .value(.number($0.user.codes)) : .verbatim("–") },
  ]
}

extension AffectedUser {
  var label: String { email ?? displayName ?? account.text }

  /// How far the codes were off, on the side of the farthest one if it's still known.
  var farthest: Message {
    let count = Message.Value.number(reach)
    guard let distance else { return Message("Up to {count}", ["count": count]) }
    return distance < 0
      ? Message("Up to {count} late", ["count": count])
      : Message("Up to {count} early", ["count": count])
  }
}

extension AffectedUsersPage {
  private static let batch = 500

  /// `S/policy/affected.csv`: the users with a correct code outside a window, as CSV.
  ///
  /// Distances describe how people behave, so the file requires the permission to export users, and
  /// is recorded.
  func download(_ context: PoolContext) async throws -> Response {
    let query = AffectedUsersQuery(context.signedIn.query)
    return try await actions.download(
      in: context, named: "affected-users", asking: question(context.pool, query),
      at: query.form.query(of: ConsolePaths.affectedUsersFile(context.pool))
    ) { () in
      let (file, count) = try await Self.file(actions.frames.catalog) { after, limit in
        try await identity.activity.affected(
          in: context.pool, beyond: query.window.adjacentIntervals, days: query.days,
          after: after, limit: limit)
      }
      return (file, .pools([DownloadedUsers.PoolCount(context.pool, count: count)]), heading(query))
    }
  }

  private func heading(_ query: AffectedUsersQuery) -> Message {
    Message(
      "Users with correct codes outside {window}", ["window": .text(WindowText.name(query.window))])
  }

  private func question(_ pool: Pool, _ query: AffectedUsersQuery) -> FormPage {
    let list = query.form.query(of: ConsolePaths.affectedUsers(pool))
    return FormPage(
      title: Message("Download affected users"),
      crumbs: [Link(text: heading(query), href: list)],
      consequences: [
        Message("The file has each user’s email address, name, UID, and distances."),
        Message("The download is recorded in the audit log."),
      ], isQuestion: true, button: Message("Download as CSV"), back: list)
  }

  /// Returns the file of the users that `read` returns after a cursor, up to a limit.
  ///
  /// With more than `longest` users, a last row says that the file is incomplete.
  static func file(
    _ catalog: Catalog, atMost longest: Int = ActionForms.longestFile,
    _ read: (_ after: String?, _ limit: Int) async throws -> Page<AffectedUser>
  ) async throws -> (file: CSV, rows: Int) {
    var file = CSV(
      [
        Message("User"), Message("Name"), .verbatim("uid"),
        Message("Largest distance"), Message("Distance in intervals"),
        Message("Codes outside"),
      ].map { catalog.text($0) })
    var (after, count): (String?, Int) = (nil, 0)
    repeat {
      let page = try await read(after, min(batch, longest - count))
      for user in page.items {
        file.add([
          user.label, user.displayName ?? "", user.account.text, String(user.reach),
          user.distance.map { String($0) } ?? "", String(user.codes),
        ])
      }
      count += page.items.count
      after = page.next
      // Lets other tasks of this thread run.
      await Task.yield()
    } while after != nil && count < longest
    if after != nil {
      file.end(
        with: catalog.text(
          Message(
            one: "Incomplete: only the first {count} row is included.",
            other: "Incomplete: only the first {count} rows are included.",
            ["count": .number(count)])))
    }
    return (file, count)
  }
}
