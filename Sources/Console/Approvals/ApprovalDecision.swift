import HTTP
import Identity
import Localization

protocol ApprovalDecision: Sendable {
  var codeField: String { get }

  func perform(
    _ approval: Approval, _ signedIn: SignedIn, _ request: ActionRequest
  ) async throws -> ApprovalResult
}

extension ApprovalDecision {
  var codeField: String { "code" }
}

struct ApprovalResult: Sendable {
  /// Nil if the next page itself shows the result.
  let flash: Flash?
  /// The next page; nil for the request's own.
  var address: String?
  var renewed: NewConsoleSession?
}

/// `POST …/{number}/approval`: approves a request, which carries it out.
struct ApproveRequest: ApprovalDecision {
  let approvals: Approvals
  let connections: Connections

  func perform(
    _ approval: Approval, _ signedIn: SignedIn, _ request: ActionRequest
  ) async throws -> ApprovalResult {
    let pool = approval.pool
    let done = try await approvals.approve(approval.id, in: pool, request)
    if case .requested(let change) = done.value { await connections.settle(change) }
    let (flash, address): (Flash?, String?) =
      switch done.value {
      case .done(let removal):
        (
          Self.flash(removal, pool, signedIn.times),
          ConsolePaths.user(pool, removal.account.id.text)
        )
      case .policyChanged(let policy):
        (
          Flash(
            text: Message("Approved. The policy is now in effect."), link: PolicyLinks.undo(policy)),
          ConsolePaths.policy(pool)
        )
      case .begun(let job):
        (
          Flash(
            text: Self.begun(approval.jobKind ?? .removal)),
          ConsolePaths.bulkRemoval(pool, String(job))
        )
      case .requested(let change): (nil, ChangeText.address(change, in: pool))
      case .overtaken(let change):
        (
          Flash(
            text: Message(
              "No changes made. {change}",
              ["change": .message(change.sentence(approval.requesterName))]),
            isAlert: true), nil
        )
      }
    return ApprovalResult(flash: flash, address: address, renewed: done.renewed)
  }

  private static func begun(_ kind: BulkJob.Kind) -> Message {
    switch kind {
    case .removal: Message("Approved. The removal has started.")
    case .campaign: Message("Approved. The links are being sent.")
    case .sessions: Message("Approved. The sessions are being ended.")
    case .disabling: Message("Approved. The users are being disabled.")
    }
  }

  private static func flash(_ removal: Removal, _ pool: Pool, _ times: Times) -> Flash {
    let undo = removal.hold.map {
      Link(
        text: Message("Undo (until {time})", ["time": times.value($0.until)]),
        href: RestoreFactors.path(pool, removal.account.id.text, $0.id.text))
    }
    let text = Message(
      one: "Approved. Removed {count} factor. {sessions}",
      other: "Approved. Removed {count} factors. {sessions}",
      [
        "count": .number(removal.factors.count),
        "sessions": .message(SessionText.ended(removal.sessionsEnded)),
      ])
    return Flash(text: text, link: undo)
  }
}

/// `POST …/{number}/rejection`: rejects a request, with a reason for the requester.
struct RejectRequest: ApprovalDecision {
  let approvals: Approvals

  var codeField: String { ActionInput.refusalCode }

  func perform(
    _ approval: Approval, _ signedIn: SignedIn, _ request: ActionRequest
  ) async throws -> ApprovalResult {
    let done = try await approvals.refuse(
      approval.id, in: approval.pool, answer: signedIn.form.trimmed("answer"), request)
    return ApprovalResult(
      flash: Flash(text: Message("Request rejected. No changes made.")), renewed: done.renewed)
  }
}

/// `POST …/{number}/withdrawal`: withdraws one's own request.
struct WithdrawRequest: ApprovalDecision {
  let approvals: Approvals

  func perform(
    _ approval: Approval, _ signedIn: SignedIn, _ request: ActionRequest
  ) async throws -> ApprovalResult {
    try await approvals.withdraw(approval.id, in: approval.pool, request)
    return ApprovalResult(flash: Flash(text: Message("Request withdrawn. No changes made.")))
  }
}
