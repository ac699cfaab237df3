import Identity
import Localization
import Templating

/// `S/users/{uid}/sessions/end`: ends all sessions of a user.
struct EndSessions: SupportAction {
  let action = ConsoleAction.endSessions

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws -> SupportConfirmation {
    let (account, sessions) = try await pages.accountWithSessions(target)
    var question = SupportConfirmation(
      user: account, title: Message("End all sessions"),
      heading: Markup(
        html: Message(
          "End all sessions for {user}?", ["user": .name(Formatted.short(account.label))])),
      consequences: [
        SessionText.ending(sessions),
        Message("The user can sign in again immediately."),
      ], button: Message("End all sessions"))
    question.notifies = sessions > 0
    question.reasons = [.lost, .stolen, .compromised, .left, .other]
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws -> SupportResult {
    let done = try await pages.support.endSessions(target.scope, target.user, request)
    return SupportResult(SessionText.ended(done.value), after: done)
  }
}
