import Database

/// What a user is told by mail after it was done to their account.
enum UserNotice {
  /// The user, or somebody with their session, withdrew a factor.
  case factorWithdrawn(name: String)
  /// An administrator's program took factors away.
  case factorsRemoved(names: [String])
  /// The password was changed by somebody else than the user.
  case passwordChanged
  /// An identity at another provider was linked by somebody else than the user.
  case providerLinked(name: String)
  /// The address was changed by somebody else than the user; the old one is told.
  case emailChanged(from: String)
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
    try add(
      OutboxMessage(
        channel: .mail, purpose: notice.purpose, recipient: recipient, language: "en",
        subject: notice.subject, body: notice.body,
        expiresAt: now.advanced(bySeconds: Self.noticeLifetime)),
      to: account, in: scope, at: now, connection)
  }
}

extension UserNotice {
  fileprivate var purpose: String {
    switch self {
    case .factorWithdrawn: "notice-factor-withdrawn"
    case .factorsRemoved: "notice-factors-removed"
    case .passwordChanged: "notice-password-changed"
    case .providerLinked: "notice-provider-linked"
    case .emailChanged: "notice-email-changed"
    }
  }

  fileprivate var subject: String {
    switch self {
    case .factorWithdrawn, .factorsRemoved: "A second factor was removed from your account"
    case .passwordChanged: "Your password was changed"
    case .providerLinked: "Another way to sign in was added to your account"
    case .emailChanged: "The e-mail address of your account was changed"
    }
  }

  fileprivate var body: String {
    let done =
      switch self {
      case .factorWithdrawn(let name):
        "The second factor “\(name)” was removed by a session of your account."
      case .factorsRemoved(let names):
        "These second factors were removed for you: \(names.joined(separator: ", "))."
      case .passwordChanged: "The password of your account was changed for you."
      case .providerLinked(let name):
        "Your account can be signed in to with \(name) from now on."
      case .emailChanged: "Your account has another e-mail address now."
      }
    return """
      \(done)

      If you did not ask for this, tell the support of the application at once.
      """
  }
}
