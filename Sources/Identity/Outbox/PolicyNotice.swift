import Database

extension Outbox {
  /// The maximum number of owners to notify.
  private static let mostOwners = 20

  /// Emails the owners of a project or tenant, except the author of the change.
  ///
  /// Does nothing without a mail server; the console shows the change anyway.
  func notifyOwners(
    _ mail: WeakenedPolicyMail, excluding author: Author, _ connection: borrowing Connection
  ) throws {
    guard carriesMail else { return }
    let owners = try Administrators.recipients(
      with: .protectUsers, around: mail.scope, atMost: Self.mostOwners, connection)
    for owner in owners where owner.id.text != author.actor.id {
      try add(
        OutboxMessage(
          purpose: "notice-policy-weakened", recipient: owner.email,
          text: written(.weakenedPolicy(mail)),
          expiresAt: mail.at.advanced(bySeconds: Self.noticeLifetime)),
        to: nil, in: mail.scope, at: mail.at, connection)
    }
  }
}
