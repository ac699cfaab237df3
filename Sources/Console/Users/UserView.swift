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
    facts = Self.facts(account, sessions: sessions, now: now, times: frame.times)
  }

  private static func facts(
    _ account: Account, sessions: Int, now: Instant, times: Times
  ) -> [Fact] {
    var facts: [Fact] = []
    if account.email != nil, let name = account.displayName {
      facts.append(Fact("Name", HTML.isolated(name)))
    }
    facts.append(Fact("Phone", account.phoneNumber ?? "none"))
    facts.append(Fact("Password", account.hasPassword ? "set" : "none"))
    facts.append(Fact("Created", times.moment(account.createdAt)))
    facts.append(Fact("Last sign-in", account.lastLoginAt.map(times.past) ?? AccountChips.never))
    facts.append(Fact("Sessions", Words.number(sessions)))
    facts.append(Fact("Wrong codes", Words.count(account.wrongCodes, "in a row", "in a row")))
    if let until = account.codesBlockedUntil, until > now {
      facts.append(Fact("Codes refused until", times.moment(until)))
    }
    return facts
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .optional("guidance") { $0.guidance },
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
    .list("facts") { $0.facts },
    .flag("showsHistory") { $0.history != nil },
    .flag("hasHistory") { !($0.history ?? []).isEmpty },
    .list("history") { $0.history ?? [] },
  ]
}

struct FactorRow: ViewModel {
  let factor: Factor
  /// Where the factor can be removed; nil for those who may not.
  let removal: String?
  let times: Times

  init(_ factor: Factor, of account: Account, in context: ScopeContext, times: Times) {
    self.factor = factor
    self.times = times
    removal =
      context.may(.removeFactors)
      ? ConsolePaths.removal(context.scope, account.id.text, factor.id.text) : nil
  }

  static let keys: Keys<Self> = [
    .text("name") { $0.factor.label },
    .text("id") { $0.factor.id.text },
    .markup("enrolled") { $0.times.day($0.factor.enrolledAt) },
    .markup("lastUsed") { $0.factor.lastUsedAt.map($0.times.past) ?? AccountChips.never },
    .text("removal") { $0.removal },
  ]
}
