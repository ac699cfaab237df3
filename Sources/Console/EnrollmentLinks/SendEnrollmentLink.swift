import Identity

/// `S/users/{uid}/enrollment-link`: sends a user a link to set up an authenticator app.
struct SendEnrollmentLink: SupportAction {
  static let action = ConsoleAction.sendEnrollmentLink

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let account = try await pages.account(target)
    let policy: Policy
    do {
      policy = try await pages.identity.policies.read(target.scope)
    } catch {
      throw Refusal(error)
    }
    let carriesMail = pages.identity.messages.carriesMail
    var question = SupportConfirmation(
      user: account, title: "Send enrollment link",
      heading: HTML.heading("Send an enrollment link to", account.label),
      consequences: [
        account.email.map {
          carriesMail
            ? "An email to \(Words.isolated($0)) contains a link to a page where the user sets up an authenticator app."
            : "Email isn’t configured, so the link to set up an authenticator app isn’t sent to \(Words.isolated($0)). \(Words.sentence(Permission.readMessages.holder)) can open it under Messages."
        },
        "Only the user sees the secret. Support agents never do.",
        "The link can be used once and expires in 30 minutes. Any earlier link is revoked.",
        account.addresses.count > 1 && carriesMail
          ? "The user’s other addresses are notified that a link was sent." : nil,
      ].compactMap { $0 }, button: "Send link")
    question.isDestructive = false
    question.reasons = [.lost, .stolen, .compromised, .replaced, .other]
    if let refusal = EnrollmentLinks.refusal(account, policy) {
      question.refusal = ActionErrorText.sentence(refusal)
    }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let done = try await pages.identity.enrollmentLinks.send(
      request, to: target.user, in: target.scope)
    let address = Words.isolated(done.value)
    return SupportResult(
      pages.identity.messages.carriesMail
        ? "Enrollment link sent to \(address). Single use, expires in 30 minutes."
        : "Email isn’t configured. \(Words.sentence(Permission.readMessages.holder)) can open the link for \(address) under Messages. Single use, expires in 30 minutes.",
      after: done)
  }
}
