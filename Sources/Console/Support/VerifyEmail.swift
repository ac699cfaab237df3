import Identity
import Localization
import Templating

/// `S/users/{uid}/verification`: marks a user's email address as verified.
struct VerifyEmail: SupportAction {
  let action = ConsoleAction.verifyEmail

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws -> SupportConfirmation {
    let account = try await pages.account(target)
    var question = SupportConfirmation(
      user: account, title: Message("Mark email as verified"),
      heading: Markup(
        html: Message(
          "Mark email as verified for {user}?", ["user": .name(Formatted.short(account.label))])),
      consequences: [
        Message(
          """
          The address is treated as the user’s own: enrollment links can be sent to it, and the \
          user can enroll.
          """),
        Message(
          """
          In the note, say how you verified the address. If you can, have the application send a \
          verification email instead.
          """),
      ], button: Message("Mark email as verified"))
    question.isDestructive = false
    question.reasons = [.other, .mistake]
    if account.email == nil || account.emailVerified {
      question.refusal = ActionErrorText.sentence(.nothingToDo)
    }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws -> SupportResult {
    let done = try await pages.support.verifyEmail(target.scope, target.user, request)
    return SupportResult(Message("Email marked as verified."), after: done)
  }
}
