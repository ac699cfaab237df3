import Identity
import Localization
import Templating

/// `S/users/{uid}/unlock`: lets a user try codes again after too many incorrect ones.
struct UnlockCodes: FormAction {
  let action = ConsoleAction.unlockCodes
  let identity: Identity

  func page(_ target: PoolTarget) async throws -> FormPage {
    let account = try await identity.account(target)
    var page = FormPage(
      account, in: target.pool, title: Message("Unlock codes"),
      heading: Message("Unlock codes for {user}?", ["user": account.shortLabel]),
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
      ], button: Message("Unlock codes"), isDestructive: false)
    page.notifies = true
    page.reasons = [.locked, .mistake, .other]
    if account.wrongCodes == 0, account.codesBlockedUntil == nil {
      page.refusal = ActionErrorText.sentence(.nothingToDo)
    }
    return page
  }

  func perform(
    _ input: Void, _ target: PoolTarget, _ request: ActionRequest
  ) async throws -> FormEnd {
    let done = try await identity.support.unlock(target.pool, target.user, request)
    return FormEnd(Message("Codes unlocked."), at: target.userPage, after: done)
  }
}
