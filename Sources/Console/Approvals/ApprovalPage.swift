import HTTP
import Identity
import Localization
import Templating
import Text

/// `S/approvals/{number}` and `S/policy-approvals/{number}`: an approval request, with the forms to
/// approve, reject, or withdraw it.
struct ApprovalPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<ApprovalView>
  /// Of requests for policy changes, or of others, which require a different permission.
  let paths: ApprovalPaths

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
      return frames.leave(
        result.flash, signedIn, renewed: result.renewed, to: result.address ?? approval.address)
    } catch {
      guard let faults = try faults(error, approval, signedIn.times, codeField: decision.codeField)
      else {
        return frames.leave(
          Flash(text: Message("This request was already decided or has expired. No changes made.")),
          signedIn, renewed: nil,
          to: approval.address)
      }
      return try await page(context, approval, answer: form.trimmed("answer"), errors: faults)
    }
  }

  private func find(_ context: PoolContext, _ id: String) async throws -> Approval {
    guard let number = Int64(id) else { throw Refusal.notFound }
    let approval = try await approvals.find(number, in: context.pool)
    guard ApprovalPaths(approval.kind) == paths else { throw Refusal.notFound }
    return approval
  }

  /// Returns the field errors; nil if the request was already decided or has expired.
  private func faults(
    _ error: any Error, _ approval: Approval, _ times: Times, codeField: String
  ) throws -> [FieldError]? {
    switch error {
    case let denial as ActionDenial:
      try supportErrors(denial, approval, times, codeField: codeField)
    case ApprovalError.decided: nil
    case ApprovalError.ownRequest:
      [
        FieldError(
          field: "decision",
          text: Message(
            "This is your own request. Another administrator must approve or reject it."))
      ]
    case ApprovalError.othersRequest:
      [FieldError(field: "decision", text: Message("Only the requester can withdraw a request."))]
    default: throw error
    }
  }

  private func supportErrors(
    _ error: ActionDenial, _ approval: Approval, _ times: Times, codeField: String
  ) throws -> [FieldError] {
    let faults = try ActionErrorText.faults(
      error, times, approval.jobKind?.permission ?? approval.kind.permission)
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
    let isOwn = approval.requester == context.signedIn.administrator.id
    let refusal =
      approval.state == .waiting && !isOwn ? Notice(eligibility, context.signedIn) : nil
    // The page already shows it in place of the form.
    let others = errors.filter { $0.text != refusal?.sentence }
    let frame = try await frames.frame(
      title, in: context,
      crumbs: [Link(text: Message("Approvals"), href: ConsolePaths.approvals())], errors: others)
    let model = ApprovalView(
      frame: FrameView(frame), context: context, approval: approval,
      user: try await user(approval), users: try await users(approval, context),
      terms: try await terms(approval, context),
      eligibility: eligibility, isOwn: isOwn,
      refusal: refusal,
      obstacle: try await approvals.obstacle(to: approval),
      answer: answer, changes: try await changes(approval), outcome: try await outcome(approval),
      carriesMail: identity.messages.carriesMail)
    return .html(view.render(model), errors: errors)
  }
}

extension ApprovalPage {
  /// Returns the change that the server of a connected project was asked for; nil if it wasn't, or long
  /// ago.
  private func outcome(_ approval: Approval) async throws -> Intent? {
    guard let id = approval.intent else { return nil }
    do {
      return try await identity.connections.change(id, in: approval.pool)
    } catch CallError.notFound { return nil }
  }

  /// Returns the user of a request; nil for bulk removals and policy changes.
  private func user(_ approval: Approval) async throws -> UserIdentity? {
    guard let id = approval.account else { return nil }
    let pool = approval.pool
    let found = try await identity.accounts.find(pool, id)
    return found.map { UserIdentity($0, in: pool) }
      ?? UserIdentity(deleted: approval.accountName, uid: id.text, in: pool)
  }

  /// Returns the first users of a pending request for many, as they were given; empty for other
  /// requests, and for administrators who can't find users.
  private func users(_ approval: Approval, _ context: PoolContext) async throws -> [Link] {
    guard approval.state == .waiting, let id = approval.job, context.may(.findUsers) else {
      return []
    }
    let jobs = identity.bulkRemovals
    let job = try await jobs.find(id, in: context.pool, for: context.signedIn.administrator.id)
    let items = try await jobs.items(of: job, isOpen: true, limit: 20).items
    try await frames.record(items.count, shownIn: context)
    return items.compactMap { item in
      item.account.map {
        Link(
          text: .verbatim(Formatted.short(item.given)),
          href: ConsolePaths.user(context.pool, $0.text))
      }
    }
  }

  /// Returns what a campaign sends; nil for other requests.
  private func terms(_ approval: Approval, _ context: PoolContext) async throws -> CampaignTerms? {
    guard approval.jobKind == .campaign, let job = approval.job else { return nil }
    return try await identity.bulkRemovals.find(
      job, in: context.pool, for: context.signedIn.administrator.id
    ).terms
  }

  /// Returns the requested changes of a policy, also after it has changed; empty if the request isn't
  /// for a policy.
  private func changes(_ approval: Approval) async throws -> [PolicyChange] {
    guard case .policy(let new, let version, let seen) = approval.change else { return [] }
    if let seen { return PolicyChange.between(seen, new) }
    let base = try await identity.policies.edit(ofVersion: version, of: approval.pool)
    return base.map { PolicyChange.between($0, new) } ?? []
  }
}

extension Approval {
  var address: String { paths.page(pool, String(id)) }

  var paths: ApprovalPaths { ApprovalPaths(kind) }
}

struct ApprovalView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let approval: Approval
  let user: UserIdentity?
  let users: [Link]
  let terms: CampaignTerms?
  let eligibility: SupportEligibility
  let isOwn: Bool
  let refusal: Notice?
  let obstacle: ApprovalObstacle?
  let answer: String
  let changes: [PolicyChange]
  /// The change that the server of a connected project was asked for; nil if it wasn't.
  let outcome: Intent?
  let carriesMail: Bool

  private var isWaiting: Bool { approval.state == .waiting }

  private var heading: Markup {
    let user = Message.Value.name(Formatted.short(approval.accountName))
    let heading: Message =
      switch (approval.kind, isWaiting) {
      case (.factor, true): Message("Remove factor from {user}?", ["user": user])
      case (.factor, false): Message("Remove factor from {user}", ["user": user])
      case (.factors, true): Message("Remove all factors from {user}?", ["user": user])
      case (.factors, false): Message("Remove all factors from {user}", ["user": user])
      case (.policy, true): Message("Weaken MFA policy?")
      case (.job, true) where approval.jobKind == .removal:
        Message(
          one: "Remove factors from {count} user?",
          other: "Remove factors from {count} users?", ["count": .number(approval.users)])
      case (.job, true): BulkWords(approval.jobKind ?? .removal, approval.users).question
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
      Fact(Message("Requested by"), HTML.isolated(approval.requesterName))
    ]
    if approval.kind == .policy {
      facts.append(Fact(Message("Reason"), HTML.isolated(approval.note)))
      for change in changes {
        facts.append(Fact(change.field.label, change.values))
      }
      facts.append(
        Fact(Message("Affected users"), Message.value(.number(approval.users))))
    } else {
      facts.add(Message("Reason"), approval.reason.map { Markup(escaping: $0.label) })
      facts.add(Message("Note"), text: approval.note)
    }
    if let terms {
      facts += zip([Message("Links"), Message("Reminders")], terms.texts).map { Fact($0, $1) }
      facts.add(Message("Sentence"), text: terms.sentence)
    }
    facts.add(Message("Ticket"), text: approval.ticket)
    for line in approval.proof {
      facts.append(Fact(Message("Identity check"), HTML.isolated(line)))
    }
    if let proof = approval.callerProof {
      facts.append(Fact(Message("Caller verified by"), proof.text))
    }
    for name in approval.factorNames {
      facts.append(Fact(Message("Factor"), HTML.isolated(name)))
    }
    facts.append(Fact(Message("Requested"), times.past(approval.requestedAt)))
    facts.add(Message("Expires"), isWaiting ? times.moment(approval.expiresAt) : nil)
    facts.add(Message("Decided by"), approval.deciderName.map(HTML.isolated))
    facts.add(Message("Closed"), approval.decidedAt.map(times.past))
    if let outcome {
      let href = ChangeText.address(outcome.id, in: approval.pool)
      let (name, chip) = (ChangeText.name(outcome.id), ChangeText.chip(outcome.state))
      facts.append(Fact(Message("Outcome"), #"<a href="\#(href)">\#(name)</a> \#(chip)"#))
    }
    return facts
  }

  private var link: Link? {
    if let account = approval.account {
      guard let user, !user.isDeleted else { return nil }
      let href = ConsolePaths.user(approval.pool, account.text)
      return Link(text: Message("View user"), href: href)
    }
    if approval.kind == .policy {
      return Link(text: Message("MFA policy"), href: ConsolePaths.policy(approval.pool))
    }
    return approval.job.map {
      Link(
        text: jobLink, href: ConsolePaths.bulkRemoval(approval.pool, String($0)))
    }
  }

  private var jobLink: Message {
    switch approval.jobKind {
    case .campaign: Message("View campaign")
    case .removal, nil: Message("View bulk removal")
    case .sessions, .disabling: Message("View users")
    }
  }

  private var approvalConsequence: Message {
    switch approval.kind {
    case .job where approval.jobKind == .sessions:
      Message("If you approve, the server starts to end the sessions immediately.")
    case .job where approval.jobKind == .disabling:
      Message("If you approve, the server starts to disable the users and end their sessions.")
    case .job where approval.jobKind == .campaign:
      Message(
        """
        If you approve, sending starts immediately. Users who have enrolled since the request are \
        skipped.
        """)
    case .job:
      Message(
        """
        If you approve, the removal starts immediately. Users who have enrolled again since the \
        request are skipped.
        """)
    case .factor where approval.pool.kind != .hosted,
      .factors where approval.pool.kind != .hosted:
      Message(
        """
        If you approve, the server of the user is asked to make the change, which also ends all \
        sessions.
        """)
    case .policy where approval.pool.kind != .hosted:
      Message("If you approve, the server of the users is asked to change the policy.")
    case .factor, .factors:
      carriesMail
        ? Message(
          """
          If you approve, the removal takes effect immediately and the user’s sessions end. The \
          user is notified by email.
          """)
        : Message(
          """
          If you approve, the removal takes effect immediately and the user’s sessions end. Email \
          isn’t set up. The user won’t be notified.
          """)
    case .policy: Message("If you approve, the policy takes effect immediately.")
    }
  }

  private var button: Message {
    switch approval.kind {
    case .job where approval.jobKind == .campaign: Message("Approve and send")
    case .job: Message("Approve and run")
    case .factor, .factors: Message("Approve and remove")
    case .policy: Message("Approve and save")
    }
  }

  private var consequences: [Message] {
    [
      ApprovalText.why(approval.cause), approvalConsequence,
      Message("The audit log records your name and the requester’s."),
    ]
  }

  private var action: String {
    approval.paths.approval(approval.pool, String(approval.id))
  }
  private var rejection: String {
    approval.paths.rejection(approval.pool, String(approval.id))
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .markup("heading") { $0.heading },
    .optional(\.user),
    .list(\.users),
    .text("userCount") {
      Message(
        one: "{count} user", other: "{count} users", ["count": .number($0.approval.users)])
    },
    .markup("state") { ApprovalText.chip($0.approval.state) },
    .text("place") { ApprovalText.place($0.approval.pool) },
    .list("facts") { $0.facts },
    .optional("link") { $0.link },
    .text("answer") { $0.closing },
    .flag("isOwn") { $0.isWaiting && $0.isOwn },
    .optional(\.refusal),
    .text("obstacle") { view in
      view.obstacle.map {
        Message(
          "This request can’t be approved. {reason}",
          ["reason": .message($0.sentence(view.approval.requesterName))])
      }
    },
    .flag("mayApprove") {
      $0.isWaiting && !$0.isOwn && $0.refusal == nil && $0.obstacle == nil
    },
    .flag("mayRefuse") { view in
      view.isWaiting && !view.isOwn
        && view.approval.jobKind.map { view.context.may($0.permission) } != false
        && Notice(
          lackingCode: view.eligibility.asksForCode, view.context.signedIn) == nil
    },
    .optional("codeField") {
      CodeField($0.eligibility.asksForCode, $0.frame, action: $0.action)
    },
    .optional("refusalCode") {
      CodeField(
        $0.eligibility.asksForCode, $0.frame, id: ActionInput.refusalCode, action: $0.rejection)
    },
    .text("decisionError") { $0.frame.error(at: "decision") },
    .text("typed") { $0.answer },
    .text("answerError") { $0.frame.error(at: "answer") },
    .texts("consequences") { $0.consequences },
    .text("action") { $0.action },
    .text("reject") { $0.rejection },
    .text("withdraw") { $0.approval.paths.withdrawal($0.approval.pool, String($0.approval.id)) },
    .text("button") { $0.button },
    .text("back") { _ in ConsolePaths.approvals() },
  ]
}
