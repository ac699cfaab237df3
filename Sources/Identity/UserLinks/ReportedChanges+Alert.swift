import Database

extension Store {
  private static let mostAlerted = 50

  /// Emails the owners and policy admins of a pool that a user reported a change.
  ///
  /// The email doesn't name the account to administrators who can't search users.
  func alert(
    _ reportedChange: ReportedChange, _ account: Account, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    // Without a mail server, the console shows it, and nothing about the user is stored.
    guard outbox.carriesMail else { return }
    let readers = try Administrators.recipients(
      with: .editSupportRules, around: reportedChange.pool, atMost: Self.mostAlerted, at: now,
      connection)
    for reader in readers {
      let findsUsers = reader.role.permissions.contains(.findUsers)
      let known = ReportedChangeMail.ReportedAccount(
        label: account.label, id: account.id,
        link: links.console(account.id, in: reportedChange.pool))
      let mail = ReportedChangeMail(
        change: reportedChange, account: findsUsers ? known : nil, at: now)
      try outbox.add(
        .changesLocked, .reportedChange(mail),
        to: OutboxMessage.Reader(
          id: reader.id, permission: findsUsers ? .findUsers : .editSupportRules),
        at: reader.email, about: account.id, in: reportedChange.pool, now, connection)
    }
  }
}
