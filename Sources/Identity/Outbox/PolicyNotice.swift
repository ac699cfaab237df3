import Database

extension Outbox {
  /// The maximum number of owners to notify.
  private static let mostOwners = 20

  /// Emails the author of a scheduled change and the owners that it wasn't made.
  ///
  /// Does nothing without a mail server; the console shows it anyway.
  func notify(
    _ mail: ScheduledChangeFailedMail, author: Author, _ connection: borrowing Connection
  ) throws {
    guard carriesMail else { return }
    let owners = try Administrators.recipients(
      with: .protectUsers, around: mail.scope, atMost: Self.mostOwners, at: mail.at, connection)
    let known = owners.contains { $0.id.text == author.actor.id }
    let own =
      known
      ? nil
      : try Administrators.present(ID(author.actor.id), at: mail.at, connection).map {
        (id: $0.id, email: $0.email)
      }
    let readers = [own].compactMap(\.self) + owners.map { (id: $0.id, email: $0.email) }
    for reader in readers {
      try add(
        OutboxMessage(
          purpose: "notice-scheduled-change-failed", recipient: reader.email,
          text: written(.scheduledChangeFailed(mail)),
          expiresAt: mail.at.advanced(bySeconds: Self.noticeLifetime),
          to: OutboxMessage.Reader(id: reader.id, permission: .readPolicy)),
        to: nil, in: mail.scope, at: mail.at, connection)
    }
  }

  /// Emails the owners of a project or tenant about unusual activity.
  ///
  /// Does nothing without a mail server; the console shows it anyway.
  func notifyOwners(_ mail: AlertMail, _ connection: borrowing Connection) throws {
    guard carriesMail else { return }
    let owners = try Administrators.recipients(
      with: .protectUsers, around: mail.scope, atMost: Self.mostOwners, at: mail.at, connection)
    for owner in owners {
      try add(
        OutboxMessage(
          purpose: "alert-activity", recipient: owner.email, text: written(.alert(mail)),
          expiresAt: mail.at.advanced(bySeconds: Self.noticeLifetime),
          to: OutboxMessage.Reader(id: owner.id, permission: .protectUsers)),
        to: nil, in: mail.scope, at: mail.at, connection)
    }
  }

  /// Emails the owners of a project or tenant, except the author of the change.
  ///
  /// Does nothing without a mail server; the console shows the change anyway.
  func notifyOwners(
    _ mail: WeakenedPolicyMail, excluding author: Author, _ connection: borrowing Connection
  ) throws {
    guard carriesMail else { return }
    let owners = try Administrators.recipients(
      with: .protectUsers, around: mail.scope, atMost: Self.mostOwners, at: mail.at, connection)
    for owner in owners where owner.id.text != author.actor.id {
      try add(
        OutboxMessage(
          purpose: "notice-policy-weakened", recipient: owner.email,
          text: written(.weakenedPolicy(mail)),
          expiresAt: mail.at.advanced(bySeconds: Self.noticeLifetime),
          to: OutboxMessage.Reader(id: owner.id, permission: .protectUsers)),
        to: nil, in: mail.scope, at: mail.at, connection)
    }
  }
}
