import HTTP
import Identity
import Templating

/// `/users`: finds a user in every project and tenant where the administrator may.
struct FindUsersPage: Sendable {
  let accounts: Accounts
  let frames: Frames
  let view: Template<FindUsersView>

  func show(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let text = signedIn.query.trimmed("q")
    let after = signedIn.query["after"]
    let part = SearchPart(after: after.flatMap { Int($0) } ?? 0)
    var found: FoundAccounts?
    if !text.isEmpty {
      let hits = try await refusing {
        try await accounts.search(
          everywhere: text, visibleTo: signedIn.administrator, part: part)
      }
      if signedIn.query["open"] == "1", let only = hits.only {
        return .redirect(to: ConsolePaths.user(only.scope, only.account.id.text))
      }
      if hits.hits.isEmpty, after != nil {
        return .redirect(to: FindUsersView.query(text).query(of: ConsolePaths.findUsers()))
      }
      found = hits
    }
    let frame = frames.frame("Users", for: signedIn, tab: .users)
    let now = frames.clock.now()
    return .html(
      view.render(
        FindUsersView(
          frame: frame, text: text, found: found, part: part, after: after, now: now)))
  }
}

struct FindUsersView: ViewModel {
  let frame: FrameView
  let filter: FilterView
  let rows: [FoundUserRow]
  let caption: String
  let pager: PagerView
  let empty: EmptyView

  init(
    frame: Frame, text: String, found: FoundAccounts?, part: SearchPart, after: String?,
    now: Instant
  ) {
    self.frame = FrameView(frame)
    filter = FilterView(
      action: ConsolePaths.findUsers(), label: "E-mail, name, phone or uid",
      query: text)
    rows = (found?.hits ?? []).map { FoundUserRow($0, at: now, times: frame.times) }
    caption =
      found.map {
        FoundWords.caption($0, part, of: "users", with: text, order: "the newest first")
      } ?? ""
    pager = PagerView(
      shown: Words.count(rows.count, "user", "users"), path: ConsolePaths.findUsers(),
      query: Self.query(text), after: after, next: found?.next.map(String.init))
    empty =
      found == nil
      ? EmptyView(
        heading: "Whom do you look for?",
        sentence:
          "Type a part of an e-mail address, a name, a phone number, a uid or an enrolment id. Every project and tenant is searched in which you may find users.",
        link: EmptyLink(text: "All projects", href: ConsolePaths.projects()))
      : EmptyView(
        heading: "No such user",
        sentence:
          "Nobody has that in an e-mail address, name, phone number, uid or enrolment id, in the projects and tenants where you may find users. One or two characters must be the beginning of a word.",
        link: EmptyLink(text: "All projects", href: ConsolePaths.projects()))
  }

  static func query(_ text: String) -> Form { ["q": text] }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .object("filter") { $0.filter },
    .flag("hasRows") { !$0.rows.isEmpty },
    .list("rows") { $0.rows },
    .text("caption") { $0.caption },
    .object("pager") { $0.pager },
    .object("empty") { $0.empty },
  ]
}

/// A user with the pool they are in.
final class FoundUserRow: ViewModel {
  let user: UserRow
  let scope: Scope

  init(_ hit: FoundAccounts.Hit, at now: Instant, times: Times) {
    user = UserRow(
      UserRow.Source(AccountSummary(hit.account), at: now, times: times), in: hit.scope)
    scope = hit.scope
  }

  static let keys: Keys<FoundUserRow> = [
    .object("user") { $0.user },
    .text("project") { $0.scope.projectName },
    .text("tenant") { $0.scope.tenant == nil ? nil : $0.scope.name },
    .text("users") { ConsolePaths.users($0.scope) },
  ]
}
