import HTTP
import Identity
import Localization
import Templating

/// The actions on a user that the administrator can perform, by what callers say.
struct UserActionsView: ViewModel {
  /// The action that the diagnosis leads to, which is shown with it; nil if a row has it.
  private(set) var remedy: UserActionLink?
  private(set) var rows: [IntentRow] = []
  private(set) var more: [UserActionLink] = []
  private(set) var account: [IntentRow] = []
  /// What agents confirm about a caller before they act; nil if the pool requires nothing.
  let checks: Message?
  /// Pages about the user that aren't actions.
  let links: [Link]

  init(
    _ actions: UserActions, _ records: UserRecords, in context: PoolContext, at now: Instant
  ) {
    links = Self.links(records.account, context)
    let lines = records.rules.identityProof
    checks =
      lines.isEmpty || !context.may(.removeFactors)
      ? nil
      : Message(
        "Confirm the caller’s identity first: {checks}.",
        ["checks": .sequence(lines.map(Message.verbatim))])
    var offer = UserOffer(records: records, context: context, now: now)
    var found: [UserActionLink] = []
    func add(_ types: [any UserAction.Type]) {
      found += types.compactMap { Self.link($0, offer) }
    }
    add(actions.onCodes)
    for factor in records.account.factors {
      offer.factor = factor
      add(actions.onFactor)
    }
    offer.factor = nil
    for hold in records.removalHolds {
      offer.hold = hold
      add(actions.onRemoval)
    }
    offer.hold = nil
    add(actions.onAccount)
    if let index = found.firstIndex(where: { $0.isRemedy && $0.intent != .enroll }) {
      remedy = found.remove(at: index)
    }
    func rows(_ intents: [UserIntent]) -> [IntentRow] {
      intents.compactMap { intent in
        let links = found.filter { $0.intent == intent }
        return links.isEmpty ? nil : IntentRow(intent, links, records, in: context.pool)
      }
    }
    self.rows = rows(UserIntent.said(records.diagnosis))
    more = found.filter { $0.intent == .more }
    account = rows([.takenOver, .signIn, .deletion, .erasure])
  }

  private static func link<Action: UserAction>(
    _ type: Action.Type, _ offer: UserOffer
  ) -> UserActionLink? {
    guard type.isOffered(offer),
      let address = offer.context.address(of: type, on: offer.account, offer.object)
    else { return nil }
    let diagnosis = offer.records.diagnosis
    let isRemedy = type.action == diagnosis.remedy && offer.factor?.id == diagnosis.factor
    return UserActionLink(
      intent: type.intent(offer), text: type.label(offer), href: address, isRemedy: isRemedy,
      // A clock that's off is set first.
      isPrimary: isRemedy && type.action != .resynchronizeFactor,
      isDestructive: type.isDestructive)
  }

  private static func links(_ account: Account, _ context: PoolContext) -> [Link] {
    let user = ["q": account.id.text] as Form
    var links: [Link] = []
    if context.offers(.secrets) {
      links.append(
        Link(
          text: Message("Sign-in simulator"), href: user.query(of: ConsolePaths.signInSimulator())))
    }
    if context.may(.readAudit) {
      let query = ["kind": "account", "object": account.id.text] as Form
      links.append(
        Link(
          text: Message("Audit log"),
          href: query.query(of: ConsolePaths.audit(context.pool))))
    }
    return links
  }

  static let keys: Keys<Self> = [
    .list(\.rows),
    .text(\.checks),
    .list(\.more),
    .list(\.links),
    .list(\.account),
  ]
}

struct IntentRow: ViewModel {
  let intent: UserIntent
  let links: [UserActionLink]
  let fact: Message?

  init(
    _ intent: UserIntent, _ links: [UserActionLink], _ records: UserRecords, in pool: Pool
  ) {
    (self.intent, self.links) = (intent, links)
    fact = intent.fact(records, in: pool)
  }

  static let keys: Keys<Self> = [
    .text("title") { $0.intent.title },
    .text(\.fact),
    .list(\.links),
  ]
}

struct UserActionLink: ViewModel {
  let intent: UserIntent
  /// The action and what it applies to; HTML.
  let text: Message
  let href: String
  /// Whether the diagnosis leads to it.
  let isRemedy: Bool
  let isPrimary: Bool
  let isDestructive: Bool

  static let keys: Keys<Self> = [
    .markup("text") { Markup(html: $0.text) },
    .text(\.href),
    .flag(\.isPrimary),
    .flag(\.isDestructive),
  ]
}
