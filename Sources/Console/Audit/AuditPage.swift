import HTTP
import Identity
import Templating

/// `S/audit`: what was changed in a scope, the newest first.
struct AuditPage: Sendable {
  let audit: Audit
  let frames: Frames
  let view: Template<AuditView>

  private static let length = 50

  func show(_ context: ScopeContext) async throws(Refusal) -> Response {
    let after = context.signedIn.query["after"]
    let page = try await refusing {
      try await audit.list(AuditFilter(scope: context.scope), after: after, limit: Self.length)
    }
    let frame = try await frames.frame("Audit log", in: context, tab: .audit)
    return .html(
      view.render(AuditView(frame: frame, scope: context.scope, page: page, after: after)))
  }
}

struct AuditView: ViewModel {
  let frame: FrameView
  let scope: Scope
  let rows: [AuditRowView]
  let pager: PagerView

  init(frame: Frame, scope: Scope, page: Page<AuditRow>, after: String?) {
    self.frame = FrameView(frame)
    self.scope = scope
    rows = page.items.map { AuditRowView($0, times: frame.times) }
    pager = PagerView(
      shown: Words.count(rows.count, "entry", "entries"), path: ConsolePaths.audit(scope),
      query: Form(), after: after, next: page.next)
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .text("kindInSentence") { $0.scope.kindInSentence },
    .text("scopeName") { $0.scope.name },
    .flag("hasRows") { !$0.rows.isEmpty },
    .list("rows") { $0.rows },
    .object("pager") { $0.pager },
    .object("empty") { _ in
      EmptyView(
        heading: "Nothing yet",
        sentence: "Every change to this user pool leaves an entry here that cannot be edited.")
    },
  ]
}

final class AuditRowView: ViewModel {
  private let row: AuditRow
  private let times: Times

  init(_ row: AuditRow, times: Times) {
    self.times = times
    self.row = row
  }

  private var change: Markup? {
    let text = [AuditWords.change(row), AuditWords.reason(row)].filter { !$0.isEmpty }
      .joined(separator: " · ")
    guard !text.isEmpty else { return nil }
    var html = HTML()
    html.raw("<span class=\"long clamp\">")
    html.text(text)
    html.raw("</span>")
    return html.markup
  }

  static let keys: Keys<AuditRowView> = [
    .text("what") { AuditWords.action($0.row) },
    .text("object") { $0.row.objectName },
    .markup("change") { $0.change },
    .text("who") { AuditWords.who($0.row) },
    .text("whoKind") { view in
      let who = AuditWords.who(view.row)
      return who == view.row.actorKind || who == "the user" ? nil : view.row.actorKind
    },
    .markup("at") { $0.times.moment($0.row.at) },
    .text("address") { $0.row.address },
    .text("requestID") { $0.row.requestID },
  ]
}
