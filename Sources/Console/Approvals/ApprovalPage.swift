import HTTP
import Identity
import Localization
import Templating
import Text

/// `S/approvals/{number}` and `S/policy-approvals/{number}`: an approval request, with the forms to
/// approve, reject, or withdraw it.
struct ApprovalPage: Sendable {
  let identity: Identity
  let ending: SupportRedirect
  let view: Template<ApprovalView>
  /// Whether the requests are for policy changes, which require a different permission.
  let isAboutPolicy: Bool

  private var approvals: Approvals { identity.approvals }

  func show(_ context: PoolContext, _ id: String) async throws -> Response {
    try await page(context, try await find(context, id), answer: "", errors: [])
  }

  func decide(
    _ decision: some ApprovalDecision, _ context: PoolContext, _ id: String
  ) async throws -> Response {
    let approval = try await find(context, id)
    let (signedIn, form) = (context.signedIn, context.signedIn.form)
    do {
      let result = try await decision.perform(
        approval, signedIn, ActionInput(form).request(signedIn))
      return ending.response(
        result.flash, signedIn, renewed: result.renewed, to: result.address ?? approval.address)
    } catch let error as ApprovalError {
      guard let faults = try faults(error, approval, signedIn.times, codeField: decision.codeField)
      else {
        return ending.response(
          Flash(text: Message("This request was already decided or has expired. No changes made.")),
          signedIn, renewed: nil,
          to: approval.address)
      }
      return try await page(context, approval, answer: form.trimmed("answer"), errors: faults)
    }
  }

  private func find(_ context: PoolContext, _ id: String) async throws -> Approval {
    guard let number = Int64(id) else { throw Refusal.notFound }
    let approval: Approval
    do {
      approval = try await approvals.find(number, in: context.pool)
    } catch is ApprovalError {
      throw Refusal.notFound
    }
    guard (approval.kind == .policy) == isAboutPolicy else { throw Refusal.notFound }
    return approval
  }

  /// Returns the field errors; nil if the request was already decided or has expired.
  private func faults(
    _ error: ApprovalError, _ approval: Approval, _ times: Times, codeField: String
  ) throws -> [FieldError]? {
    switch error {
    case .decided: nil
    case .ownRequest:
      [
        FieldError(
          field: "decision",
          text: Message(
            "This is your own request. Another administrator must approve or reject it."))
      ]
    case .othersRequest:
      [FieldError(field: "decision", text: Message("Only the requester can withdraw a request."))]
    case .denied(let error): try supportErrors(error, approval, times, codeField: codeField)
    case .notFound: throw Refusal.notFound
    }
  }

  private func supportErrors(
    _ error: ActionDenial, _ approval: Approval, _ times: Times, codeField: String
  ) throws -> [FieldError] {
    let faults = try ActionErrorText.faults(error, times, approval.kind.permission)
    guard case .answers = error else {
      // This page has no field for a reason.
      return faults.map { FieldError(field: "decision", text: $0.text) }
    }
    return faults.map { fault in
      fault.field == "code" ? FieldError(field: codeField, text: fault.text) : fault
    }
  }

  private func page(
    _ context: PoolContext, _ approval: Approval, answer: String, errors: [FieldError]
  ) async throws -> Response {
    let eligibility = try await approvals.eligibility(context.signedIn.session, on: approval)
    let title = Message("{request} · Approvals", ["request": .message(ApprovalText.what(approval))])
    var frame = try await ending.frames.frame(
      title, in: context)
    let isOwn = approval.requester == context.signedIn.administrator.id
    let refusal =
      approval.state == .waiting && !isOwn ? SupportRefusal(eligibility, context.signedIn) : nil
    // The page already shows it in place of the form.
    frame.errors = errors.filter { $0.text != refusal?.sentence }
    frame.crumbs = [Link(text: Message("Approvals"), href: ConsolePaths.approvals())]
    let model = ApprovalView(
      frame: FrameView(frame), context: context, approval: approval,
      user: try await user(approval), eligibility: eligibility, isOwn: isOwn,
      refusal: refusal,
      obstacle: try await approvals.obstacle(to: approval),
      answer: answer, changes: try await changes(approval),
      carriesMail: identity.messages.carriesMail)
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }
}

extension ApprovalPage {
  /// Returns the user of a request; nil for bulk removals and policy changes.
  private func user(_ approval: Approval) async throws -> UserIdentity? {
    guard let id = approval.account else { return nil }
    let pool = approval.pool
    let found = try await identity.accounts.find(pool, id)
    return found.map { UserIdentity($0, in: pool) }
      ?? UserIdentity(deleted: approval.accountName, uid: id.text, in: pool)
  }

  /// Returns the requested changes of a policy, also after it has changed; empty if the request isn't
  /// for a policy.
  private func changes(_ approval: Approval) async throws -> [PolicyChange] {
    let proposed = try await approvals.proposedPolicy(of: approval)
    guard let proposed else { return [] }
    let base = try await identity.policies.edit(ofVersion: proposed.version, of: approval.pool)
    return base.map { PolicyChange.between($0, proposed.edit) } ?? []
  }
}

extension Approval {
  var address: String { paths.page(pool, String(id)) }

  var paths: ApprovalPaths { ApprovalPaths(kind) }
}
