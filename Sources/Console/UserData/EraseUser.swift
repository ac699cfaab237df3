import HTTP
import Identity
import Localization
import Templating

/// `S/users/{uid}/erasure`: erases everything that's stored about a user, confirmed by typing their
/// email address or UID.
struct EraseUser: SupportAction {
  let action = ConsoleAction.eraseUser

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let (account, sessions) = try await pages.accountWithSessions(target)
    var question = SupportConfirmation(
      user: account, title: Message("user-data.erase"),
      heading: Markup(
        html: Message("user-data.erase-heading", ["user": .name(Formatted.short(account.label))])),
      consequences: [
        Message("user-data.erases-account"), SessionText.ending(sessions),
        Message("user-data.erases-audit-log"), Message("user-data.keeps-copies"),
        Message("user-data.notifies-nobody"), Message("user-data.reason-stays"),
      ].compactMap { $0 }, button: Message("user-data.erase"))
    question.reasons = [.asked, .left, .mistake, .other]
    question.confirmation = ConfirmationField(
      account: account, typed: target.form.trimmed("confirmation"))
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let done = try await pages.identity.userData.erase(target.scope, target.user, request)
    return SupportResult(
      Flash(text: done.value.message), at: ConsolePaths.users(target.scope), renewed: done.renewed)
  }
}

extension UserData.Erasure {
  var message: Message {
    Message("user-data.erased", ["number": .text(String(number))])
  }
}
