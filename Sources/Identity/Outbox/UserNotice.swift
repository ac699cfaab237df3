import Database

/// What a user is told by mail after it was done to their account.
enum UserNotice {
  /// The user, or somebody with their session, withdrew a factor.
  case factorWithdrawn(name: String)
  /// Somebody else took factors away.
  case factorsRemoved(names: [String])
  /// Factors that were removed count again.
  case factorsRestored(names: [String])
  /// The codes of a factor are refused for a while.
  case factorSuspended(name: String, until: Instant)
  /// The codes of a factor count again before the time.
  case factorResumed(name: String)
  /// Codes are looked at again after too many wrong ones.
  case codesUnlocked
  /// All sessions were ended by somebody else than the user.
  case sessionsEnded
  /// The password was changed by somebody else than the user.
  case passwordChanged
  /// An identity at another provider was linked by somebody else than the user.
  case providerLinked(name: String)
  /// The address was changed by somebody else than the user; the old one is told.
  case emailChanged(from: String)
  /// The account was deleted by somebody else than the user.
  case accountDeleted
}

extension Outbox {
  /// How long a notice is worth sending, in seconds.
  private static let noticeLifetime: Int64 = 7 * 86_400

  /// Tells a user at the address on file; does nothing for an account without one.
  func notify(
    _ notice: UserNotice, _ account: Account, in scope: Scope, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    var recipient = account.email
    if case .emailChanged(let old) = notice { recipient = old }
    guard let recipient else { return }
    let text = NoticeText(
      notice: notice, application: NoticeText.application(scope), recipient: recipient, at: now)
    try add(
      OutboxMessage(
        channel: .mail, purpose: notice.purpose, recipient: recipient, language: "en",
        subject: text.subject, body: text.body,
        expiresAt: now.advanced(bySeconds: Self.noticeLifetime)),
      to: account, in: scope, at: now, connection)
  }

  /// Tells a user of a change that somebody else has made to how they sign in.
  func notifyChange(
    from old: Account, to new: Account, removed: [Factor], newPassword: Bool, in scope: Scope,
    by author: Author, at now: Instant, _ connection: borrowing Connection
  ) throws {
    if case .user = author.actor { return }
    if newPassword || (old.hasPassword && !new.hasPassword) {
      try notify(.passwordChanged, old, in: scope, at: now, connection)
    }
    if let email = old.email, !email.isSameBytes(as: new.email ?? "") {
      try notify(.emailChanged(from: email), old, in: scope, at: now, connection)
    }
    guard !removed.isEmpty else { return }
    try notify(.factorsRemoved(names: removed.map(\.label)), old, in: scope, at: now, connection)
  }
}

extension UserNotice {
  fileprivate var purpose: String {
    switch self {
    case .factorWithdrawn: "notice-factor-withdrawn"
    case .factorsRemoved: "notice-factors-removed"
    case .factorsRestored: "notice-factors-restored"
    case .factorSuspended: "notice-factor-suspended"
    case .factorResumed: "notice-factor-resumed"
    case .codesUnlocked: "notice-codes-unlocked"
    case .sessionsEnded: "notice-sessions-ended"
    case .passwordChanged: "notice-password-changed"
    case .providerLinked: "notice-provider-linked"
    case .emailChanged: "notice-email-changed"
    case .accountDeleted: "notice-account-deleted"
    }
  }
}

/// A notice in words: what was done to which account of which application, when, and whom to ask.
private struct NoticeText {
  let notice: UserNotice
  let application: String
  let recipient: String
  let at: Instant

  var subject: String {
    let done =
      switch notice {
      case .factorsRemoved(let names) where names.count > 1: "your second factors were removed"
      case .factorWithdrawn, .factorsRemoved: "a second factor was removed"
      case .factorsRestored(let names) where names.count > 1:
        "your second factors count again"
      case .factorsRestored, .factorResumed: "a second factor counts again"
      case .factorSuspended: "a second factor is suspended"
      case .codesUnlocked: "your codes are accepted again"
      case .sessionsEnded: "you were signed out everywhere"
      case .passwordChanged: "your password was changed"
      case .providerLinked: "another way to sign in was added"
      case .emailChanged: "your e-mail address was changed"
      case .accountDeleted: "your account was deleted"
      }
    return "\(application): \(done)"
  }

  var body: String {
    """
    Hello,

    \(happened)

    \(consequence)

    If this was neither you nor done at your request, somebody may be trying to get into your \
    account: tell the support of \(application) at once.

    This mail is about the safety of your account \(recipient) at \(application). It cannot be \
    switched off, and answers to it are not read.

    """
  }

  private var happened: String {
    switch notice {
    case .factorWithdrawn(let name):
      """
      the second factor “\(Self.plain(name))” was removed from your account \(recipient) at \
      \(application) on \(moment), by somebody who was signed in to your account.
      """
    case .factorsRemoved(let names):
      """
      \(Self.list(names)) removed from your account \(recipient) at \(application) on \(moment). \
      This was done for you, by the support of \(application) or by one of its programs.
      """
    case .factorsRestored(let names):
      """
      \(Self.list(names, "is", "are")) in force again for your account \(recipient) at \
      \(application) since \(moment). The removal before was taken back by the support of \
      \(application).
      """
    case .factorSuspended(let name, let until):
      """
      the second factor “\(Self.plain(name))” of your account \(recipient) at \(application) was \
      suspended on \(moment), until \(Self.words(until)). This was done for you, by the support of \
      \(application).
      """
    case .factorResumed(let name):
      """
      the second factor “\(Self.plain(name))” of your account \(recipient) at \(application), which \
      was suspended, counts again since \(moment). This was done for you, by the support of \
      \(application).
      """
    case .codesUnlocked:
      """
      codes for your account \(recipient) at \(application) are accepted again since \(moment); \
      there had been wrong ones. This was done for you, by the support of \(application).
      """
    case .sessionsEnded:
      """
      all sessions of your account \(recipient) at \(application) were ended on \(moment). This \
      was done for you, by the support of \(application).
      """
    case .passwordChanged:
      """
      the password of your account \(recipient) at \(application) was changed on \(moment). This \
      was done for you, by the support of \(application) or by one of its programs.
      """
    case .providerLinked(let name):
      """
      since \(moment) your account \(recipient) at \(application) can be signed in to with \
      \(Self.plain(name)) as well.
      """
    case .emailChanged:
      """
      your account at \(application) has another e-mail address since \(moment): \(recipient) is \
      not its address any more. This was done for you, by the support of \(application) or by one \
      of its programs.
      """
    case .accountDeleted:
      """
      your account \(recipient) at \(application) was deleted on \(moment). This was done for you, \
      by the support of \(application) or by one of its programs.
      """
    }
  }

  private var consequence: String {
    switch notice {
    case .factorWithdrawn:
      "From now on nobody is asked for a code of it when you sign in."
    case .factorsRemoved:
      """
      From now on nobody is asked for a code of it when you sign in. You have been signed out \
      everywhere.
      """
    case .factorsRestored, .factorResumed:
      """
      A code is asked for again when you sign in.
      """
    case .factorSuspended:
      """
      Until then a code is asked for when you sign in, and none of this factor is accepted.
      """
    case .codesUnlocked:
      "If wrong codes come in a row again, they are slowed down and closed as before."
    case .sessionsEnded:
      "You have to sign in again wherever you were signed in."
    case .passwordChanged:
      "The old password does not count any more. You have been signed out everywhere."
    case .providerLinked:
      "Whoever can sign in there can sign in to your account from now on."
    case .emailChanged:
      "Mails about the account go to the new address. You have been signed out everywhere."
    case .accountDeleted:
      "Nobody can sign in to it any more. You have been signed out everywhere."
    }
  }

  /// The name of the application, and of the tenant where there is one.
  static func application(_ scope: Scope) -> String {
    scope.tenant == nil
      ? plain(scope.projectName) : "\(plain(scope.projectName)) (\(plain(scope.name)))"
  }

  /// The moment as everybody reads it, to the minute.
  private var moment: String { Self.words(at) }

  private static func words(_ at: Instant) -> String {
    let parts = at.calendar
    func pair(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(Day(at)) at \(pair(parts.hour)):\(pair(parts.minute)) UTC"
  }

  private static func list(
    _ names: [String], _ one: String = "was", _ many: String = "were"
  ) -> String {
    let quoted = names.map { "“\(plain($0))”" }
    return names.count == 1
      ? "the second factor \(quoted.joined()) \(one)"
      : "the second factors \(quoted.joined(separator: ", ")) \(many)"
  }

  /// A name in one line, without marks that turn the text around it.
  static func plain(_ name: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in name.unicodeScalars {
      switch scalar.value {
      case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: result.append(" ")
      case 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: continue
      default: result.append(scalar)
      }
    }
    return String(result)
  }
}
