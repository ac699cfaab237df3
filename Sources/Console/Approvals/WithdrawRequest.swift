import HTTP
import Identity
import Localization

/// `POST …/{number}/withdrawal`: withdraws one's own request.
struct WithdrawRequest: ApprovalDecision {
  let approvals: Approvals

  static func action(isAboutPolicy: Bool) -> ConsoleAction {
    isAboutPolicy ? .withdrawPolicyChange : .withdrawRequest
  }

  func perform(
    _ approval: Approval, _ signedIn: SignedIn, _ request: ActionRequest
  ) async throws -> ApprovalResult {
    try await approvals.withdraw(approval.id, in: approval.pool, request)
    return ApprovalResult(flash: Flash(text: Message("Request withdrawn. No changes made.")))
  }
}
