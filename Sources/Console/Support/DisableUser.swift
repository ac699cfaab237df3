import Identity
import Localization
import Templating

/// `S/users/{uid}/disabling`: keeps a user from signing in.
struct DisableUser: SupportAction {
  static let action = ConsoleAction.disableUser

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let (account, sessions) = try await pages.accountWithSessions(target)
    var question = SupportConfirmation(
      user: account, title: Message("support.disable-user"),
      heading: Markup(
        html: Message("support.disable-user-heading", ["user": .name(Words.short(account.label))])),
      consequences: [
        Message("support.disabling-prevents-sign-in"),
        SessionWords.ending(sessions),
      ], button: Message("support.disable-user"))
    question.reasons = [.left, .compromised, .stolen, .other]
    if account.disabled { question.refusal = ActionErrorText.sentence(.nothingToDo) }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let done = try await pages.support.disable(target.scope, target.user, request)
    let sessions = SessionWords.ended(done.value)
    return SupportResult(
      Message("support.disabled-user", ["sessions": .message(sessions)]), after: done)
  }

  func closing(_ denial: ActionDenial) -> SupportClosing? {
    if case .nothingToDo = denial { .unchanged } else { nil }
  }
}
