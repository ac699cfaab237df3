import Identity
import Localization
import Templating

/// The actions on a user that the administrator can perform: those that the diagnosis makes likely,
/// then the others, with a row for each factor, and the destructive ones last.
struct UserActionsView: ViewModel {
  private(set) var likely: [UserActionLink] = []
  private(set) var more: [UserActionLink] = []
  private(set) var rows: [UserActionRow] = []
  private(set) var destructive: [UserActionLink] = []
  /// What agents confirm about a caller before they act; nil if the pool requires nothing.
  private(set) var checks: Message?

  private let remedy: ConsoleAction?
  private let helpful: [ConsoleAction]

  init?(
    _ actions: UserActions, _ records: UserRecords, in context: PoolContext, at now: Instant
  ) {
    (remedy, helpful) = (records.diagnosis.remedy, records.diagnosis.likely)
    var offer = UserOffer(records: records, context: context, now: now)
    for action in actions.onCodes { add(link(action, offer)) }
    for factor in records.account.factors {
      offer.factor = factor
      add(
        actions.onFactor, offer, to: Message.verbatim(Formatted.short(factor.label, 40)),
        isOnly: records.account.factors.count == 1)
    }
    offer.factor = nil
    for hold in records.removalHolds {
      offer.hold = hold
      let names = hold.factors.map { Message.value(.name(Formatted.short($0.label, 40))) }
      add(actions.onRemoval, offer, to: Message.value(.sequence(names)), isOnly: true)
    }
    offer.hold = nil
    for action in actions.onAccount { add(link(action, offer)) }
    guard !likely.isEmpty || hasMore || !destructive.isEmpty else { return nil }
    likely = helpful.flatMap { action in likely.filter { $0.action == action } }
    if !records.rules.identityProof.isEmpty, context.may(.removeFactors) {
      checks = Message(
        "Confirm the caller’s identity first: {checks}.",
        ["checks": .sequence(records.rules.identityProof.map(Message.verbatim))])
    }
  }

  private var hasMore: Bool { !more.isEmpty || !rows.isEmpty }

  private func link<Action: UserAction>(
    _ type: Action.Type, _ offer: UserOffer
  ) -> UserActionLink? {
    let address = offer.context.address(of: type, on: offer.account, offer.object)
    guard let address, type.isOffered(offer) else { return nil }
    return UserActionLink(
      action: type.action, text: type.label(offer), href: address, label: type.shortLabel(offer),
      isPrimary: type.action == remedy && !type.isDestructive, isDestructive: type.isDestructive)
  }

  private mutating func add(_ link: UserActionLink?) {
    guard var link else { return }
    link.label = nil
    if link.isDestructive {
      destructive.append(link)
    } else if helpful.contains(link.action) {
      likely.append(link)
    } else {
      more.append(link)
    }
  }

  /// Adds the actions on `object`, those that are neither likely nor destructive as a row.
  ///
  /// Of several factors, only the one that the remedy is for has likely actions.
  private mutating func add(
    _ actions: [any UserAction.Type], _ offer: UserOffer, to object: Message, isOnly: Bool
  ) {
    var links: [UserActionLink] = []
    for action in actions {
      guard var link = link(action, offer) else { continue }
      link.object = object
      let isRemedy = link.isPrimary && !likely.contains(where: \.isPrimary)
      if link.isDestructive || isRemedy || isOnly && helpful.contains(link.action) {
        link.label = nil
        if link.isDestructive { destructive.append(link) } else { likely.append(link) }
      } else {
        links.append(link)
      }
    }
    if !links.isEmpty { rows.append(UserActionRow(object: object, links: links)) }
  }

  static let keys: Keys<Self> = [
    .flag("hasLikely") { !$0.likely.isEmpty },
    .list(\.likely),
    .flag("hasMore") { $0.hasMore },
    .list(\.more),
    .list(\.rows),
    .flag("hasDestructive") { !$0.destructive.isEmpty },
    .list(\.destructive),
    .text(\.checks),
  ]
}

struct UserActionRow: ViewModel {
  let object: Message
  let links: [UserActionLink]

  static let keys: Keys<Self> = [
    .text(\.object),
    .list(\.links),
  ]
}

struct UserActionLink: ViewModel {
  let action: ConsoleAction
  let text: Message
  let href: String
  /// What the action applies to; nil for the user.
  var object: Message?
  /// The visible text in a row, which names the object once; nil outside of rows.
  var label: Message?
  let isPrimary: Bool
  let isDestructive: Bool

  static let keys: Keys<Self> = [
    .text(\.text),
    .text(\.href),
    .text(\.object),
    .text(\.label),
    .flag(\.isPrimary),
  ]
}
