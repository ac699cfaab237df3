import Identity
import Localization
import Templating

/// `S/users/{uid}/deletion`: deletes a user, confirmed by typing their email address or UID.
struct DeleteUser: SupportAction {
  let action = ConsoleAction.deleteUser

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws -> SupportConfirmation {
    let (account, sessions) = try await pages.accountWithSessions(target)
    var question = SupportConfirmation(
      user: account, title: Message("Delete user"),
      heading: Markup(
        html: Message("Delete {user}?", ["user": .name(Formatted.short(account.label))])),
      consequences: [
        Message("The account is deleted, along with its password, name, and custom claims."),
        Self.deletion(of: account.factors),
        SessionText.ending(sessions),
        Message("This can’t be undone. The account’s history stays in the audit log."),
      ].compactMap { $0 }, button: Message("Delete user"))
    question.notifies = true
    question.reasons = [.left, .mistake, .other]
    question.confirmation = ConfirmationField(
      account: account, typed: target.form.trimmed("confirmation"))
    return question
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
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws -> SupportResult {
    let done = try await pages.support.delete(target.scope, target.user, request)
    return SupportResult(
      Flash(
        text: Message("Deleted user {user}.", ["user": .name(Formatted.short(done.value.label))])),
      at: ConsolePaths.users(target.scope), renewed: done.renewed)
  }
}
