import Identity
import Localization

typealias ScopeTarget = FormTarget<ScopeContext>

/// The target of an action on a user.
extension ScopeTarget {
  var uid: String { objects.first ?? "" }
  var user: ID<Account> { ID(uid) }
  var userPage: String { ConsolePaths.user(scope, uid) }
}

extension FormAction where Place == ScopeContext {
  /// An action on a user that changes nothing, such as after a form was submitted twice, leads to
  /// the user's page.
  func denied(_ denial: ActionDenial, _ target: ScopeTarget) throws -> FieldError? {
    guard action.requirements.reason == .chosen, case .nothingToDo = denial else { return nil }
    throw target.elsewhere(target.userPage, saying: Message("No changes made."))
  }
}

extension Identity {
  func account(_ target: ScopeTarget) async throws -> Account {
    let found = try await accounts.find(target.scope, target.user)
    guard let found else { throw Refusal.notFound }
    return found
  }

  func accountWithSessions(_ target: ScopeTarget) async throws -> (Account, Int) {
    let account = try await account(target)
    let sessions = try await sessions.count(account)
    return (account, sessions)
  }

  func factor(_ target: ScopeTarget) async throws -> Suspension {
    try await support.factor(target.scope, target.user, ID(target.object))
  }

  /// Returns that there's nothing left to act on, which the user's page says.
  ///
  /// - Throws: ``Refusal/notFound`` if the user is gone as well, which the address then says.
  func nothingLeft(_ target: ScopeTarget, _ text: Message) async throws -> Refusal {
    _ = try await account(target)
    return target.elsewhere(target.userPage, saying: text)
  }
}
