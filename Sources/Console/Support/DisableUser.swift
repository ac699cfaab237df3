import Identity
import Localization
import Templating

/// `S/users/{uid}/disabling`: keeps a user from signing in; `…/enabling` allows it again.
struct DisableUser: SupportAction {
  let pages: SupportPages
  var isEnding = false

  var action: ConsoleAction { isEnding ? .enableUser : .disableUser }

  func question(_ target: SupportTarget) async throws -> SupportConfirmation {
    let (account, sessions) = try await pages.accountWithSessions(target)
    var question = isEnding ? enabling(account) : disabling(account, sessions)
    if account.disabled != isEnding {
      question.refusal = ActionErrorText.sentence(.nothingToDo)
    }
    return question
  }

  private func disabling(_ account: Account, _ sessions: Int) -> SupportConfirmation {
    var question = SupportConfirmation(
      user: account, title: Message("Disable user"),
      heading: Markup(
        html: Message("Disable {user}?", ["user": .name(Formatted.short(account.label))])),
      consequences: [
        Message("The user can’t sign in until an administrator enables the account again."),
        SessionText.ending(sessions),
      ], button: Message("Disable user"))
    question.reasons = [.left, .compromised, .stolen, .other]
    return question
  }

  private func enabling(_ account: Account) -> SupportConfirmation {
    var question = SupportConfirmation(
      user: account, title: Message("Enable user"),
      heading: Markup(
        html: Message("Enable {user}?", ["user": .name(Formatted.short(account.label))])),
      consequences: [
        Message("The user can sign in again with their existing password and second factors."),
        Message("The history shows who disabled the account and why."),
      ], button: Message("Enable user"))
    question.isDestructive = false
    question.reasons = [.found, .mistake, .other]
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws -> SupportResult {
    guard !isEnding else {
      let done = try await pages.support.enable(target.scope, target.user, request)
      return SupportResult(Message("User enabled."), after: done)
    }
    let done = try await pages.support.disable(target.scope, target.user, request)
    let sessions = SessionText.ended(done.value)
    return SupportResult(
      Message("User disabled. {sessions}", ["sessions": .message(sessions)]), after: done)
  }
}
