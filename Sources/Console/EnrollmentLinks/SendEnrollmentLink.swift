import Identity
import Localization
import Templating

/// `S/users/{uid}/enrollment-link`: sends a user a link to set up an authenticator app.
struct SendEnrollmentLink: SupportAction {
  let action = ConsoleAction.sendEnrollmentLink

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let account = try await pages.account(target)
    let refusal = try await refusing {
      try await pages.identity.enrollmentLinks.refusal(account, in: target.scope)
    }
    let carriesMail = pages.identity.messages.carriesMail
    let consequences: [Message?] = [
      account.email.map { Self.sending(to: $0, carriesMail: carriesMail) },
      Message("enrollment-links.only-user-sees-secret"),
      Message("enrollment-links.single-use"),
      account.addresses.count > 1 && carriesMail
        ? Message("enrollment-links.others-notified") : nil,
    ]
    var question = SupportConfirmation(
      user: account, title: Message("enrollment-links.send-title"),
      heading: Markup(
        html: Message(
          "enrollment-links.send-heading", ["user": .name(Formatted.short(account.label))])),
      consequences: consequences.compactMap { $0 }, button: Message("enrollment-links.send"))
    question.isDestructive = false
    question.reasons = [.lost, .stolen, .compromised, .replaced, .other]
    if let refusal { question.refusal = ActionErrorText.sentence(refusal) }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let done = try await pages.identity.enrollmentLinks.send(
      request, to: target.user, in: target.scope)
    let address = Message.Value.name(Formatted.short(done.value))
    return SupportResult(
      pages.identity.messages.carriesMail
        ? Message("enrollment-links.sent", ["address": address])
        : Message(
          "enrollment-links.written",
          [
            "holder": .message(Permission.readMessages.startingHolder), "address": address,
          ]),
      after: done)
  }

  private static func sending(to address: String, carriesMail: Bool) -> Message {
    let address = Message.Value.name(Formatted.short(address))
    return carriesMail
      ? Message("enrollment-links.email-contains-link", ["address": address])
      : Message(
        "enrollment-links.email-not-configured",
        ["address": address, "holder": .message(Permission.readMessages.startingHolder)])
  }
}
