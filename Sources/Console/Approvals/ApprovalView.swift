import HTTP
import Identity
import Localization
import Templating

struct ApprovalView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let approval: Approval
  let user: UserIdentity?
  let eligibility: SupportEligibility
  let isOwn: Bool
  let refusal: SupportRefusal?
  let obstacle: ApprovalObstacle?
  let answer: String
  let changes: [PolicyChange]
  let carriesMail: Bool

  /// The name of the code field of the rejection form; the approval form on the same page has its
  /// own.
  static let refusalCode = "refusal-code"

  private var isWaiting: Bool { approval.state == .waiting }

  private var heading: Markup {
    let user = Message.Value.name(Formatted.short(approval.accountName))
    let heading: Message =
      switch (approval.kind, isWaiting) {
      case (.factor, true): Message("approvals.remove-factor-from-question", ["user": user])
      case (.factor, false): Message("approvals.remove-factor-from", ["user": user])
      case (.factors, true): Message("approvals.remove-all-factors-from-question", ["user": user])
      case (.factors, false): Message("approvals.remove-all-factors-from", ["user": user])
      case (.policy, true): Message("approvals.weaken-policy-question")
      case (.job, true):
        Message("approvals.remove-factors-of-question", ["count": .number(approval.users)])
      case (.policy, false), (.job, false): ApprovalText.what(approval)
      }
    return Markup(html: heading)
  }

  private var closing: Message? {
    guard !isWaiting else { return nil }
    return approval.obstacle?.sentence(approval.requesterName)
      ?? approval.answer.map { .verbatim($0) }
  }

  private var facts: [Fact] {
    let times = frame.times
    var facts = [
      Fact(Message("approvals.requested-by"), HTML.isolated(approval.requesterName))
    ]
    if approval.kind == .policy {
      facts.append(Fact(Message("approvals.reason"), HTML.isolated(approval.note)))
      for change in changes {
        facts.append(Fact(change.field.label, change.values))
      }
      facts.append(
        Fact(Message("approvals.affected-users"), Message.value(.number(approval.users))))
    } else {
      facts.append(Fact(Message("approvals.reason"), approval.reason.label))
      if !approval.note.isEmpty {
        facts.append(Fact(Message("approvals.note"), HTML.isolated(approval.note)))
      }
    }
    if !approval.ticket.isEmpty {
      facts.append(Fact(Message("approvals.ticket"), HTML.isolated(approval.ticket)))
    }
    for line in approval.proof {
      facts.append(Fact(Message("approvals.identity-check"), HTML.isolated(line)))
    }
    if let proof = approval.callerProof {
      facts.append(Fact(Message("approvals.caller-verified"), proof.text))
    }
    for name in approval.factorNames {
      facts.append(Fact(Message("approvals.factor"), HTML.isolated(name)))
    }
    facts.append(Fact(Message("approvals.requested"), times.past(approval.requestedAt)))
    if isWaiting {
      facts.append(Fact(Message("approvals.expires"), times.moment(approval.expiresAt)))
    }
    if let name = approval.deciderName {
      facts.append(Fact(Message("approvals.decided-by"), HTML.isolated(name)))
    }
    if let at = approval.decidedAt {
      facts.append(Fact(Message("approvals.closed"), times.past(at)))
    }
    return facts
  }

  private var links: [Link] {
    if let account = approval.account {
      guard let user, !user.isDeleted else { return [] }
      let href = ConsolePaths.user(approval.scope, account.text)
      return [Link(text: Message("approvals.view-user"), href: href)]
    }
    if approval.kind == .policy {
      return [
        Link(text: Message("common.mfa-policy"), href: ConsolePaths.policy(approval.scope))
      ]
    }
    return approval.job.map {
      let href = ConsolePaths.bulkRemoval(approval.scope, String($0))
      return [Link(text: Message("approvals.view-bulk-removal"), href: href)]
    } ?? []
  }

  private var approvalConsequence: Message {
    switch approval.kind {
    case .job: Message("approvals.removal-starts")
    case .factor, .factors:
      carriesMail
        ? Message("approvals.removal-takes-effect")
        : Message("approvals.removal-takes-effect-without-email")
    case .policy: Message("approvals.policy-takes-effect")
    }
  }

  private var button: Message {
    switch approval.kind {
    case .job: Message("approvals.approve-and-run")
    case .factor, .factors: Message("approvals.approve-and-remove")
    case .policy: Message("approvals.approve-and-save")
    }
  }

  private var consequences: [Message] {
    [
      ApprovalText.why(approval.cause), approvalConsequence,
      Message("approvals.log-records-names"),
    ]
  }

  private var action: String {
    approval.paths.approval(approval.scope, String(approval.id))
  }
  private var rejection: String {
    approval.paths.rejection(approval.scope, String(approval.id))
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .markup("heading") { $0.heading },
    .optional(\.user),
    .markup("state") { ApprovalText.chip($0.approval.state) },
    .text("place") { ApprovalText.place($0.approval.scope) },
    .list("facts") { $0.facts },
    .flag("hasLinks") { !$0.links.isEmpty },
    .list("links") { $0.links },
    .text("answer") { $0.closing },
    .flag("isOwn") { $0.isWaiting && $0.isOwn },
    .optional(\.refusal),
    .text("obstacle") { view in
      view.obstacle.map {
        Message(
          "approvals.cannot-be-approved",
          ["reason": .message($0.sentence(view.approval.requesterName))])
      }
    },
    .flag("mayApprove") {
      $0.isWaiting && !$0.isOwn && $0.refusal == nil && $0.obstacle == nil
    },
    .flag("mayRefuse") { view in
      view.isWaiting && !view.isOwn
        && SupportRefusal(
          lackingCode: view.eligibility.asksForCode, view.context.signedIn) == nil
    },
    .optional("codeField") {
      CodeField($0.eligibility.asksForCode, $0.frame, action: $0.action)
    },
    .optional("refusalCode") {
      CodeField(
        $0.eligibility.asksForCode, $0.frame, id: Self.refusalCode, action: $0.rejection)
    },
    .text("decisionError") { $0.frame.error(at: "decision") },
    .text("typed") { $0.answer },
    .text("answerError") { $0.frame.error(at: "answer") },
    .texts("consequences") { $0.consequences },
    .text("action") { $0.action },
    .text("reject") { $0.rejection },
    .text("withdraw") { $0.approval.paths.withdrawal($0.approval.scope, String($0.approval.id)) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .text("button") { $0.button },
    .text("back") { _ in ConsolePaths.approvals() },
  ]
}
