import Identity
import Localization
import Templating

/// `S/users/{uid}/enabling`: lets a disabled user sign in again.
struct EnableUser: SupportAction {
  static let action = ConsoleAction.enableUser

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let account = try await pages.account(target)
    var question = SupportConfirmation(
      user: account, title: Message("support.enable-user"),
      heading: Markup(
        html: Message("support.enable-user-heading", ["user": .name(Words.short(account.label))])),
      consequences: [
        Message("support.enabling-allows-sign-in"),
        Message("support.history-shows-who-disabled"),
      ], button: Message("support.enable-user"))
    question.isDestructive = false
    question.reasons = [.found, .mistake, .other]
    if !account.disabled { question.refusal = ActionErrorText.sentence(.nothingToDo) }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let done = try await pages.support.enable(target.scope, target.user, request)
    return SupportResult(Message("support.user-enabled"), after: done)
  }

  func closing(_ denial: ActionDenial) -> SupportClosing? {
    if case .nothingToDo = denial { .unchanged } else { nil }
  }
}
