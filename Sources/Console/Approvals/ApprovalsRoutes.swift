import HTTP
import Identity

/// Requests that require a second administrator.
enum ApprovalsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let approvals = ApprovalsPage(
      approvals: parts.identity.approvals, frames: parts.frames,
      view: try parts.template("approvals/approvals", for: ApprovalsView.self))
    table.somewhere(.get, ConsolePaths.approvals, .seeApprovals, approvals.show)

    let view = try parts.template("approvals/approval", for: ApprovalView.self)
    for isAboutPolicy in [false, true] {
      let page = ApprovalPage(
        identity: parts.identity, ending: parts.actions.ending, view: view,
        isAboutPolicy: isAboutPolicy)
      add(page, to: &table)
    }
  }

  private static func add(_ page: ApprovalPage, to table: inout RouteTable) {
    let paths = ApprovalPaths(isAboutPolicy: page.isAboutPolicy)
    let approvals = page.identity.approvals
    func add(_ path: PoolPath1, _ decision: some ApprovalDecision) {
      let action = type(of: decision).action(isAboutPolicy: page.isAboutPolicy)
      table.inPool(path, performing: [action]) { context, id in
        try await page.decide(decision, context, id)
      }
    }
    table.inPool(
      .get, paths.page, page.isAboutPolicy ? .changePolicy : .removeFactors, page.show)
    add(paths.approval, ApproveRequest(approvals: approvals))
    add(paths.rejection, RejectRequest(approvals: approvals))
    add(paths.withdrawal, WithdrawRequest(approvals: approvals))
  }
}

extension ConsolePaths {
  static let approvals = Path("approvals")
}

struct ApprovalPaths: Sendable {
  private let word: PathComponent

  init(isAboutPolicy: Bool) { word = isAboutPolicy ? "policy-approvals" : "approvals" }

  init(_ kind: Approval.Kind) { self.init(isAboutPolicy: kind == .policy) }

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
