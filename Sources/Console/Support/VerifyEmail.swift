import Identity
import Localization
import Templating

/// `S/users/{uid}/verification`: marks a user's email address as verified.
struct VerifyEmail: FormAction {
  let action = ConsoleAction.verifyEmail
  let identity: Identity

  func page(_ target: PoolTarget) async throws -> FormPage {
    let account = try await identity.account(target)
    var page = FormPage(
      account, in: target.pool, title: Message("Mark email as verified"),
      heading: Message(
        "Mark email as verified for {user}?", ["user": account.shortLabel]),
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
      ], button: Message("Mark email as verified"), isDestructive: false)
    page.reasons = [.other, .mistake]
    if account.email == nil || account.emailVerified {
      page.refusal = ActionErrorText.sentence(.nothingToDo)
    }
    return page
  }

  func perform(
    _ input: Void, _ target: PoolTarget, _ request: ActionRequest
  ) async throws -> FormEnd {
    let done = try await identity.support.verifyEmail(target.pool, target.user, request)
    return FormEnd(Message("Email marked as verified."), at: target.userPage, after: done)
  }
}
