import HTTP
import Identity
import Localization
import Templating

/// `/approvals`: the pending and decided approval requests that the administrator can access.
struct ApprovalsPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<ApprovalsView>

  private var approvals: Approvals { identity.approvals }

  func show(_ signedIn: SignedIn) async throws -> Response {
    let administrator = signedIn.administrator
    let size = PageSize(signedIn.query)
    let after = signedIn.query.text("after")
    let waiting = try await approvals.waiting(visibleTo: administrator)
    let decided = try await approvals.decided(
      visibleTo: administrator, after: after, limit: size.rows)
    if let first = signedIn.firstPage(of: ConsolePaths.approvals(), insteadOf: decided) {
      return first
    }
    let frame = await frames.frame(Message("Approvals"), for: signedIn)
    return .html(
      view.render(
        ApprovalsView(
          frame: FrameView(frame), waiting: waiting, decided: decided, size: size,
          after: after, reader: administrator.id)))
  }
}

struct ApprovalsView: ViewModel {
  let frame: FrameView
  let waiting: [Approval]
  let decided: Page<Approval>
  let size: PageSize
  let after: String?
  let reader: ID<Administrator>

  private func row(_ approval: Approval) -> ApprovalRow {
    ApprovalRow(approval: approval, reader: reader, times: frame.times)
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .list("waiting") { view in view.waiting.map(view.row) },
    .object("empty") { _ in
      EmptyView(
        heading: Message("No pending approvals"),
        sentence: Message(
          "Requests that need a second administrator appear here for up to one day."))
    },
    .list("decided") { view in view.decided.items.map(view.row) },
    .number("days") { _ in Approvals.daysListed },
    .object("pager") { view in
      PagerView(
        shown: Message(
          one: "{count} request", other: "{count} requests",
          ["count": .number(view.decided.items.count)]),
        path: ConsolePaths.approvals(), query: view.size.form, after: view.after,
        next: view.decided.next)
    },
  ]
}

struct ApprovalRow: ViewModel {
  let approval: Approval
  let reader: ID<Administrator>
  let times: Times

  static let keys: Keys<Self> = [
    .text("href") { $0.approval.address },
    .text("what") { ApprovalText.what($0.approval) },
    .text("user") {
      $0.approval.account == nil ? nil : Formatted.short($0.approval.accountName, 60)
    },
    .text("place") { Formatted.short(ApprovalText.place($0.approval.pool), 80) },
    .text("who") { row in
      row.approval.requester == row.reader
        ? Message("you") : Message.verbatim(row.approval.requesterName)
    },
    .markup("until") { $0.times.moment($0.approval.expiresAt) },
    .markup("state") { ApprovalText.chip($0.approval.state) },
    .text("decider") { $0.approval.deciderName },
    .markup("decided") { row in
      row.approval.decidedAt.map(row.times.past) ?? ""
    },
  ]
}

enum ApprovalsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let approvals = try parts.page("approvals/approvals", ApprovalsPage.init)
    table.somewhere(ConsolePaths.approvals, .get(.seeApprovals), approvals.show)

    let view = try parts.template("approvals/approval", for: ApprovalView.self)
    for kind in [Approval.Kind.factor, .policy] {
      let page = ApprovalPage(parts: parts, view: view, paths: ApprovalPaths(kind))
      func add(_ path: PoolPath1, _ action: ConsoleAction, _ decision: some ApprovalDecision) {
        table.inside(path, .performing(action)) { context, id in
          try await page.decide(decision, context, id)
        }
      }
      let (paths, actions) = (page.paths, kind.actions)
      let approvals = parts.identity.approvals
      let needs = actions.approve.requirements.needs
      table.inside(paths.page, .get(kind.permission, needs: needs), page.show)
      add(
        paths.approval, actions.approve,
        ApproveRequest(approvals: approvals, connections: parts.identity.connections))
      add(paths.rejection, actions.reject, RejectRequest(approvals: approvals))
      add(paths.withdrawal, actions.withdraw, WithdrawRequest(approvals: approvals))
    }
  }
}

extension ConsolePaths {
  static let approvals = Path("approvals")
}

struct ApprovalPaths: Sendable, Equatable {
  private let word: PathComponent

  init(_ kind: Approval.Kind) { word = kind == .policy ? "policy-approvals" : "approvals" }

  var page: PoolPath1 {
    PoolPath1(word, nil)
  }

  var approval: PoolPath1 { decision("approval") }
  var rejection: PoolPath1 { decision("rejection") }
  var withdrawal: PoolPath1 { decision("withdrawal") }

  private func decision(_ noun: PathComponent) -> PoolPath1 {
    PoolPath1(word, nil, noun)
  }
}
