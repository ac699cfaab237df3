import HTTP
import Identity
import Templating

/// `S/users`: the users of a scope, found by e-mail or uid.
struct UsersPage: Sendable {
  let accounts: Accounts
  let frames: Frames
  let view: Template<UsersView>

  private static let length = 50

  func show(_ context: ScopeContext) async throws(Refusal) -> Response {
    let asked = context.signedIn.query
    let query = asked.trimmed("q")
    let filter = Accounts.Filter(rawValue: asked.trimmed("factor")) ?? .all
    let after = query.isEmpty ? asked["after"] : nil
    let page = try await refusing {
      try await accounts.list(
        context.scope, search: query.isEmpty ? nil : query, filter: filter, after: after,
        limit: Self.length)
    }
    // The search field of the bar opens the one user it finds.
    if asked["open"] == "1", !query.isEmpty, page.items.count == 1, let account = page.items.first {
      return .redirect(to: ConsolePaths.user(context.scope, account.id.text))
    }
    let frame = try await frames.frame("Users", in: context, tab: .users)
    return .html(
      view.render(
        UsersView(
          frame: frame, scope: context.scope, page: page, query: query, filter: filter,
          after: after, limit: Self.length)))
  }
}
