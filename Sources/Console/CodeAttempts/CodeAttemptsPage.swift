import HTTP
import Identity
import Localization
import Templating

/// `S/users/{uid}/code-attempts`: a user's code attempts within the retention period, newest first.
struct CodeAttemptsPage: Sendable {
  let identity: Identity
  let frames: Frames
  let view: Template<CodeAttemptsView>

  func show(_ context: PoolContext, _ uid: String) async throws -> Response {
    let pool = context.pool
    let account = try await identity.account(uid, in: context)
    let size = PageSize(context.signedIn.query)
    let after = context.signedIn.query.text("after").flatMap { $0.isEmpty ? nil : $0 }
    let page = try await identity.codeAttempts.list(account, after: after, limit: size.rows)
    let path = ConsolePaths.codeAttempts(pool, account.id.text)
    if let first = context.signedIn.firstPage(of: path, insteadOf: page) { return first }
    let settings = try await identity.support.settings(pool)
    let title = Message(
      "Code attempts · {user} · Users", ["user": .name(Formatted.short(account.label))])
    var frame = try await frames.frame(title, in: context)
    frame.crumbs = Link.crumbs(to: account, in: pool)
    return .html(
      view.render(
        CodeAttemptsView(
          frame: FrameView(frame), context: context, account: account, page: page, size: size,
          after: after, days: settings.codeAttemptDays)))
  }

}

extension Identity {
  func account(_ uid: String, in context: PoolContext) async throws -> Account {
    let found = try await accounts.find(context.pool, ID(uid))
    guard let found else { throw Refusal.notFound }
    return found
  }
}

struct CodeAttemptsView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let account: Account
  let page: Page<CodeAttempt>
  let size: PageSize
  let after: String?
  let days: Int

  private var path: String { ConsolePaths.codeAttempts(context.pool, account.id.text) }

  private var pager: PagerView? {
    guard !page.items.isEmpty else { return nil }
    return PagerView(
      shown: Message(
        one: "{count} code attempt", other: "{count} code attempts",
        ["count": .number(page.items.reduce(0) { $0 + $1.times })]),
      path: path,
      query: size.form, after: after, next: page.next)
  }

  private var empty: EmptyView {
    EmptyView(
      heading: Message(
        one: "No code attempts in the last {count} day",
        other: "No code attempts in the last {count} days", ["count": .number(days)]),
      sentence: Message(
        "Shows the result of each code: accepted, expired, already used, or incorrect."),
      more: Link(text: Message("How users enroll"), href: context.pool.guidance()))
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("name") { Formatted.short($0.account.label) },
    .text("explanation") {
      Message(
        one: """
          Every code this user entered and its result, newest first. Entries are deleted after \
          {count} day. The codes themselves are never stored.
          """,
        other: """
          Every code this user entered and its result, newest first. Entries are deleted after \
          {count} days. The codes themselves are never stored.
          """, ["count": .number($0.days)])
    },
    .flag("hasRows") { !$0.page.items.isEmpty },
    .list("rows") { view in
      view.page.items.map { CodeAttemptRow($0, of: view.account, view.frame.times) }
    },
    .optional("pager") { $0.pager },
    .object("empty") { $0.empty },
  ]
}
