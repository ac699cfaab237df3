import HTTP
import Identity
import Localization
import Templating

struct UserView: ViewModel {
  let frame: FrameView
  let account: Account
  let pool: String
  let chips: Markup
  let diagnosis: DiagnosisView
  let notice: SupportRefusal?
  /// A pending removal, linked to its approval request.
  let approval: Link?
  let exemption: UserExemption?
  let actions: UserActions?
  /// The drift of the phone's clock; nil for too few codes.
  var timeline: ChartFrame?
  let codeAttempts: CodeAttemptsSection?
  let factors: [FactorRow]
  let backupCodes: BackupCodesView?
  let guidance: GuidanceAside?
  let support: UserSupport
  /// The newest audit rows; nil without the permission.
  let history: [HistoryRow]?
  let facts: [Fact]
  let links: [Link]

  init(
    frame: Frame, context: ScopeContext, _ records: UserRecords, hasHistory: Bool,
    _ prose: GuidanceProse, at now: Instant
  ) {
    let (account, times) = (records.account, frame.times)
    self.frame = FrameView(frame)
    self.account = account
    pool = ApprovalText.place(context.scope)
    chips = AccountChips.problems(account, records.diagnosis.drift?.drift, at: now)
    diagnosis = DiagnosisView(records.diagnosis, of: account, at: now, times)
    notice = Self.notice(account, context)
    approval = context.may(.removeFactors) ? records.approval.map { Self.pending($0, times) } : nil
    exemption = records.exemption.map { UserExemption($0, of: account, in: context) }
    actions = UserActions(records, in: context, at: now)
    timeline = DriftTimeline.chart(
      records.codeAttempts.items, records.diagnosis.drift, at: now, times)
    if context.may(.exportUsers) {
      timeline?.export = ConsolePaths.codeAttemptsFile(context.scope, account.id.text)
      timeline?.csrf = context.signedIn.session.csrfToken
    }
    codeAttempts = CodeAttemptsSection(records.codeAttempts, of: account, in: context.scope, times)
    factors = account.factors.map { FactorRow($0, at: now, times) }
    backupCodes = BackupCodesView(account, records.backupCodes, at: now, in: context)
    guidance = GuidanceAside(records.guidance, of: context.scope, prose)
    support = UserSupport(records: records, context: context)
    history = hasHistory ? records.history.map { HistoryRow($0, times, frame.catalog) } : nil
    facts = Self.facts(account, times: times)
    links = Self.links(account, context)
  }

  private static func pending(_ approval: Approval, _ times: Times) -> Link {
    Link(
      text: Message(
        "users.pending-approval",
        [
          "action": .message(ApprovalText.what(approval)),
          "requester": .name(Formatted.short(approval.requesterName)),
          "until": times.value(approval.expiresAt),
        ]), href: approval.address)
  }

  private static func notice(
    _ account: Account, _ context: ScopeContext
  ) -> SupportRefusal? {
    let refusal = context.signedIn.administrator.obstacle(
      to: .removeFactor, on: account, in: context.scope)
    guard let refusal, context.may(.removeFactors) || context.may(.endSessions) else { return nil }
    var notice = SupportRefusal(ActionErrorText.sentence(refusal))
    if case .changesLocked = refusal, context.may(.protectUsers) {
      notice.link = Link(
        text: Message("users.allow-changes-again"),
        href: ConsolePaths.allowedChanges(context.scope, account.id.text))
    }
    return notice
  }

  private static func links(_ account: Account, _ context: ScopeContext) -> [Link] {
    let user = ["q": account.id.text] as Form
    var links = [
      Link(
        text: Message("users.sign-in-simulator"),
        href: user.query(of: ConsolePaths.signInSimulator()))
    ]
    if context.may(.readAudit) {
      let query = ["kind": "account", "object": account.id.text] as Form
      links.append(
        Link(
          text: Message("users.full-history"),
          href: query.query(of: ConsolePaths.audit(context.scope))))
    }
    return links
  }

  private static func facts(_ account: Account, times: Times) -> [Fact] {
    var facts: [Fact] = []
    if account.email != nil, let name = account.displayName {
      facts.append(Fact(Message("common.name"), HTML.isolated(name)))
    }
    if account.isAnonymous {
      facts.append(Fact(Message("users.kind"), Message("users.anonymous")))
    }
    facts.append(
      Fact(
        Message("users.sign-in"),
        account.disabled ? Message("users.sign-in-disabled") : Message("users.sign-in-enabled")))
    if account.email != nil {
      facts.append(
        Fact(
          Message("common.email"),
          account.emailVerified ? Message("users.verified") : Message("users.not-verified")))
    }
    facts.append(
      Fact(Message("users.phone"), account.phoneNumber.map(HTML.isolated) ?? notGiven))
    facts.append(password(account, times))
    facts.append(Fact(Message("users.sign-in-methods"), methods(account)))
    facts.append(Fact(Message("common.created"), times.past(account.createdAt)))
    facts.append(
      Fact(
        Message("users.last-sign-in"), account.lastLoginAt.map(times.past) ?? AccountChips.never))
    facts.append(
      Fact(
        Message("users.incorrect-codes"),
        Message("users.in-a-row", ["number": .number(account.wrongCodes)])))
    if let claims = account.customAttributes {
      facts.append(Fact(Message("users.custom-claims"), HTML.isolated(claims)))
    }
    return facts
  }

  private static let notGiven = Markup(escaping: Message("users.not-given"))

  private static func password(_ account: Account, _ times: Times) -> Fact {
    guard account.hasPassword else { return Fact(Message("common.password"), notGiven) }
    return Fact(
      Message("users.password-set"),
      account.passwordUpdatedAt.map(times.day) ?? Markup(escaping: Message("users.yes")))
  }

  /// Returns a user's first factors, with the email address or ID at each identity provider.
  private static func methods(_ account: Account) -> Markup {
    var own: [Message] = []
    if account.hasPassword { own.append(Message("users.method-password")) }
    if account.phoneNumber != nil { own.append(Message("users.method-phone")) }
    if account.isCustomAuth { own.append(Message("users.method-custom-token")) }
    if own.isEmpty, account.providers.isEmpty {
      return Markup(escaping: Message("users.no-sign-in-method"))
    }
    var html = HTML()
    if !own.isEmpty { html.message(.value(.sequence(own))) }
    for (index, link) in account.providers.enumerated() {
      if index > 0 || !own.isEmpty { html.raw("<br>") }
      html.add(
        Markup(
          html: Message(
            "users.account-at-provider",
            ["provider": .name(link.provider), "account": .name(link.email ?? link.rawID)])))
    }
    return html.markup
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("name") { $0.account.visibleName ?? $0.account.label },
    .flag("isEmail") { $0.account.visibleName == nil && $0.account.email != nil },
    .text("email") { $0.account.visibleName == nil ? nil : $0.account.email },
    .text("phone") { $0.account.label == $0.account.phoneNumber ? nil : $0.account.phoneNumber },
    .text(\.pool),
    .text("uid") { $0.account.id.text },
    .markup(\.chips),
    .object(\.diagnosis),
    .optional(\.notice),
    .optional(\.approval),
    .optional(\.exemption),
    .optional(\.actions),
    .flag("hasActions") { $0.actions != nil },
    .optional(\.timeline),
    .optional(\.codeAttempts),
    .text("factorCount") {
      $0.factors.isEmpty
        ? nil : Message("users.count-of-factors", ["count": .number($0.factors.count)])
    },
    .flag("hasFactors") { !$0.factors.isEmpty },
    .list(\.factors),
    .object("empty") { _ in
      EmptyView(
        heading: Message("users.no-second-factor-heading"),
        sentence: Message("users.first-factor-only"),
        link: EmptyLink(text: Message("common.how-users-enroll"), href: ConsolePaths.guidance()))
    },
    .optional(\.backupCodes),
    .optional(\.guidance),
    .object(\.support),
    .flag("showsHistory") { $0.history != nil },
    .flag("hasHistory") { !($0.history ?? []).isEmpty },
    .text("historyCount") { view in
      let count = view.history?.count ?? 0
      return count < UserRecords.mostHistory
        ? Message("users.count-of-changes", ["count": .number(count)])
        : Message("users.newest-changes", ["count": .number(count)])
    },
    .list("history") { $0.history ?? [] },
    .markup("created") { $0.frame.times.day($0.account.createdAt) },
    .list(\.facts),
    .flag("hasLinks") { !$0.links.isEmpty },
    .list(\.links),
  ]
}
