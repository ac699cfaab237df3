import Database

extension Outbox {
  private static let mostOwners = 20

  /// Does nothing without a mail server; the console shows it anyway.
  func notifyOwners(_ mail: AlertMail, _ connection: borrowing Connection) throws {
    guard carriesMail else { return }
    let owners = try Administrators.recipients(
      with: .protectUsers, around: mail.pool, atMost: Self.mostOwners, at: mail.at, connection)
    for owner in owners {
      try add(
        .activity, .alert(mail),
        to: OutboxMessage.Reader(id: owner.id, permission: .protectUsers), at: owner.email,
        in: mail.pool, mail.at, connection)
    }
  }

  /// Does nothing without a mail server; the console shows the change anyway.
  func notifyOwners(
    _ mail: WeakenedPolicyMail, excluding author: Author, _ connection: borrowing Connection
  ) throws {
    guard carriesMail else { return }
    let owners = try Administrators.recipients(
      with: .protectUsers, around: mail.pool, atMost: Self.mostOwners, at: mail.at, connection)
    for owner in owners where owner.id.text != author.actor.id {
      try add(
        .policyWeakened, .weakenedPolicy(mail),
        to: OutboxMessage.Reader(id: owner.id, permission: .protectUsers), at: owner.email,
        in: mail.pool, mail.at, connection)
    }
  }
}
