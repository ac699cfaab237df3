import Identity
import Localization
import Templating

/// `S/users/{uid}/unlock`: lets a user try codes again after too many incorrect ones.
struct UnlockCodes: SupportAction {
  let action = ConsoleAction.unlockCodes

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let account = try await pages.account(target)
    var question = SupportConfirmation(
      user: account, title: Message("support.unlock-codes"),
      heading: Markup(
        html: Message(
          "support.unlock-codes-heading", ["user": .name(Formatted.short(account.label))])),
      consequences: [
        Message("support.unlocking-resets-count", ["count": .number(account.wrongCodes)]),
        Message("support.incorrect-codes-can-be-guesses"),
      ], button: Message("support.unlock-codes"))
    question.notifies = true
    question.isDestructive = false
    question.reasons = [.locked, .mistake, .other]
    if account.wrongCodes == 0, account.codesBlockedUntil == nil {
      question.refusal = ActionErrorText.sentence(.nothingToDo)
    }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let done = try await pages.support.unlock(target.scope, target.user, request)
    return SupportResult(Message("support.codes-unlocked"), after: done)
  }
}
