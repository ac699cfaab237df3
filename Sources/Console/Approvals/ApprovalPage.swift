import HTTP
import Identity
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

  func show(_ context: ScopeContext, _ id: String) async throws(Refusal) -> Response {
    try await page(context, try await find(context, id), answer: "", errors: [])
  }

  func decide(_ context: ScopeContext, _ id: String) async throws(Refusal) -> Response {
    let approval = try await find(context, id)
    let (signedIn, form) = (context.signedIn, context.signedIn.form)
    let answer = form.trimmed("answer")
    do throws(ApprovalError) {
      switch form["step"] {
      case "approve":
        let outcome = try await approvals.approve(
          approval.id, in: context.scope, ActionInput(form).request(signedIn))
        return ending.response(
          Self.flash(outcome.value, context.scope), signedIn, renewed: outcome.renewed,
          to: Self.address(after: outcome.value, approval))
      case "refuse":
        let outcome = try await approvals.refuse(
          approval.id, in: context.scope, answer: answer, ActionInput(form).request(signedIn))
        return leave(
          "Request rejected. Nothing was changed.", approval, signedIn,
          renewed: outcome.renewed)
      case "withdraw":
        try await approvals.withdraw(
          approval.id, in: context.scope, ActionInput(form).request(signedIn))
        return leave("Request withdrawn. Nothing was changed.", approval, signedIn)
      default: break
      }
    } catch {
      let isRefusal = form["step"] == "refuse"
      guard let faults = try faults(error, approval, signedIn.times, isRefusal: isRefusal) else {
        return leave(
          "This request was already decided or has expired. No changes made.", approval, signedIn)
      }
      return try await page(context, approval, answer: answer, errors: faults)
    }
    throw .unreadableForm
  }

  // MARK: - Parts

  private func leave(
    _ text: String, _ approval: Approval, _ signedIn: SignedIn,
    renewed: NewConsoleSession? = nil
  ) -> Response {
    ending.response(
      Flash(text: text), signedIn, renewed: renewed,
      to: approval.address)
  }

  private static func flash(_ outcome: ApprovalOutcome, _ scope: Scope) -> Flash {
    switch outcome {
    case .done(let removal):
      let factors = Words.count(removal.factors.count, "factor", "factors")
      let undo = removal.apart.map {
        Link(text: "Undo", href: ConsolePaths.undo(scope, removal.account.id.text, $0.id.text))
      }
      return Flash(
        text: "Approved. Removed \(factors). \(SessionWords.ended(removal.sessionsEnded))",
        link: undo)
    case .policyChanged: return Flash(text: "Approved. The policy is in force.")
    case .begun: return Flash(text: "Approved. The removal has started.")
    case .overtaken(let change): return Flash(text: "Nothing was changed. \(change)", isAlert: true)
    }
  }

  private static func address(after outcome: ApprovalOutcome, _ approval: Approval) -> String {
    switch outcome {
    case .done(let removal): ConsolePaths.user(approval.scope, removal.account.id.text)
    case .begun(let job): ConsolePaths.bulkRemoval(approval.scope, String(job))
    case .policyChanged: ConsolePaths.policy(approval.scope)
    case .overtaken: approval.address
    }
  }

  private func find(_ context: ScopeContext, _ id: String) async throws(Refusal) -> Approval {
    guard let number = Int64(id) else { throw .notFound }
    let approval: Approval
    do {
      approval = try await approvals.find(number, in: context.scope)
    } catch {
      guard case .unavailable = error else { throw .notFound }
      throw .unavailable(error)
    }
    guard (approval.kind == .policy) == isAboutPolicy else { throw .notFound }
    return approval
  }

  /// Returns the field errors; nil if the request was already decided or has expired.
  private func faults(
    _ error: ApprovalError, _ approval: Approval, _ times: Times, isRefusal: Bool
  ) throws(Refusal) -> [FieldError]? {
    switch error {
    case .decided: nil
    case .ownRequest:
      [
        FieldError(
          field: "decision",
          text: "This is your own request. Another administrator must decide it.")
      ]
    case .othersRequest:
      [FieldError(field: "decision", text: "Only the requester can withdraw a request.")]
    case .denied(let error): try supportErrors(error, approval, times, isRefusal: isRefusal)
    case .notFound: throw .notFound
    case .unavailable: throw .unavailable(error)
    }
  }

  private func supportErrors(
    _ error: ActionDenial, _ approval: Approval, _ times: Times, isRefusal: Bool
  ) throws(Refusal) -> [FieldError] {
    let faults = try ActionErrorText.faults(error, times, approval.kind.permission)
    guard case .answers = error else {
      // This page has no field for a reason.
      return faults.map { FieldError(field: "decision", text: $0.text) }
    }
    guard isRefusal else { return faults }
    return faults.map { fault in
      fault.field == "code" ? FieldError(field: ApprovalView.refusalCode, text: fault.text) : fault
    }
  }

  private func page(
    _ context: ScopeContext, _ approval: Approval, answer: String, errors: [FieldError]
  ) async throws(Refusal) -> Response {
    let standing = try await refusing {
      try await approvals.standing(context.signedIn.session, on: approval)
    }
    let what = ApprovalWords.what(approval)
    var frame = try await ending.frames.frame(
      "\(what) · Approvals", in: context, tab: isAboutPolicy ? .policy : .users)
    frame.errors = errors
    frame.crumbs = [Link(text: "Approvals", href: ConsolePaths.approvals())]
    let model = ApprovalView(
      frame: FrameView(frame), context: context, approval: approval,
      user: try await user(approval), standing: standing,
      refusal: SupportRefusal(standing, context.signedIn.session), answer: answer,
      changes: try await changes(approval), carriesMail: identity.messages.carriesMail)
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }
}

extension ApprovalPage {
  /// Returns the user of a request; nil for bulk removals and policy changes.
  private func user(_ approval: Approval) async throws(Refusal) -> UserIdentity? {
    guard let id = approval.account else { return nil }
    let scope = approval.scope
    let found = try await refusing { try await identity.accounts.find(scope, id) }
    return found.map { UserIdentity($0, in: scope) }
      ?? UserIdentity(deleted: approval.accountName, uid: id.text, in: scope)
  }

  /// Returns the requested policy changes; nil if the request isn't for a policy, or if the policy
  /// has changed since the request.
  private func changes(_ approval: Approval) async throws(Refusal) -> [PolicyChange]? {
    let proposed = try await refusing { try await approvals.proposedPolicy(of: approval) }
    guard let proposed, approval.state == .waiting else { return nil }
    let policy = try await refusing { try await identity.policies.read(approval.scope) }
    return policy.version == proposed.version
      ? PolicyChange.between(policy.edit, proposed.edit) : nil
  }
}

extension Approval {
  /// The address of the request's page.
  var address: String {
    let path = kind == .policy ? ConsolePaths.policyApproval : ConsolePaths.approval
    return path(scope, String(id))
  }
}

struct ApprovalView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let approval: Approval
  let user: UserIdentity?
  let standing: SupportEligibility
  let refusal: SupportRefusal?
  let answer: String
  let changes: [PolicyChange]?
  let carriesMail: Bool

  /// The name of the code field of the rejection form; the approval form on the same page has its
  /// own.
  static let refusalCode = "refusal-code"

  private var isWaiting: Bool { approval.state == .waiting }
  private var isOwn: Bool { approval.requester == context.signedIn.administrator.id }

  private var heading: Markup {
    var html = HTML()
    html.text(ApprovalWords.what(approval))
    if approval.account != nil {
      html.raw(" from ")
      html.add(HTML.isolated(Words.short(approval.accountName)))
    }
    if isWaiting { html.raw("?") }
    return html.markup
  }

  private var facts: [Fact] {
    let times = frame.times
    var facts = [Fact("Requested by", HTML.isolated(approval.requesterName))]
    if approval.kind == .policy {
      facts.append(Fact("Reason", HTML.isolated(approval.note)))
      for change in changes ?? [] {
        let field = Words.sentence(change.field.rawValue)
        facts.append(Fact(field, "\(change.from) → \(change.to)"))
      }
      facts.append(Fact("Affected users", Words.number(approval.users)))
    } else {
      facts.append(Fact("Reason", "\(approval.reason.name): \(approval.reason.hint)"))
      if !approval.note.isEmpty { facts.append(Fact("Note", HTML.isolated(approval.note))) }
    }
    if !approval.ticket.isEmpty { facts.append(Fact("Ticket", HTML.isolated(approval.ticket))) }
    for line in approval.proof { facts.append(Fact("Identity check", HTML.isolated(line))) }
    for name in approval.factorNames { facts.append(Fact("Factor", HTML.isolated(name))) }
    facts.append(Fact("Requested", times.moment(approval.requestedAt)))
    if isWaiting { facts.append(Fact("Expires", times.moment(approval.expiresAt))) }
    if let name = approval.deciderName {
      facts.append(Fact("Decided by", HTML.isolated(name)))
    }
    if let at = approval.decidedAt { facts.append(Fact("Closed", times.moment(at))) }
    return facts
  }

  private var links: [Link] {
    if let account = approval.account {
      return [Link(text: "View user", href: ConsolePaths.user(approval.scope, account.text))]
    }
    if approval.kind == .policy {
      return [Link(text: "MFA policy", href: ConsolePaths.policy(approval.scope))]
    }
    return approval.job.map {
      [Link(text: "View bulk removal", href: ConsolePaths.bulkRemoval(approval.scope, String($0)))]
    } ?? []
  }

  private var approvalConsequence: String {
    switch approval.kind {
    case .job:
      "If you approve, the removal starts immediately. Users who have enrolled again since the request are skipped."
    case .factor, .factors:
      "If you approve, the removal takes effect immediately and the user’s sessions end. \(carriesMail ? "An email notifies the user." : "Email isn’t configured, so the user isn’t notified.")"
    case .policy where isWaiting && changes == nil:
      "The policy has changed since the request, so approving it changes nothing."
    case .policy: "If you approve, the policy takes effect immediately."
    }
  }

  private var button: String {
    switch approval.kind {
    case .job: "Approve and run"
    case .factor, .factors: "Approve and remove"
    case .policy: "Approve and save"
    }
  }

  private var consequences: [String] {
    [
      "Approval is required because \(ApprovalWords.why(approval.cause)).",
      approvalConsequence,
      "The audit log records your name and the requester’s.",
    ]
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .markup("heading") { $0.heading },
    .optional("user") { $0.user },
    .markup("state") { ApprovalWords.chip($0.approval.state) },
    .text("place") { ApprovalWords.place($0.approval.scope) },
    .list("facts") { $0.facts },
    .list("links") { $0.links },
    .text("answer") { view in view.isWaiting ? nil : view.approval.answer },
    .flag("isOwn") { $0.isWaiting && $0.isOwn },
    .optional("refusal") { view in view.isWaiting && !view.isOwn ? view.refusal : nil },
    .flag("mayApprove") { $0.isWaiting && !$0.isOwn && $0.refusal == nil },
    .flag("mayRefuse") { view in
      view.isWaiting && !view.isOwn
        && SupportRefusal(
          lackingCode: view.standing.asksForCode, view.context.signedIn.session) == nil
    },
    .optional("codeField") { CodeField($0.standing.asksForCode, $0.frame) },
    .optional("refusalCode") {
      CodeField($0.standing.asksForCode, $0.frame, id: Self.refusalCode)
    },
    .text("decisionError") { $0.frame.error(at: "decision") },
    .text("typed") { $0.answer },
    .text("answerError") { $0.frame.error(at: "answer") },
    .texts("consequences") { $0.consequences },
    .text("action") { $0.approval.address },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .text("button") { $0.button },
    .text("back") { _ in ConsolePaths.approvals() },
  ]
}
