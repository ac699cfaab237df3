import Database

extension Store {
  /// The maximum number of administrators to alert.
  private static let mostAlerted = 50

  /// Emails the owners and policy admins of a pool that a user reported a change.
  ///
  /// The email doesn't name the account to administrators who can't search users.
  func alert(
    _ reportedChange: ReportedChange, _ account: Account, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    let readers = try Administrators.recipients(
      with: .editSupportRules, around: reportedChange.scope, atMost: Self.mostAlerted, connection)
    for reader in readers {
      let findsUsers = reader.role.permissions.contains(.findUsers)
      let text = AlertText(
        reportedChange: reportedChange, account: findsUsers ? account : nil,
        link: findsUsers ? links.console(account.id, in: reportedChange.scope) : nil, at: now)
      try outbox.add(
        OutboxMessage(
          channel: .mail, purpose: "alert-changes-locked", recipient: reader.email,
          language: "en", subject: text.subject, body: text.body,
          expiresAt: now.advanced(bySeconds: Outbox.noticeLifetime)),
        to: nil, in: reportedChange.scope, at: now, connection)
    }
  }
}

/// The email to the administrators of a user pool.
private struct AlertText {
  let reportedChange: ReportedChange
  /// The reported account; nil if the reader can't search users.
  let account: Account?
  let link: String?
  let at: Instant

  private var application: String { NoticeText.application(reportedChange.scope) }

  var subject: String { "\(application): a user reported a change that wasn't theirs" }

  var body: String {
    """
    Hello,

    On \(at.formatted), a user of \(application) reported a change that they neither made nor \
    requested: \(reportedChange.fact), on \(reportedChange.at.formatted).

    \(whose) Its second factors can't be changed until an owner has reviewed the report and allows \
    changes again. It was signed out everywhere, and its temporary codes, recovery codes, and \
    enrollment links were revoked.

    \(link.map { "The account, its history, and who did what:\n\n\($0)" } ?? who)

    Contact the user through a different channel than the one that the change was requested \
    through, and review what else the same agent did.

    """
  }

  private var whose: String {
    guard let account else {
      return "Only administrators who can search users can see which account it is."
    }
    let (label, uid) = (NoticeText.plain(account.label), NoticeText.plain(account.id.text))
    return "The account is \(label) (UID \(uid))."
  }

  private var who: String { "An owner of \(application) can find it on the overview page." }
}
