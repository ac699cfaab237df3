import Identity
import Localization
import Templating

/// `S/users/{uid}/allowed-changes`: unlocks a user's second factors after a reported change.
struct AllowChanges: SupportAction {
  let action = ConsoleAction.allowChanges

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws -> SupportConfirmation {
    let account = try await pages.account(target)
    // Without a report, there's a refusal in place of the consequences.
    let since = account.changesLockedAt.map { target.times.value($0) } ?? .text("")
    var question = SupportConfirmation(
      user: account, title: Message("Unlock changes"),
      heading: Markup(
        html: Message(
          "Unlock second factor changes for {user}?",
          ["user": .name(Formatted.short(account.label))])),
      consequences: [
        Message(
          """
          On {time}, the user reported a change to their second factors that they didn’t make. \
          Their second factors have been locked since then.
          """, ["time": since]),
        Message(
          """
          Find out what happened first. The history shows who changed what. Contact the user \
          through a channel you trust.
          """),
        Message(
          "After that, the user and support agents can change the account’s second factors again."),
      ], button: Message("Unlock changes"))
    question.notifies = true
    question.reasons = [.found, .mistake, .other]
    if account.changesLockedAt == nil {
      question.refusal = ActionErrorText.sentence(.nothingToDo)
    }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws -> SupportResult {
    let done = try await pages.support.allowChanges(target.scope, target.user, request)
    return SupportResult(Message("Second factor changes unlocked."), after: done)
  }
}
