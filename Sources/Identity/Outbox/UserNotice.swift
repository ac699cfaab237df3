/// What a user is told by mail after it was done to their account.
enum UserNotice {
  /// The user, or somebody with their session, withdrew a factor.
  case factorWithdrawn(name: String)
  /// Somebody else took factors away.
  case factorsRemoved(names: [String])
  /// A link in a mail that told of a factor took it away.
  case factorReverted(name: String)
  /// Somebody else gave the user factors.
  case factorsAdded(names: [String])
  /// The user, or somebody with their session, enrolled a factor.
  case factorEnrolled(name: String)
  /// Somebody else put factors back that were taken away.
  case factorsRestored(names: [String])
  /// Codes of a factor do not count for a while.
  case factorSuspended(name: String, until: Instant)
  /// Codes of a factor count again before the time.
  case factorResumed(name: String)
  /// Somebody else gave a factor another name.
  case factorRenamed(from: String, to: String)
  /// Factors can be changed again, after the user had said that a change was none of theirs.
  case changesAllowed
  /// Codes are looked at again after too many wrong ones.
  case codesUnlocked
  /// Somebody else ended the sessions.
  case sessionsEnded
  /// An agent has a code that stands in for the authenticator app.
  case temporaryCodeMade(until: Instant)
  /// A temporary code ended before its time.
  case temporaryCodeEnded
  /// The user, or somebody with their session, made recovery codes.
  case recoveryCodesMade
  /// Somebody else ended the recovery codes.
  case recoveryCodesVoided
  /// A recovery code let somebody in.
  case recoveryCodeUsed(left: Int)
  /// An agent sent a link with which an authenticator app can be set up.
  case enrollmentLinkSent
  /// Such a link was used.
  case factorEnrolledByLink(name: String)
  /// The password was changed by somebody else than the user.
  case passwordChanged
  /// An identity at another provider was linked by somebody else than the user.
  case providerLinked(name: String)
  /// The address was changed by somebody else than the user; the old one is told.
  case emailChanged(from: String)
  /// The account was deleted by somebody else than the user.
  case accountDeleted
}

extension UserNotice {
  /// What the outbox calls it.
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

  /// Whether it is about second factors, which a user can say was none of theirs by a link in the
  /// mail.
  var isAboutFactors: Bool {
    switch self {
    case .passwordChanged, .providerLinked, .emailChanged, .accountDeleted: false
    default: true
    }
  }

  /// What was done, as the beginning of a sentence: `the second factor “phone” was removed`.
  var fact: String {
    switch self {
    case .factorWithdrawn(let name): "\(Self.list([name], "was", "were")) removed"
    case .factorsRemoved(let names): "\(Self.list(names, "was", "were")) removed"
    case .factorReverted(let name): "\(Self.list([name], "was", "were")) removed"
    case .factorsAdded(let names): "\(Self.list(names, "was", "were")) added"
    case .factorEnrolled(let name): "\(Self.list([name], "was", "were")) enrolled"
    case .factorsRestored(let names): "\(Self.list(names, "was", "were")) put back"
    case .factorSuspended(let name, let until):
      "\(Self.list([name], "was", "were")) suspended until \(until.formatted)"
    case .factorResumed(let name): "\(Self.list([name], "counts", "count")) again"
    case .factorRenamed(let old, let new):
      "\(Self.list([old], "was", "were")) named “\(NoticeText.unlinked(new))”"
    case .changesAllowed:
      "changes of your second factors, which had been locked at your word, were allowed again"
    case .codesUnlocked: "the lock after too many wrong codes was taken off"
    case .sessionsEnded: "you were signed out everywhere"
    case .temporaryCodeMade(let until):
      """
      a temporary code was made, which counts once until \(until.formatted) instead of a code of \
      your authenticator app
      """
    case .temporaryCodeEnded: "a temporary code was ended"
    case .recoveryCodesMade: "recovery codes were made, and any earlier ones ended"
    case .recoveryCodesVoided: "your recovery codes were ended"
    case .recoveryCodeUsed(let left):
      "a recovery code was used to sign in; \(left == 0 ? "none is" : "\(left) are") left"
    case .enrollmentLinkSent:
      "a link to set an authenticator app up was sent to your email address"
    case .factorEnrolledByLink(let name):
      "\(Self.list([name], "was", "were")) set up by a link that had been sent to you"
    case .passwordChanged: "your password was changed"
    case .providerLinked(let name): "signing in with \(NoticeText.plain(name)) was switched on"
    case .emailChanged: "another email address was put in place of this one"
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
  /// The moment as everybody reads it, to the minute.
  var formatted: String {
    let parts = calendar
    func pair(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(Day(self)) at \(pair(parts.hour)):\(pair(parts.minute)) UTC"
  }
}
