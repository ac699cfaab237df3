import HTTP
import Identity
import Localization
import Templating

/// `S/users/{uid}/erasure`: erases everything that's stored about a user, confirmed by typing their
/// email address or UID.
struct EraseUser: SupportAction {
  let action = ConsoleAction.eraseUser

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws -> SupportConfirmation {
    let (account, sessions) = try await pages.accountWithSessions(target)
    var question = SupportConfirmation(
      user: account, title: Message("Erase user data"),
      heading: Markup(
        html: Message(
          "Erase everything about {user}?", ["user": .name(Formatted.short(account.label))])),
      consequences: [
        Message(
          "The account is deleted, along with its factors, code attempts, requests, and messages."),
        SessionText.ending(sessions),
        Message(
          """
          Audit log entries stay without the user’s details, which are replaced by digests. This \
          takes up to a minute and can’t be undone.
          """),
        Message("Backups, downloaded files, log files, and emails that were sent aren’t changed."),
        Message("The user isn’t notified."),
        Message(
          "Your reason, ticket, and note stay in the audit log. Don’t include the user’s details."),
      ].compactMap { $0 }, button: Message("Erase user data"))
    question.reasons = [.asked, .left, .mistake, .other]
    question.confirmation = ConfirmationField(
      account: account, typed: target.form.trimmed("confirmation"))
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws -> SupportResult {
    let done = try await pages.identity.userData.erase(target.scope, target.user, request)
    return SupportResult(
      Flash(text: done.value.message), at: ConsolePaths.users(target.scope), renewed: done.renewed)
  }
}

extension UserData.Erasure {
  var message: Message {
    Message(
      "User data erased as erasure {number}. Audit log entries follow within a minute.",
      ["number": .text(String(number))])
  }
}
