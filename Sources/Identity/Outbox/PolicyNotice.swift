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
        "notice-scheduled-change-failed", .scheduledChangeFailed(mail),
        to: OutboxMessage.Reader(id: reader.id, permission: .readPolicy), at: reader.email,
        in: mail.scope, mail.at, connection)
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
        "alert-activity", .alert(mail),
        to: OutboxMessage.Reader(id: owner.id, permission: .protectUsers), at: owner.email,
        in: mail.scope, mail.at, connection)
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
        "notice-policy-weakened", .weakenedPolicy(mail),
        to: OutboxMessage.Reader(id: owner.id, permission: .protectUsers), at: owner.email,
        in: mail.scope, mail.at, connection)
    }
  }
}
