import Identity
import Localization
import Templating

/// `S/users/{uid}/unlock`: lets a user try codes again after too many incorrect ones.
struct UnlockCodes: SupportAction {
  let action = ConsoleAction.unlockCodes

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws -> SupportConfirmation {
    let account = try await pages.account(target)
    var question = SupportConfirmation(
      user: account, title: Message("Unlock codes"),
      heading: Markup(
        html: Message("Unlock codes for {user}?", ["user": .name(Formatted.short(account.label))])),
      consequences: [
        Message(
          one: """
            The count of {count} consecutive incorrect code is reset, and codes are accepted \
            again immediately.
            """,
          other: """
            The count of {count} consecutive incorrect codes is reset, and codes are accepted \
            again immediately.
            """, ["count": .number(account.wrongCodes)]),
        Message("Incorrect codes can be someone else’s guesses. Ask the user about them first."),
      ], button: Message("Unlock codes"))
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
  ) async throws -> SupportResult {
    let done = try await pages.support.unlock(target.scope, target.user, request)
    return SupportResult(Message("Codes unlocked."), after: done)
  }
}
