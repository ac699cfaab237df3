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
  let actions: UserActionLinks
  /// Pages that say more about this user.
  let links: [Link]
  /// What became of the last codes; nil where there is nothing to say.
  var verdicts: VerdictsSection?
  /// What the scope tells its support; nil when it tells nothing.
  var guidance: GuidanceAside?

  init(
    frame: Frame, context: ScopeContext, account: Account, sessions: Int, history: [AuditRow]?,
    now: Instant
  ) {
    self.frame = FrameView(frame)
    self.account = account
    chips = AccountChips.all(account, at: now)
    factors = account.factors.map { FactorRow($0, of: account, in: context, times: frame.times) }
    self.history = history?.map { HistoryRow($0, frame.times) }
    facts = Self.facts(account, sessions: sessions, times: frame.times)
    actions = UserActionLinks(account, sessions: sessions, in: context)
    links = Self.links(account, context)
  }

  private static func links(_ account: Account, _ context: ScopeContext) -> [Link] {
    let user = ["q": account.id.text] as Form
    var links = [
      Link(text: "What if they sign in now?", href: user.query(of: ConsolePaths.whatIf()))
    ]
    if context.may(.readAudit) {
      let query = ["kind": "account", "object": account.id.text] as Form
      links.append(
        Link(text: "Whole history", href: query.query(of: ConsolePaths.audit(context.scope))))
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
    if account.isAnonymous { facts.append(Fact("Kind", "anonymous, without any credential")) }
    facts.append(Fact("Sign-in", account.disabled ? "disabled" : "enabled"))
    if account.email != nil {
      facts.append(Fact("E-mail", account.emailVerified ? "verified" : "not verified"))
    }
    facts.append(Fact("Phone", account.phoneNumber.map(HTML.isolated) ?? HTML.escaped("none")))
    let password = account.passwordUpdatedAt.map(times.day)
    facts.append(
      account.hasPassword
        ? Fact("Password set", password ?? HTML.escaped("yes")) : Fact("Password", "none"))
    facts.append(Fact("Signs in with", methods(account)))
    facts.append(Fact("Created", times.moment(account.createdAt)))
    facts.append(Fact("Last sign-in", account.lastLoginAt.map(times.past) ?? AccountChips.never))
    facts.append(Fact("Sessions", Words.number(sessions)))
    facts.append(Fact("Wrong codes", Words.count(account.wrongCodes, "in a row", "in a row")))
    if let claims = account.customAttributes {
      facts.append(Fact("Claims", HTML.isolated(claims)))
    }
    return facts
  }

  /// The first factors of a user, with the address or the id by which another provider knows them.
  private static func methods(_ account: Account) -> Markup {
    var own: [String] = []
    if account.hasPassword { own.append("password") }
    if account.phoneNumber != nil { own.append("phone") }
    if account.isCustomAuth { own.append("tokens of your own") }
    var html = HTML()
    html.text(own.joined(separator: ", "))
    for (index, link) in account.providers.enumerated() {
      if index > 0 || !own.isEmpty { html.raw("<br>") }
      html.add(HTML.isolated(link.provider))
      html.raw(": ")
      html.add(HTML.isolated(link.email ?? link.rawID))
    }
    if own.isEmpty, account.providers.isEmpty { html.text("nothing") }
    return html.markup
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .optional("guidance") { $0.guidance },
    .optional("verdicts") { $0.verdicts },
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
          "The password alone lets this user in. Enrolling is something only they can do, in your application.",
        link: EmptyLink(text: "How users come to enrol", href: ConsolePaths.guidance()))
    },
    .object("actions") { $0.actions },
    .list("facts") { $0.facts },
    .flag("hasLinks") { !$0.links.isEmpty },
    .list("links") { $0.links },
    .flag("showsHistory") { $0.history != nil },
    .flag("hasHistory") { !($0.history ?? []).isEmpty },
    .list("history") { $0.history ?? [] },
  ]
}

/// What may be done to a user by whoever looks; an address that is nil is not offered.
struct UserActionLinks: ViewModel {
  let csrf: String
  let verification: String?
  let endOfSessions: String?
  let state: String?
  let isDisabled: Bool
  let removalOfAll: String?
  let deletion: String?

  init(_ account: Account, sessions: Int, in context: ScopeContext) {
    let (scope, uid) = (context.scope, account.id.text)
    let mayChange = context.may(.changeUsers)
    csrf = context.signedIn.session.csrfToken
    verification =
      mayChange && account.email != nil && !account.emailVerified
      ? ConsolePaths.verification(scope, uid) : nil
    endOfSessions =
      context.may(.endSessions) && sessions > 0 ? ConsolePaths.endOfSessions(scope, uid) : nil
    state = mayChange ? ConsolePaths.userState(scope, uid) : nil
    isDisabled = account.disabled
    removalOfAll =
      context.may(.removeFactors) && !account.factors.isEmpty
      ? ConsolePaths.removalOfAll(scope, uid) : nil
    deletion = mayChange ? ConsolePaths.deletion(scope, uid) : nil
  }

  static let keys: Keys<Self> = [
    .flag("some") { $0.verification != nil || $0.endOfSessions != nil || $0.state != nil },
    .text("csrf") { $0.csrf },
    .text("verification") { $0.verification },
    .text("endOfSessions") { $0.endOfSessions },
    .text("state") { $0.state },
    .text("newState") { $0.isDisabled ? UserState.enabled.rawValue : UserState.disabled.rawValue },
    .text("stateButton") { $0.isDisabled ? "Enable" : "Disable" },
    .text("removalOfAll") { $0.removalOfAll },
    .text("deletion") { $0.deletion },
  ]
}

struct FactorRow: ViewModel {
  let factor: Factor
  /// Where the factor can be removed and renamed; nil for those who may not.
  let removal: String?
  let rename: String?
  let times: Times

  init(_ factor: Factor, of account: Account, in context: ScopeContext, times: Times) {
    self.factor = factor
    self.times = times
    let (scope, uid, id) = (context.scope, account.id.text, factor.id.text)
    let may = context.may(.removeFactors)
    removal = may ? ConsolePaths.removal(scope, uid, id) : nil
    rename = may ? ConsolePaths.factorName(scope, uid, id) : nil
  }

  static let keys: Keys<Self> = [
    .text("name") { $0.factor.label },
    .text("id") { $0.factor.id.text },
    .text("kind") { Words.sentence($0.factor.kind.name) },
    .text("number") { $0.factor.displayName == nil ? nil : $0.factor.phoneNumber },
    .markup("enrolled") { $0.times.day($0.factor.enrolledAt) },
    .markup("lastUsed") { $0.factor.lastUsedAt.map($0.times.past) ?? AccountChips.never },
    .text("removal") { $0.removal },
    .text("rename") { $0.rename },
  ]
}
