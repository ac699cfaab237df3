import HTTP
import Identity
import Localization
import Templating

/// `S/users/{uid}/data`: downloads everything that's stored about a user.
struct ExportUserData: SupportAction {
  let action = ConsoleAction.exportUserData

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws -> SupportConfirmation {
    let account = try await pages.account(target)
    var question = SupportConfirmation(
      user: account, title: Message("Export user data"),
      heading: Markup(
        html: Message(
          "Export everything about {user}?", ["user": .name(Formatted.short(account.label))])),
      consequences: [
        Message(
          """
          The JSON file has everything that’s stored about the user: account, factors, sessions, \
          code attempts, requests, messages, and audit log entries.
          """),
        Message("It contains no secrets, codes, password hashes, or message texts."),
        Message(
          """
          It names administrators who acted on the user. Check whether the user may see that \
          before you send it.
          """),
      ], button: Message("Export user data"))
    question.isDestructive = false
    question.isDownload = true
    question.reasons = [.asked, .left, .other]
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws -> SupportResult {
    let done = try await pages.identity.userData.export(target.scope, target.user, request)
    var response = Response(body: .bytes(done.value))
    response.fields[.contentType] = "application/json"
    // Not the UID, which can be any text.
    response.fields.add(.contentDisposition, "attachment; filename=\"user-data.json\"")
    return SupportResult(file: response, renewed: done.renewed)
  }
}
