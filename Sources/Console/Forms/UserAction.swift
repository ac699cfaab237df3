import Identity
import Localization

typealias PoolTarget = FormTarget<PoolContext>

extension PoolTarget {
  var uid: String { objects.first ?? "" }
  var user: ID<Account> { ID(uid) }
  var userPage: String { ConsolePaths.user(pool, uid) }
}

extension FormAction where Place == PoolContext {
  /// An action on a user that changes nothing, such as after a form was submitted twice, leads to
  /// the user's page.
  func denied(_ denial: ActionDenial, _ target: PoolTarget) throws -> FieldError? {
    guard Self.action.requirements.reason == .chosen, case .nothingToDo = denial else { return nil }
    throw target.elsewhere(target.userPage, saying: Message("No changes made."))
  }
}

extension Identity {
  func account(_ target: PoolTarget) async throws -> Account {
    try await account(target.uid, in: target.place)
  }

  func accountWithSessions(_ target: PoolTarget) async throws -> (Account, Int) {
    let account = try await account(target)
    let sessions = try await sessions.count(account)
    return (account, sessions)
  }

  func factor(_ target: PoolTarget) async throws -> Suspension {
    try await support.factor(target.pool, target.user, ID(target.object))
  }

  /// Returns that there's nothing left to act on, which the user's page says.
  ///
  /// - Throws: ``Refusal/notFound`` if the user is gone as well, which the address then says.
  func nothingLeft(_ target: PoolTarget, _ text: Message) async throws -> Refusal {
    _ = try await account(target)
    return target.elsewhere(target.userPage, saying: text)
  }
}

/// The actions on a user, in the order in which the user's page has them.
struct UserActions: Sendable {
  let onCodes: [any UserAction.Type]
  let onFactor: [any UserAction.Type]
  let onRemoval: [any UserAction.Type]
  let onAccount: [any UserAction.Type]

  var all: [any UserAction.Type] { onCodes + onFactor + onRemoval + onAccount }
}

/// An action on a user that the user's page links to; it's in a list of ``UserActions``.
protocol UserAction: FormAction<PoolContext> {
  static var isDestructive: Bool { get }

  init(identity: Identity)

  /// What the user's page has it for.
  static func intent(_ offer: UserOffer) -> UserIntent

  /// The text of the link, with what the action applies to unless that's the user; HTML.
  static func label(_ offer: UserOffer) -> Message

  /// Whether there's anything to act on, for an administrator who may.
  static func isOffered(_ offer: UserOffer) -> Bool
}

extension UserAction {
  static var isDestructive: Bool { false }

  static func intent(_ offer: UserOffer) -> UserIntent { .more }

  static func isOffered(_ offer: UserOffer) -> Bool { true }
}

/// What the user's page knows of the object of an action: the user, a factor, or a removal.
struct UserOffer {
  let records: UserRecords
  let context: PoolContext
  let now: Instant
  var factor: Factor?
  var hold: RemovalHold?

  var account: Account { records.account }

  var object: String? { factor?.id.text ?? hold?.id.text }

  /// The name of the factor, or those of the removed factors.
  var name: Message.Value {
    let factors = factor.map { [$0] } ?? hold?.factors ?? []
    return .list(factors.map { .value(.name(Formatted.short($0.label, 40))) })
  }
}

extension PoolContext {
  /// The address of an action on a user, or on an object of theirs; nil if the administrator can't
  /// perform it.
  func address<Action: FormAction<PoolContext>>(
    of type: Action.Type, on account: Account, _ object: String? = nil
  ) -> String? {
    let denial = signedIn.administrator.denial(of: type.action, on: account, in: pool)
    guard denial == nil else { return nil }
    return address + type.path.link([account.id.text] + (object.map { [$0] } ?? []))
  }
}

extension Notice {
  /// That codes of a user are locked; nil if they aren't.
  init?(lockOf account: Account, at now: Instant, in context: PoolContext) {
    let times = context.signedIn.times
    guard let words = CodeAttemptText.waiting(account, at: now, times) else { return nil }
    self.init(
      words,
      link: context.address(of: UnlockCodes.self, on: account).map {
        Link(text: Message("Unlock codes…"), href: $0)
      })
  }
}

extension Pool {
  /// Whether a text is the name or the ID of this pool.
  ///
  /// The ID is accepted because some names can't be typed.
  func isNamed(_ text: String) -> Bool {
    !text.isEmpty && (text == name || text == objectID)
  }
}
