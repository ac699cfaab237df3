import Identity
import Localization
import Templating

/// `S/users/{uid}/deletion`: deletes a user, confirmed by typing their email address or UID.
struct DeleteUser: FormAction {
  let action = ConsoleAction.deleteUser
  let identity: Identity

  func page(_ target: PoolTarget) async throws -> FormPage {
    let (account, sessions) = try await identity.accountWithSessions(target)
    var page = FormPage(
      account, in: target.pool, title: Message("Delete user"),
      heading: Message("Delete {user}?", ["user": account.shortLabel]),
      consequences: [
        Message("The account is deleted, along with its password, name, and custom claims."),
        Self.deletion(of: account.factors),
        SessionText.ending(sessions),
        Message("This can’t be undone. The account’s history stays in the audit log."),
      ].compactMap { $0 }, button: Message("Delete user"))
    page.notifies = true
    page.reasons = [.left, .mistake, .other]
    page.confirmation = .confirmation(of: account)
    return page
  }

  private static func deletion(of factors: [Factor]) -> Message {
    guard !factors.isEmpty else { return Message("The account has no second factor.") }
    let names = factors.map {
      Message("“{name}”", ["name": .name(Formatted.short($0.label))])
    }
    return Message(
      one: "{count} second factor is deleted: {factors}.",
      other: "{count} second factors are deleted: {factors}.",
      ["count": .number(factors.count), "factors": .sequence(names)])
  }

  func perform(
    _ input: Void, _ target: PoolTarget, _ request: ActionRequest
  ) async throws -> FormEnd {
    let done = try await identity.support.delete(target.pool, target.user, request)
    return FormEnd(
      Message("Deleted user {user}.", ["user": done.value.shortLabel]),
      at: ConsolePaths.users(target.pool), after: done)
  }

  func placed(_ error: FieldError, _ target: PoolTarget) -> FieldError {
    Field.placedConfirmation(error, target)
  }
}
