import HTTP
import Identity
import Templating

extension ConsoleRoutes {
  /// Adds the pages of bulk removals and approvals.
  static func addRemovals(
    to table: inout RouteTable, _ identity: Identity, _ templates: TemplateLibrary,
    _ ending: SupportRedirect
  ) throws {
    let removals = RemovalsPage(
      removals: identity.bulkRemovals, frames: ending.frames,
      view: try templates.template("removals/removals", for: RemovalsView.self))
    table.inScope(.get, ConsolePaths.removals, .removeFactors, removals.show)
    table.inScope(
      ConsolePaths.removals, performing: [.previewBulkRemoval], removals.look)

    let job = RemovalJobPage(
      identity: identity, ending: ending,
      draft: try templates.template("removals/draft", for: RemovalDraftView.self),
      view: try templates.template("removals/job", for: RemovalJobView.self))
    table.inScope(.get, ConsolePaths.bulkRemoval, .removeFactors, job.show)
    table.inScope(
      ConsolePaths.bulkRemoval, performing: [.startBulkRemoval], job.begin)
    table.inScope(
      ConsolePaths.endOfRemoval, performing: [.stopBulkRemoval], job.end)
    table.inScope(.get, ConsolePaths.removalFile, .removeFactors, job.download)

    let approvals = ApprovalsPage(
      approvals: identity.approvals, frames: ending.frames,
      view: try templates.template("approvals/approvals", for: ApprovalsView.self))
    table.somewhere(.get, ConsolePaths.approvals, .seeApprovals, approvals.show)

    let view = try templates.template("approvals/approval", for: ApprovalView.self)
    let approval = ApprovalPage(
      identity: identity, ending: ending, view: view, isAboutPolicy: false)
    table.inScope(.get, ConsolePaths.approval, .removeFactors, approval.show)
    table.inScope(
      ConsolePaths.approval, performing: [.approveRequest, .rejectRequest, .withdrawRequest],
      approval.decide)
    let policy = ApprovalPage(identity: identity, ending: ending, view: view, isAboutPolicy: true)
    table.inScope(.get, ConsolePaths.policyApproval, .changePolicy, policy.show)
    table.inScope(
      ConsolePaths.policyApproval,
      performing: [.approvePolicyChange, .rejectPolicyChange, .withdrawPolicyChange],
      policy.decide)
  }
}
