import Identity
import Localization
import Templating

/// `S/users/{uid}/verification`: marks a user's email address as verified.
struct VerifyEmail: SupportAction {
  let action = ConsoleAction.verifyEmail

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let account = try await pages.account(target)
    var question = SupportConfirmation(
      user: account, title: Message("support.verify-email"),
      heading: Markup(
        html: Message(
          "support.verify-email-heading", ["user": .name(Formatted.short(account.label))])),
      consequences: [
        Message("support.verified-email-allows-enrollment"),
        Message("support.say-how-email-was-verified"),
      ], button: Message("support.verify-email"))
    question.isDestructive = false
    question.reasons = [.other, .mistake]
    if account.email == nil || account.emailVerified {
      question.refusal = ActionErrorText.sentence(.nothingToDo)
    }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let done = try await pages.support.verifyEmail(target.scope, target.user, request)
    return SupportResult(Message("support.email-verified"), after: done)
  }
}
