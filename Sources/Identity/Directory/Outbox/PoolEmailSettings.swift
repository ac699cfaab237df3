import Database
import JSON
import Text

/// A kind of email to users; the raw value is its member of `notification.sendEmail` in the
/// configuration of a project or tenant.
///
/// Those for a password reset, a verification, a changed address, and a new second factor are
/// production's.
enum EmailKind: String, CaseIterable {
  case resetPassword = "resetPasswordTemplate"
  case verifyEmail = "verifyEmailTemplate"
  case signIn = "signInTemplate"
  /// A link to verify and change an email address, to the new address.
  case verifyAndChangeEmail = "verifyAndChangeEmailTemplate"
  /// A link to restore an email address, to the former address.
  case changeEmail = "changeEmailTemplate"
  case revertSecondFactorAddition = "revertSecondFactorAdditionTemplate"
  case enrollmentLink = "enrollmentLinkTemplate"
  case callerCode = "callerCodeTemplate"
  case notice = "noticeTemplate"
}

struct EmailSender: Equatable, Sendable {
  /// The sender's name; nil for the server's default.
  let name: String?
  /// The address for replies; nil for the sender's.
  let replyTo: String?
}

/// The settings of a pool's emails to users: a tenant's own, and its project's if the tenant inherits
/// them (`inheritance.emailSendingConfig`).
struct PoolEmailSettings: Sendable {
  private let application: String
  /// `notification.sendEmail` of the pool's own configuration.
  private let own: JSON?
  /// That of the project, if the pool is a tenant that inherits it.
  private let inherited: JSON?

  /// The application's own page for links, which only a project has.
  var handler: String? {
    (inherited ?? own)?["callbackUri"]?.textValue?.text
  }

  /// The sender of a kind of email; a tenant's own comes before its project's.
  func sender(of kind: EmailKind) -> EmailSender {
    let own = StoredSender(kind, of: own)
    let stored = own.isEmpty ? StoredSender(kind, of: inherited) : own
    let name = stored.name.text.replacing("%APP_NAME%", with: SafeName.oneLine(application))
    return EmailSender(
      name: name.isEmpty ? nil : SafeName.oneLine(name),
      replyTo: stored.replyTo.isEmpty ? nil : stored.replyTo.text)
  }

  static func read(
    _ pool: Pool, _ connection: borrowing Connection
  ) throws -> PoolEmailSettings {
    let own = try connection.first(
      """
      SELECT \(SQL.member("notification.sendEmail", of: "members")),
        coalesce(\(SQL.flag("inheritance.emailSendingConfig", of: "members")), 0)
      FROM scope WHERE scope_key = \(pool.key)
      """
    ) { row in (mails: try row.next() as String?, inherits: try row.next() as Bool) }
    let mails = parsed(own?.mails, of: pool)
    guard pool.tenant != nil, own?.inherits == true else {
      return PoolEmailSettings(application: pool.projectName, own: mails, inherited: nil)
    }
    let project = try connection.first(
      """
      SELECT \(SQL.member("notification.sendEmail", of: "members"))
      FROM scope WHERE project_id = \(pool.project) AND tenant_id = ''
      """
    ) { try $0.next() as String? }
    return PoolEmailSettings(
      application: pool.projectName, own: mails, inherited: parsed(project ?? nil, of: nil))
  }

  /// A tenant has senders, but no page for links.
  private static func parsed(_ text: String?, of pool: Pool?) -> JSON? {
    guard let text, var mails = (try? JSON.parse(Array(text.utf8)))?.objectValue else { return nil }
    if pool?.tenant != nil { mails["callbackUri"] = nil }
    return .object(mails)
  }
}

private struct StoredSender: Equatable {
  /// The name, in which `%APP_NAME%` is the project's.
  let name: UntrustedText
  let replyTo: UntrustedText

  init(_ kind: EmailKind, of mails: JSON?) {
    let stored = mails?[kind.rawValue]
    name = stored?["senderDisplayName"]?.textValue ?? UntrustedText("")
    replyTo = stored?["replyTo"]?.textValue ?? UntrustedText("")
  }

  var isEmpty: Bool { name.isEmpty && replyTo.isEmpty }

  func check() throws(PoolError) {
    guard name.byteCount <= 100, SafeName.isOneLine(name.text) else { throw .invalidSenderName }
    guard !replyTo.isEmpty else { return }
    // With these characters, a header field could have more than one address.
    guard replyTo.byteCount <= 254,
      !replyTo.utf8.contains(where: { ",;:<>()[]\\\"".utf8.contains($0) })
    else { throw .invalidReplyTo }
    do { try AccountRules.checkEmail(AccountRules.folded(email: replyTo.text)) } catch {
      throw .invalidReplyTo
    }
  }
}

extension PoolEdit {
  /// Checks the senders of emails that differ from those of an earlier configuration.
  func checkEmailSenders(since old: PoolEdit) throws(PoolError) {
    guard storedMembers != old.storedMembers else { return }
    let mails = [old, self].map { $0.storedMembers.content.root?["notification"]?["sendEmail"] }
    for kind in EmailKind.allCases {
      let sender = StoredSender(kind, of: mails[1])
      if sender != StoredSender(kind, of: mails[0]) { try sender.check() }
    }
  }
}
