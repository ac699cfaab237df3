import Identity
import Localization
import Templating

/// `S/users/{uid}/allowed-changes`: unlocks a user's second factors after a reported change.
struct AllowChanges: SupportAction {
  let action = ConsoleAction.allowChanges

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let account = try await pages.account(target)
    // Without a report, there's a refusal in place of the consequences.
    let since = account.changesLockedAt.map { target.times.value($0) } ?? .text("")
    var question = SupportConfirmation(
      user: account, title: Message("support.allow-changes"),
      heading: Markup(
        html: Message(
          "support.allow-changes-heading", ["user": .name(Formatted.short(account.label))])),
      consequences: [
        Message("support.changes-locked-since", ["time": since]),
        Message("support.find-out-what-happened"),
        Message("support.changes-allowed-as-usual"),
      ], button: Message("support.allow-changes"))
    question.notifies = true
    question.reasons = [.found, .mistake, .other]
    if account.changesLockedAt == nil {
      question.refusal = ActionErrorText.sentence(.nothingToDo)
    }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let done = try await pages.support.allowChanges(target.scope, target.user, request)
    return SupportResult(Message("support.changes-allowed"), after: done)
  }
}
