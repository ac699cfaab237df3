import Identity
import Localization
import Templating

/// `S/users/{uid}/sessions/end`: ends all sessions of a user.
struct EndSessions: FormAction {
  let action = ConsoleAction.endSessions
  let identity: Identity

  func page(_ target: PoolTarget) async throws -> FormPage {
    let (account, sessions) = try await identity.accountWithSessions(target)
    var page = FormPage(
      account, in: target.pool, title: Message("End all sessions"),
      heading: Message(
        "End all sessions for {user}?", ["user": account.shortLabel]),
      consequences: [
        SessionText.ending(sessions),
        Message("The user can sign in again immediately."),
      ], button: Message("End all sessions"))
    page.notifies = sessions > 0
    page.reasons = [.lost, .stolen, .compromised, .left, .other]
    return page
  }

  func perform(
    _ input: Void, _ target: PoolTarget, _ request: ActionRequest
  ) async throws -> FormEnd {
    let done = try await identity.support.endSessions(target.pool, target.user, request)
    return FormEnd(SessionText.ended(done.value), at: target.userPage, after: done)
  }
}
