/// A change to a user's account that the user is notified of by email.
enum UserNotice {
  /// The user, or someone with their session, unenrolled a factor.
  case factorWithdrawn(name: String)
  /// Someone other than the user removed factors.
  case factorsRemoved(names: [String])
  /// The link in an email about a new factor was used to remove it.
  case factorReverted(name: String)
  /// Someone other than the user added factors.
  case factorsAdded(names: [String])
  /// The user, or someone with their session, enrolled a factor.
  case factorEnrolled(name: String)
  /// Someone other than the user restored removed factors.
  case factorsRestored(names: [String])
  /// A factor was suspended: its codes are rejected for a while.
  case factorSuspended(name: String, until: Instant)
  /// A factor's suspension was ended early.
  case factorResumed(name: String)
  /// Someone other than the user renamed a factor.
  case factorRenamed(from: String, to: String)
  /// Second factors can be changed again after the user reported a change.
  case changesAllowed
  /// Codes are accepted again after too many incorrect ones.
  case codesUnlocked
  /// Someone other than the user ended the sessions.
  case sessionsEnded
  /// An agent generated a temporary code.
  case temporaryCodeMade(until: Instant)
  /// A temporary code was revoked.
  case temporaryCodeEnded
  /// The user, or someone with their session, generated recovery codes.
  case recoveryCodesMade
  /// Someone other than the user revoked the recovery codes.
  case recoveryCodesVoided
  /// A recovery code was used to sign in.
  case recoveryCodeUsed(left: Int)
  /// An agent sent an enrollment link.
  case enrollmentLinkSent
  /// An enrollment link was used.
  case factorEnrolledByLink(name: String)
  /// Someone other than the user changed the password.
  case passwordChanged
  /// Someone other than the user linked an identity provider.
  case providerLinked(name: String)
  /// Someone other than the user changed the email address; the notice goes to the old one.
  case emailChanged(from: String)
  /// Someone other than the user deleted the account.
  case accountDeleted
}

extension UserNotice {
  /// The purpose of the message in the outbox.
  var purpose: String {
    switch self {
    case .factorWithdrawn: "notice-factor-withdrawn"
    case .factorsRemoved: "notice-factors-removed"
    case .factorReverted: "notice-factor-reverted"
    case .factorsAdded: "notice-factors-added"
    case .factorEnrolled: "notice-new-factor"
    case .factorsRestored: "notice-factors-restored"
    case .factorSuspended: "notice-factor-suspended"
    case .factorResumed: "notice-factor-resumed"
    case .factorRenamed: "notice-factor-renamed"
    case .changesAllowed: "notice-changes-allowed"
    case .codesUnlocked: "notice-codes-unlocked"
    case .sessionsEnded: "notice-sessions-ended"
    case .temporaryCodeMade: "notice-temporary-code"
    case .temporaryCodeEnded: "notice-temporary-code-ended"
    case .recoveryCodesMade: "notice-recovery-codes"
    case .recoveryCodesVoided: "notice-recovery-codes-voided"
    case .recoveryCodeUsed: "notice-recovery-code-used"
    case .enrollmentLinkSent: "notice-enrollment-link"
    case .factorEnrolledByLink: "notice-factor-enrolled"
    case .passwordChanged: "notice-password-changed"
    case .providerLinked: "notice-provider-linked"
    case .emailChanged: "notice-email-changed"
    case .accountDeleted: "notice-account-deleted"
    }
  }

  /// Whether the notice is about second factors, and so contains a link to report the change.
  var isAboutFactors: Bool {
    switch self {
    case .passwordChanged, .providerLinked, .emailChanged, .accountDeleted: false
    default: true
    }
  }

  /// The change, as a clause: `the second factor “phone” was removed`.
  var fact: String {
    switch self {
    case .factorWithdrawn(let name): "\(Self.list([name], "was", "were")) removed"
    case .factorsRemoved(let names): "\(Self.list(names, "was", "were")) removed"
    case .factorReverted(let name): "\(Self.list([name], "was", "were")) removed"
    case .factorsAdded(let names): "\(Self.list(names, "was", "were")) added"
    case .factorEnrolled(let name): "\(Self.list([name], "was", "were")) enrolled"
    case .factorsRestored(let names): "\(Self.list(names, "was", "were")) restored"
    case .factorSuspended(let name, let until):
      "\(Self.list([name], "was", "were")) suspended until \(until.formatted)"
    case .factorResumed(let name): "\(Self.list([name], "works", "work")) again"
    case .factorRenamed(let old, let new):
      "\(Self.list([old], "was", "were")) renamed “\(NoticeText.unlinked(new))”"
    case .changesAllowed:
      "changes to your second factors, which were locked after your report, were allowed again"
    case .codesUnlocked: "the lock after too many incorrect codes was removed"
    case .sessionsEnded: "you were signed out everywhere"
    case .temporaryCodeMade(let until):
      """
      a temporary code was generated, which can be used once until \(until.formatted) instead of a \
      code from your authenticator app
      """
    case .temporaryCodeEnded: "a temporary code was revoked"
    case .recoveryCodesMade: "recovery codes were generated, and any earlier ones were revoked"
    case .recoveryCodesVoided: "your recovery codes were revoked"
    case .recoveryCodeUsed(let left):
      "a recovery code was used to sign in; \(left == 0 ? "none is" : "\(left) are") left"
    case .enrollmentLinkSent:
      "a link to set up an authenticator app was sent to your email address"
    case .factorEnrolledByLink(let name):
      "\(Self.list([name], "was", "were")) set up with a link that was sent to you"
    case .passwordChanged: "your password was changed"
    case .providerLinked(let name): "sign-in with \(NoticeText.plain(name)) was added"
    case .emailChanged: "this email address was replaced with another one"
    case .accountDeleted: "your account was deleted"
    }
  }

  private static func list(_ names: [String], _ one: String, _ many: String) -> String {
    let quoted = names.map { "“\(NoticeText.unlinked($0))”" }.joined(separator: ", ")
    return names.count == 1
      ? "the second factor \(quoted) \(one)" : "the second factors \(quoted) \(many)"
  }
}

extension Instant {
  /// The date and time in UTC, to the minute.
  var formatted: String {
    let parts = calendar
    func pair(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(Day(self)) at \(pair(parts.hour)):\(pair(parts.minute)) UTC"
  }
}
