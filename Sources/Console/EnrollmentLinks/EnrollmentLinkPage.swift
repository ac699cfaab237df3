import HTTP
import Identity
import Templating

/// `S/users/{uid}/enrollment-link`: asks, and sends the user a link to set an authenticator app up.
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
      ? "A link is on its way to \(address). It counts for 30 minutes, and once."
      : "Email isn’t configured: the link for \(address) is in the outbox, where an owner can open it. It counts for 30 minutes, and once."
    return pages.leave(Flash(text: text), account, context, renewed: outcome.renewed)
  }

  private func page(
    _ context: ScopeContext, _ account: Account, _ answers: ActionInput = ActionInput(),
    errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let policy: Policy
    do { policy = try await identity.policies.read(context.scope) } catch { throw Refusal(error) }
    var question = SupportConfirmation(
      title: "Link to enroll", heading: HTML.heading("Send a link to enroll to", account.label),
      consequences: [
        account.email.map {
          identity.messages.carriesMail
            ? "An email to \(Words.isolated($0)) carries a link to a page on which the user sets up an authenticator app."
            : "Email isn’t configured, so the link to the page on which the user sets up an authenticator app isn’t sent to \(Words.isolated($0)). It waits in the outbox, where an owner can open it."
        },
        "The page shows the secret to the user alone; nobody at the support sees it.",
        "The link counts for 30 minutes, and once. A link from before ends.",
        account.addresses.count > 1 && identity.messages.carriesMail
          ? "The other addresses on file are told that a link was sent." : nil,
      ].compactMap { $0 },
      button: "Send the link", keep: "Send none",
      action: ConsolePaths.enrollmentLink(context.scope, account.id.text))
    question.isDestructive = false
    question.reasons = [.lost, .stolen, .compromised, .replaced, .other]
    if let refusal = EnrollmentLinks.refusal(account, policy) {
      question.refusal = ActionErrorText.sentence(refusal)
    }
    return try await pages.ask(question, about: account, context, answers, errors: errors)
  }
}
