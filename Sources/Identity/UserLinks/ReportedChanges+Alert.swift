import Database

extension Store {
  /// How many administrators are alerted at most.
  private static let mostAlerted = 50
  /// How long an alert is worth sending, in seconds.
  private static let alertLifetime: Int64 = 7 * 86_400

  /// Tells the owners and policy admins of a pool by mail that a user objects.
  ///
  /// Who may not find users is not told whose account it is.
  func alert(
    _ reportedChange: ReportedChange, _ account: Account, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    let readers = try Administrators.recipients(
      with: [.owner, .policy], around: reportedChange.scope, atMost: Self.mostAlerted, connection)
    for reader in readers {
      let findsUsers = reader.role.permissions.contains(.findUsers)
      let text = AlertText(
        reportedChange: reportedChange, account: findsUsers ? account : nil,
        link: findsUsers ? links.console(account.id, in: reportedChange.scope) : nil, at: now)
      try outbox.add(
        OutboxMessage(
          channel: .mail, purpose: "alert-changes-locked", recipient: reader.email,
          language: "en", subject: text.subject, body: text.body,
          expiresAt: now.advanced(bySeconds: Self.alertLifetime)),
        to: nil, in: reportedChange.scope, at: now, connection)
    }
  }
}

/// The mail to those who answer for a user pool.
private struct AlertText {
  let reportedChange: ReportedChange
  /// Whose account; nil for a reader who may not find users.
  let account: Account?
  let link: String?
  let at: Instant

  private var application: String { NoticeText.application(reportedChange.scope) }

  var subject: String { "\(application): a user says that a change was none of theirs" }

  var body: String {
    """
    Hello,

    on \(at.formatted) a user of \(application) said that this was neither done by them nor at their \
    request: \(reportedChange.fact), on \(reportedChange.at.formatted).

    \(whose) Nobody can change second factors of the account until an owner has looked into it and \
    allows changes again. It is signed out everywhere, and temporary codes, recovery codes and links \
    to set an authenticator app up have ended.

    \(link.map { "The account, its history and who did what:\n\n\($0)" } ?? who)

    Ask the user on another way than the one on which the change was asked for, and look at what else \
    the same agent did.

    """
  }

  private var whose: String {
    guard let account else { return "Whose account it is, those see who may find users." }
    let (label, uid) = (NoticeText.plain(account.label), NoticeText.plain(account.id.text))
    return "It is the account \(label) (uid \(uid))."
  }

  private var who: String { "An owner of \(application) finds it on the overview of its users." }
}
