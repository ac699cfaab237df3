import HTTP
import Identity
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
  /// The pool's guidance for support agents; nil without any.
  var guidance: GuidanceAside?
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
        text: "Allow changes again…",
        href: ConsolePaths.allowedChanges(context.scope, account.id.text))
    }
    return notice
  }

  private static func links(_ account: Account, _ context: ScopeContext) -> [Link] {
    let user = ["q": account.id.text] as Form
    var links = [
      Link(text: "Sign-in simulator", href: user.query(of: ConsolePaths.whatIf()))
    ]
    if context.may(.readAudit) {
      let query = ["kind": "account", "object": account.id.text] as Form
      links.append(
        Link(text: "Full history", href: query.query(of: ConsolePaths.audit(context.scope))))
    }
    return links
  }

  private static func facts(
    _ account: Account, sessions: Int, times: Times
  ) -> [Fact] {
    var facts: [Fact] = []
    if account.email != nil, let name = account.displayName {
      facts.append(Fact("Name", HTML.isolated(name)))
    }
    if account.isAnonymous { facts.append(Fact("Kind", "anonymous")) }
    facts.append(Fact("Sign-in", account.disabled ? "disabled" : "enabled"))
    if account.email != nil {
      facts.append(Fact("Email", account.emailVerified ? "verified" : "not verified"))
    }
    facts.append(Fact("Phone", account.phoneNumber.map(HTML.isolated) ?? HTML.escaped("none")))
    let password = account.passwordUpdatedAt.map(times.day)
    facts.append(
      account.hasPassword
        ? Fact("Password set", password ?? HTML.escaped("yes")) : Fact("Password", "none"))
    facts.append(Fact("Sign-in methods", methods(account)))
    facts.append(Fact("Created", times.moment(account.createdAt)))
    facts.append(Fact("Last sign-in", account.lastLoginAt.map(times.past) ?? AccountChips.never))
    facts.append(Fact("Sessions", Words.number(sessions)))
    facts.append(Fact("Incorrect codes", Words.count(account.wrongCodes, "in a row", "in a row")))
    if let claims = account.customAttributes {
      facts.append(Fact("Custom claims", HTML.isolated(claims)))
    }
    return facts
  }

  /// Returns a user's first factors, with the email address or ID at each identity provider.
  private static func methods(_ account: Account) -> Markup {
    var own: [String] = []
    if account.hasPassword { own.append("password") }
    if account.phoneNumber != nil { own.append("phone") }
    if account.isCustomAuth { own.append("custom token") }
    var html = HTML()
    html.text(own.joined(separator: ", "))
    for (index, link) in account.providers.enumerated() {
      if index > 0 || !own.isEmpty { html.raw("<br>") }
      html.add(HTML.isolated(link.provider))
      html.raw(": ")
      html.add(HTML.isolated(link.email ?? link.rawID))
    }
    if own.isEmpty, account.providers.isEmpty { html.text("No sign-in method") }
    return html.markup
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .optional("guidance") { $0.guidance },
    .optional("codeAttempts") { $0.codeAttempts },
    .optional("approval") { $0.approval },
    .optional("backupCodes") { $0.backupCodes },
    .text("name") { $0.account.displayName ?? $0.account.label },
    .text("email") { $0.account.displayName == nil ? nil : $0.account.email },
    .text("uid") { $0.account.id.text },
    .markup("chips") { $0.chips },
    .text("factorCount") {
      $0.factors.isEmpty ? nil : Words.count($0.factors.count, "factor", "factors")
    },
    .flag("hasFactors") { !$0.factors.isEmpty },
    .list("factors") { $0.factors },
    .object("empty") { _ in
      EmptyView(
        heading: "No second factor",
        sentence:
          "This user signs in with a first factor only. Users enroll a second factor themselves, in your application.",
        link: EmptyLink(text: "How users enroll", href: ConsolePaths.guidance()))
    },
    .optional("notice") { $0.notice },
    .object("support") { $0.support },
    .object("actions") { $0.actions },
    .list("facts") { $0.facts },
    .flag("hasLinks") { !$0.links.isEmpty },
    .list("links") { $0.links },
    .flag("showsHistory") { $0.history != nil },
    .flag("hasHistory") { !($0.history ?? []).isEmpty },
    .list("history") { $0.history ?? [] },
  ]
}
