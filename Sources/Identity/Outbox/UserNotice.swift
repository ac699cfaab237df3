/// A change to a user's account that the user is notified of by email.
public enum UserNotice: Sendable, Equatable {
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
  case factorResumed(name: String)
  /// Someone other than the user renamed a factor.
  case factorRenamed(from: String, to: String)
  /// Second factors can be changed again after the user reported a change.
  case changesAllowed
  /// Codes are accepted again after too many incorrect ones.
  case codesUnlocked
  /// Someone other than the user ended the sessions.
  case sessionsEnded
  case temporaryCodeMade(until: Instant)
  case temporaryCodeEnded
  /// The user, or someone with their session, generated recovery codes.
  case recoveryCodesMade
  /// Someone other than the user revoked the recovery codes.
  case recoveryCodesVoided
  case recoveryCodeUsed(left: Int)
  case enrollmentLinkSent
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
  /// The kind of a change, with its stable code.
  public enum Kind: String, CaseIterable, Sendable {
    case factorWithdrawn = "notice-factor-withdrawn"
    case factorsRemoved = "notice-factors-removed"
    case factorReverted = "notice-factor-reverted"
    case factorsAdded = "notice-factors-added"
    case factorEnrolled = "notice-new-factor"
    case factorsRestored = "notice-factors-restored"
    case factorSuspended = "notice-factor-suspended"
    case factorResumed = "notice-factor-resumed"
    case factorRenamed = "notice-factor-renamed"
    case changesAllowed = "notice-changes-allowed"
    case codesUnlocked = "notice-codes-unlocked"
    case sessionsEnded = "notice-sessions-ended"
    case temporaryCodeMade = "notice-temporary-code"
    case temporaryCodeEnded = "notice-temporary-code-ended"
    case recoveryCodesMade = "notice-recovery-codes"
    case recoveryCodesVoided = "notice-recovery-codes-voided"
    case recoveryCodeUsed = "notice-recovery-code-used"
    case enrollmentLinkSent = "notice-enrollment-link"
    case factorEnrolledByLink = "notice-factor-enrolled"
    case passwordChanged = "notice-password-changed"
    case providerLinked = "notice-provider-linked"
    case emailChanged = "notice-email-changed"
    case accountDeleted = "notice-account-deleted"

    /// Whether someone with the user's session, password, or mailbox can make the change.
    ///
    /// The others report changes by administrators and programs, which can be thousands at once.
    var isAlert: Bool {
      switch self {
      case .factorWithdrawn, .factorReverted, .factorEnrolled, .recoveryCodesMade,
        .recoveryCodeUsed, .factorEnrolledByLink, .providerLinked:
        true
      case .factorsRemoved, .factorsAdded, .factorsRestored, .factorSuspended, .factorResumed,
        .factorRenamed, .changesAllowed, .codesUnlocked, .sessionsEnded, .temporaryCodeMade,
        .temporaryCodeEnded, .recoveryCodesVoided, .enrollmentLinkSent, .passwordChanged,
        .emailChanged, .accountDeleted:
        false
      }
    }
  }

  public var kind: Kind { entry.kind }

  /// The kind, and the values that a link stores with it.
  private var entry: (kind: Kind, values: [String]) {
    switch self {
    case .factorWithdrawn(let name): (.factorWithdrawn, [name])
    case .factorsRemoved(let names): (.factorsRemoved, names)
    case .factorReverted(let name): (.factorReverted, [name])
    case .factorsAdded(let names): (.factorsAdded, names)
    case .factorEnrolled(let name): (.factorEnrolled, [name])
    case .factorsRestored(let names): (.factorsRestored, names)
    case .factorSuspended(let name, let until):
      (.factorSuspended, [name, String(until.microseconds)])
    case .factorResumed(let name): (.factorResumed, [name])
    case .factorRenamed(let old, let new): (.factorRenamed, [old, new])
    case .changesAllowed: (.changesAllowed, [])
    case .codesUnlocked: (.codesUnlocked, [])
    case .sessionsEnded: (.sessionsEnded, [])
    case .temporaryCodeMade(let until): (.temporaryCodeMade, [String(until.microseconds)])
    case .temporaryCodeEnded: (.temporaryCodeEnded, [])
    case .recoveryCodesMade: (.recoveryCodesMade, [])
    case .recoveryCodesVoided: (.recoveryCodesVoided, [])
    case .recoveryCodeUsed(let left): (.recoveryCodeUsed, [String(left)])
    case .enrollmentLinkSent: (.enrollmentLinkSent, [])
    case .factorEnrolledByLink(let name): (.factorEnrolledByLink, [name])
    case .passwordChanged: (.passwordChanged, [])
    case .providerLinked(let name): (.providerLinked, [name])
    case .emailChanged(let old): (.emailChanged, [old])
    case .accountDeleted: (.accountDeleted, [])
    }
  }

  /// Whether the notice is about second factors, and so contains a link to report the change.
  var isAboutFactors: Bool {
    switch self {
    case .passwordChanged, .providerLinked, .emailChanged, .accountDeleted: false
    default: true
    }
  }
}

extension UserNotice {
  /// The change in the form in which a link stores it.
  package var stored: String { StoredCode(entry.kind.rawValue, entry.values).text }

  /// Reads a stored change; nil for text of an earlier version.
  init?(stored: String) {
    guard let stored = StoredCode(stored), let kind = Kind(rawValue: stored.code),
      let notice = Self.read(kind, stored.values)
    else { return nil }
    self = notice
  }

  private static func read(_ kind: Kind, _ values: [String]) -> UserNotice? {
    func instant(_ text: String) -> Instant? { Int64(text).map(Instant.init(microseconds:)) }
    let (first, second) = (values.first ?? "", values.dropFirst().first ?? "")
    return switch kind {
    case .factorWithdrawn: .factorWithdrawn(name: first)
    case .factorsRemoved: .factorsRemoved(names: values)
    case .factorReverted: .factorReverted(name: first)
    case .factorsAdded: .factorsAdded(names: values)
    case .factorEnrolled: .factorEnrolled(name: first)
    case .factorsRestored: .factorsRestored(names: values)
    case .factorSuspended:
      instant(second).map { .factorSuspended(name: first, until: $0) }
    case .factorResumed: .factorResumed(name: first)
    case .factorRenamed: .factorRenamed(from: first, to: second)
    case .changesAllowed: .changesAllowed
    case .codesUnlocked: .codesUnlocked
    case .sessionsEnded: .sessionsEnded
    case .temporaryCodeMade: instant(first).map { .temporaryCodeMade(until: $0) }
    case .temporaryCodeEnded: .temporaryCodeEnded
    case .recoveryCodesMade: .recoveryCodesMade
    case .recoveryCodesVoided: .recoveryCodesVoided
    case .recoveryCodeUsed: Int(first).map { .recoveryCodeUsed(left: $0) }
    case .enrollmentLinkSent: .enrollmentLinkSent
    case .factorEnrolledByLink: .factorEnrolledByLink(name: first)
    case .passwordChanged: .passwordChanged
    case .providerLinked: .providerLinked(name: first)
    case .emailChanged: .emailChanged(from: first)
    case .accountDeleted: .accountDeleted
    }
  }
}
