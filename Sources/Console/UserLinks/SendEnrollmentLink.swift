import HTTP
import Identity
import Localization
import Templating

/// `S/users/{uid}/enrollment-link`: sends a user a link to set up an authenticator app.
struct SendEnrollmentLink: UserAction {
  static let action = ConsoleAction.sendEnrollmentLink
  static let name = Message("Send enrollment link")
  static let path = PoolPath1("users", nil, "enrollment-link")
  let identity: Identity

  static func intent(_ offer: UserOffer) -> UserIntent {
    offer.account.factors.isEmpty ? .enroll : .more
  }

  static func label(_ offer: UserOffer) -> Message { Message("Send enrollment link…") }

  static func isOffered(_ offer: UserOffer) -> Bool { offer.records.canEnrollByLink }

  func page(_ target: PoolTarget) async throws -> FormPage {
    let account = try await identity.account(target)
    let refusal = try await identity.enrollmentLinks.refusal(account, in: target.pool)
    let carriesMail = identity.messages.carriesMail
    let consequences: [Message?] = [
      account.email.map { Self.sending(to: $0, carriesMail: carriesMail) },
      Message("Only the user sees the secret. Support agents never do."),
      Message("The link can be used once and expires in 30 minutes. Any earlier link is revoked."),
      account.addresses.count > 1 && carriesMail
        ? Message("The user’s other addresses are notified that a link was sent.") : nil,
    ]
    var page = FormPage(
      account, in: target.pool, title: Self.name,
      heading: Message(
        "Send an enrollment link to {user}?", ["user": account.shortLabel]),
      consequences: consequences.compactMap { $0 }, button: Message("Send link"),
      isDestructive: false)
    if let refusal { page.refusal = ActionErrorText.sentence(refusal) }
    return page
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let done = try await identity.enrollmentLinks.send(
      target.request, to: target.user, in: target.pool)
    let address = Message.Value.name(Formatted.short(done.value))
    return FormEnd(
      identity.messages.carriesMail
        ? Message(
          "Enrollment link sent to {address}. Single use, expires in 30 minutes.",
          ["address": address])
        : Message(
          """
          Email isn’t set up, so the link wasn’t sent to {address}. Single use, expires in 30 \
          minutes. Opening it under Messages requires the {roles} role.
          """, ["address": address, "roles": Permission.readMessages.roleNames]),
      at: target.userPage, after: done)
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
        Email isn’t set up, so the link isn’t sent to {address}. Opening it under Messages \
        requires the {roles} role.
        """, ["address": address, "roles": Permission.readMessages.roleNames])
  }
}
