import Identity
import Localization

typealias PoolTarget = FormTarget<PoolContext>

/// The target of an action on a user.
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
