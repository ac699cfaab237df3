import HTTP
import Identity
import Localization
import MailText
import Templating

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

  /// The decider's message, or the reason the request wasn't carried out.
  private var closing: Message? {
    guard !isWaiting else { return nil }
    return approval.obstacle?.sentence(approval.requesterName)
      ?? approval.answer.map { .verbatim($0) }
  }

  private var facts: [Fact] {
    let times = frame.times
    var facts = [Fact("Requested by", HTML.isolated(approval.requesterName))]
    if approval.kind == .policy {
      facts.append(Fact("Reason", HTML.isolated(approval.note)))
      for change in changes ?? [] {
        let field = Words.sentence(change.field.rawValue)
        facts.append(
          Fact(
            field,
            Message(
              "approvals.change",
              ["from": .message(change.from.message), "to": .message(change.to.message)])))
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
    .text("answer") { $0.closing },
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
    .text("approve") { $0.approval.paths.approval($0.approval.scope, String($0.approval.id)) },
    .text("reject") { $0.approval.paths.rejection($0.approval.scope, String($0.approval.id)) },
    .text("withdraw") { $0.approval.paths.withdrawal($0.approval.scope, String($0.approval.id)) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .text("button") { $0.button },
    .text("back") { _ in ConsolePaths.approvals() },
  ]
}
