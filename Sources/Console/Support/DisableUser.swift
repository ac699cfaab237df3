import Identity
import Localization
import Templating

/// `S/users/{uid}/disabling`: keeps a user from signing in; `…/enabling` allows it again.
struct DisableUser: FormAction {
  let identity: Identity
  var isEnding = false

  var action: ConsoleAction { isEnding ? .enableUser : .disableUser }

  func page(_ target: PoolTarget) async throws -> FormPage {
    let (account, sessions) = try await identity.accountWithSessions(target)
    var page = isEnding ? enabling(account, target) : disabling(account, sessions, target)
    if account.disabled != isEnding {
      page.refusal = ActionErrorText.sentence(.nothingToDo)
    }
    return page
  }

  private func disabling(
    _ account: Account, _ sessions: Int, _ target: PoolTarget
  ) -> FormPage {
    var page = FormPage(
      account, in: target.pool, title: Message("Disable user"),
      heading: Message("Disable {user}?", ["user": account.shortLabel]),
      consequences: [
        Message("The user can’t sign in until an administrator enables the account again."),
        SessionText.ending(sessions),
      ], button: Message("Disable user"))
    page.reasons = [.left, .compromised, .stolen, .other]
    return page
  }

  private func enabling(_ account: Account, _ target: PoolTarget) -> FormPage {
    var page = FormPage(
      account, in: target.pool, title: Message("Enable user"),
      heading: Message("Enable {user}?", ["user": account.shortLabel]),
      consequences: [
        Message("The user can sign in again with their existing password and second factors."),
        Message("The history shows who disabled the account and why."),
      ], button: Message("Enable user"), isDestructive: false)
    page.reasons = [.found, .mistake, .other]
    return page
  }

  func perform(
    _ input: Void, _ target: PoolTarget, _ request: ActionRequest
  ) async throws -> FormEnd {
    guard !isEnding else {
      let done = try await identity.support.enable(target.pool, target.user, request)
      return FormEnd(Message("User enabled."), at: target.userPage, after: done)
    }
    let done = try await identity.support.disable(target.pool, target.user, request)
    let sessions = SessionText.ended(done.value)
    return FormEnd(
      Message("User disabled. {sessions}", ["sessions": .message(sessions)]), at: target.userPage,
      after: done)
  }
}
