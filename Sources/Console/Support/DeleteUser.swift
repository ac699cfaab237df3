import Identity
import Localization
import Templating

/// `S/users/{uid}/deletion`: deletes a user, confirmed by typing their email address or UID.
struct DeleteUser: SupportAction {
  let action = ConsoleAction.deleteUser

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let (account, sessions) = try await pages.accountWithSessions(target)
    var question = SupportConfirmation(
      user: account, title: Message("support.delete-user"),
      heading: Markup(
        html: Message(
          "support.delete-user-heading", ["user": .name(Formatted.short(account.label))])),
      consequences: [
        Message("support.deletion-of-account"),
        Self.deletion(of: account.factors),
        SessionText.ending(sessions),
        Message("support.deletion-keeps-history"),
      ].compactMap { $0 }, button: Message("support.delete-user"))
    question.notifies = true
    question.reasons = [.left, .mistake, .other]
    question.confirmation = ConfirmationField(
      account: account, typed: target.form.trimmed("confirmation"))
    return question
  }

  private static func deletion(of factors: [Factor]) -> Message {
    guard !factors.isEmpty else { return Message("support.deletion-without-factors") }
    let names = factors.map {
      Message("support.quoted-factor", ["name": .name(Formatted.short($0.label))])
    }
    return Message(
      "support.deletion-of-factors",
      ["count": .number(factors.count), "factors": .sequence(names)])
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let done = try await pages.support.delete(target.scope, target.user, request)
    return SupportResult(
      Flash(
        text: Message("support.user-deleted", ["user": .name(Formatted.short(done.value.label))])),
      at: ConsolePaths.users(target.scope), renewed: done.renewed)
  }
}
