import HTTP
import Identity
import Localization

/// `POST …/{number}/rejection`: rejects a request, with a reason for the requester.
struct RejectRequest: ApprovalDecision {
  let approvals: Approvals

  static func action(isAboutPolicy: Bool) -> ConsoleAction {
    isAboutPolicy ? .rejectPolicyChange : .rejectRequest
  }

  var codeField: String { ApprovalView.refusalCode }

  func perform(
    _ approval: Approval, _ signedIn: SignedIn, _ request: ActionRequest
  ) async throws -> ApprovalResult {
    let done = try await approvals.refuse(
      approval.id, in: approval.pool, answer: signedIn.form.trimmed("answer"), request)
    return ApprovalResult(
      flash: Flash(text: Message("Request rejected. No changes made.")), renewed: done.renewed)
  }
}
