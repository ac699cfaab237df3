import Identity
import Localization
import Templating

/// `S/users/{uid}/disabling`: keeps a user from signing in; `…/enabling` allows it again.
struct DisableUser: SupportAction {
  let pages: SupportPages
  var isEnding = false

  var action: ConsoleAction { isEnding ? .enableUser : .disableUser }

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let (account, sessions) = try await pages.accountWithSessions(target)
    var question = isEnding ? enabling(account) : disabling(account, sessions)
    if account.disabled != isEnding {
      question.refusal = ActionErrorText.sentence(.nothingToDo)
    }
    return question
  }

  private func disabling(_ account: Account, _ sessions: Int) -> SupportConfirmation {
    var question = SupportConfirmation(
      user: account, title: Message("support.disable-user"),
      heading: Markup(
        html: Message(
          "support.disable-user-heading", ["user": .name(Formatted.short(account.label))])),
      consequences: [
        Message("support.disabling-prevents-sign-in"),
        SessionText.ending(sessions),
      ], button: Message("support.disable-user"))
    question.reasons = [.left, .compromised, .stolen, .other]
    return question
  }

  private func enabling(_ account: Account) -> SupportConfirmation {
    var question = SupportConfirmation(
      user: account, title: Message("support.enable-user"),
      heading: Markup(
        html: Message(
          "support.enable-user-heading", ["user": .name(Formatted.short(account.label))])),
      consequences: [
        Message("support.enabling-allows-sign-in"),
        Message("support.history-shows-who-disabled"),
      ], button: Message("support.enable-user"))
    question.isDestructive = false
    question.reasons = [.found, .mistake, .other]
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    guard !isEnding else {
      let done = try await pages.support.enable(target.scope, target.user, request)
      return SupportResult(Message("support.user-enabled"), after: done)
    }
    let done = try await pages.support.disable(target.scope, target.user, request)
    let sessions = SessionText.ended(done.value)
    return SupportResult(
      Message("support.disabled-user", ["sessions": .message(sessions)]), after: done)
  }
}
