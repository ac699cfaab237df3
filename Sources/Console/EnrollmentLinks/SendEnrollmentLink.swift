import Identity
import Localization
import Templating

/// `S/users/{uid}/enrollment-link`: sends a user a link to set up an authenticator app.
struct SendEnrollmentLink: SupportAction {
  let action = ConsoleAction.sendEnrollmentLink

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws -> SupportConfirmation {
    let account = try await pages.account(target)
    let refusal = try await pages.identity.enrollmentLinks.refusal(account, in: target.scope)
    let carriesMail = pages.identity.messages.carriesMail
    let consequences: [Message?] = [
      account.email.map { Self.sending(to: $0, carriesMail: carriesMail) },
      Message("Only the user sees the secret. Support agents never do."),
      Message("The link can be used once and expires in 30 minutes. Any earlier link is revoked."),
      account.addresses.count > 1 && carriesMail
        ? Message("The user’s other addresses are notified that a link was sent.") : nil,
    ]
    var question = SupportConfirmation(
      user: account, title: Message("Send enrollment link"),
      heading: Markup(
        html: Message(
          "Send an enrollment link to {user}?", ["user": .name(Formatted.short(account.label))])),
      consequences: consequences.compactMap { $0 }, button: Message("Send link"))
    question.isDestructive = false
    question.reasons = [.lost, .stolen, .compromised, .replaced, .other]
    if let refusal { question.refusal = ActionErrorText.sentence(refusal) }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws -> SupportResult {
    let done = try await pages.identity.enrollmentLinks.send(
      request, to: target.user, in: target.scope)
    let address = Message.Value.name(Formatted.short(done.value))
    return SupportResult(
      pages.identity.messages.carriesMail
        ? Message(
          "Enrollment link sent to {address}. Single use, expires in 30 minutes.",
          ["address": address])
        : Message(
          """
          Email isn’t configured, so the link wasn’t sent to {address}. Single use, expires in 30 \
          minutes. Opening it under Messages requires the {roles} role.
          """, ["address": address, "roles": Permission.readMessages.roleNames]),
      after: done)
  }

  private static func sending(to address: String, carriesMail: Bool) -> Message {
    let address = Message.Value.name(Formatted.short(address))
    return carriesMail
      ? Message(
        """
        An email to {address} contains a link to a page where the user sets up an authenticator \
        app.
        """, ["address": address])
      : Message(
        """
        Email isn’t configured, so the link isn’t sent to {address}. Opening it under Messages \
        requires the {roles} role.
        """, ["address": address, "roles": Permission.readMessages.roleNames])
  }
}
