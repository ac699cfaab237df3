import Identity
import Localization
import Templating

/// `S/users/{uid}/allowed-changes`: unlocks a user's second factors after a reported change.
struct AllowChanges: FormAction {
  let action = ConsoleAction.allowChanges
  let identity: Identity

  func page(_ target: PoolTarget) async throws -> FormPage {
    let account = try await identity.account(target)
    // Without a report, there's a refusal in place of the consequences.
    let since = account.changesLockedAt.map { target.times.value($0) } ?? .text("")
    var page = FormPage(
      account, in: target.pool, title: Message("Unlock changes"),
      heading: Message(
        "Unlock second factor changes for {user}?",
        ["user": account.shortLabel]),
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
    page.notifies = true
    page.reasons = [.found, .mistake, .other]
    if account.changesLockedAt == nil {
      page.refusal = ActionErrorText.sentence(.nothingToDo)
    }
    return page
  }

  func perform(
    _ input: Void, _ target: PoolTarget, _ request: ActionRequest
  ) async throws -> FormEnd {
    let done = try await identity.support.allowChanges(target.pool, target.user, request)
    return FormEnd(Message("Second factor changes unlocked."), at: target.userPage, after: done)
  }
}
