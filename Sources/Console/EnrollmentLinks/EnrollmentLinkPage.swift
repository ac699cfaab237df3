import HTTP
import Identity
import Templating

/// `S/users/{uid}/enrollment-link`: sends a user a link to set up an authenticator app.
struct EnrollmentLinkPage: Sendable {
  let identity: Identity
  let pages: SupportPages

  func ask(_ context: ScopeContext, _ uid: String) async throws(Refusal) -> Response {
    try await page(context, try await pages.account(uid, context, identity))
  }

  func send(_ context: ScopeContext, _ uid: String) async throws(Refusal) -> Response {
    let account = try await pages.account(uid, context, identity)
    let answers = ActionInput(context.signedIn.form)
    let outcome: ActionOutcome<String>
    do {
      outcome = try await identity.enrollmentLinks.send(
        answers.request(context.signedIn), to: account.id, in: context.scope)
    } catch {
      let faults = try ActionErrorText.faults(error, context.signedIn.times)
      return try await page(context, account, answers, errors: faults)
    }
    let address = Words.isolated(outcome.value)
    let text =
      identity.messages.carriesMail
      ? "Enrollment link sent to \(address). Single use, expires in 30 minutes."
      : "Email isn’t configured. \(Words.sentence(Permission.readMessages.holder)) can open the link for \(address) under Messages. Single use, expires in 30 minutes."
    return pages.leave(Flash(text: text), account, context, renewed: outcome.renewed)
  }

  private func page(
    _ context: ScopeContext, _ account: Account, _ answers: ActionInput = ActionInput(),
    errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let policy: Policy
    do { policy = try await identity.policies.read(context.scope) } catch { throw Refusal(error) }
    var question = SupportConfirmation(
      title: "Send enrollment link",
      heading: HTML.heading("Send an enrollment link to", account.label),
      consequences: [
        account.email.map {
          identity.messages.carriesMail
            ? "An email to \(Words.isolated($0)) contains a link to a page where the user sets up an authenticator app."
            : "Email isn’t configured, so the link to set up an authenticator app isn’t sent to \(Words.isolated($0)). \(Words.sentence(Permission.readMessages.holder)) can open it under Messages."
        },
        "Only the user sees the secret. Support agents never do.",
        "The link can be used once and expires in 30 minutes. Any earlier link is revoked.",
        account.addresses.count > 1 && identity.messages.carriesMail
          ? "The user’s other addresses are notified that a link was sent." : nil,
      ].compactMap { $0 },
      button: "Send link", keep: "Cancel",
      action: ConsolePaths.enrollmentLink(context.scope, account.id.text))
    question.isDestructive = false
    question.reasons = [.lost, .stolen, .compromised, .replaced, .other]
    if let refusal = EnrollmentLinks.refusal(account, policy) {
      question.refusal = ActionErrorText.sentence(refusal)
    }
    return try await pages.ask(question, about: account, context, answers, errors: errors)
  }
}
