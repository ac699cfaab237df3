import HTTP
import Identity
import Localization
import Templating

struct UserView: ViewModel {
  let frame: FrameView
  let account: Account
  let chips: Markup
  let factors: [FactorRow]
  let history: [HistoryRow]?
  let facts: [Fact]
  let support: UserSupport
  /// Why the administrator can't act on this user, and what to do about it; nil if they can.
  let notice: SupportRefusal?
  let actions: UserActionLinks
  /// Links to more about this user.
  let links: [Link]
  /// The user's recent code attempts; nil without second factors and attempts.
  var codeAttempts: CodeAttemptsSection?
  /// The pool's support playbook; nil without any.
  var guidance: GuidanceAside?
  /// The user's exemption from MFA; nil if there's none.
  var exemption: UserExemption?
  /// A pending removal, linked to its approval request.
  var approval: Link?
  /// The account recovery section; nil if there is nothing to show.
  var backupCodes: BackupCodesView?

  init(
    frame: Frame, context: ScopeContext, account: Account, sessions: Int, history: [AuditRow]?,
    support: UserSupport, refusal: ActionDenial?, now: Instant
  ) {
    self.frame = FrameView(frame)
    self.account = account
    chips = AccountChips.all(account, at: now)
    factors = account.factors.map {
      FactorRow(
        $0, of: account, in: context, mayAct: refusal == nil, at: now, times: frame.times)
    }
    self.history = history?.map { HistoryRow($0, frame.times, frame.catalog) }
    facts = Self.facts(account, sessions: sessions, times: frame.times)
    self.support = support
    notice = Self.notice(account, refusal, context)
    actions = UserActionLinks(account, sessions: sessions, in: context)
    links = Self.links(account, context)
  }

  /// Returns why an administrator with the permission to act can't act on this user.
  private static func notice(
    _ account: Account, _ refusal: ActionDenial?, _ context: ScopeContext
  ) -> SupportRefusal? {
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
        text: Message("users.sign-in-simulator"), href: user.query(of: ConsolePaths.whatIf()))
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

  private static func facts(
    _ account: Account, sessions: Int, times: Times
  ) -> [Fact] {
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
    facts.append(Fact(Message("common.created"), times.moment(account.createdAt)))
    facts.append(
      Fact(
        Message("users.last-sign-in"), account.lastLoginAt.map(times.past) ?? AccountChips.never))
    facts.append(Fact(Message("users.sessions"), Message.value(.number(sessions))))
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
    .optional(\.guidance),
    .optional(\.codeAttempts),
    .optional(\.exemption),
    .optional(\.approval),
    .optional(\.backupCodes),
    .text("name") { $0.account.displayName ?? $0.account.label },
    .text("email") { $0.account.displayName == nil ? nil : $0.account.email },
    .text("uid") { $0.account.id.text },
    .markup(\.chips),
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
        link: EmptyLink(text: Message("users.how-users-enroll"), href: ConsolePaths.guidance()))
    },
    .optional(\.notice),
    .object(\.support),
    .object(\.actions),
    .list(\.facts),
    .flag("hasLinks") { !$0.links.isEmpty },
    .list(\.links),
    .flag("showsHistory") { $0.history != nil },
    .flag("hasHistory") { !($0.history ?? []).isEmpty },
    .list("history") { $0.history ?? [] },
  ]
}
