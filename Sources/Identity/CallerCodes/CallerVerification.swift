public import Database

/// Whether agents verify that a caller is the user, with a code sent to the user's email address.
public enum CallerVerification: String, CaseIterable, Sendable, SQLConvertible {
  case off
  case offered
  /// Actions that let someone into an account are denied without a code.
  case required
}

/// How an agent verified a caller; the raw value is the stored name.
public enum CallerProof: String, CaseIterable, Sendable, SQLConvertible {
  /// The caller read back a code that was sent to the user's verified email address.
  case emailCode = "email-code"
}

public struct CallerStatus: Sendable, Equatable {
  public let isRequired: Bool
  /// The address for a code; nil if there's none, so that no code can be sent.
  public let email: String?
  public let sent: Sent?

  public struct Sent: Sendable, Equatable {
    public let at: Instant
    public let expiresAt: Instant
  }
}

extension ConsoleAction {
  /// Whether the action can help someone else into an account, so that a pool can require a
  /// verified caller for it.
  ///
  /// Actions that only protect an account, such as a suspension, must never wait for a caller.
  public var letsCallerIn: Bool {
    switch self {
    case .removeFactor, .removeAllFactors, .restoreFactors, .resumeFactor, .unlockCodes,
      .createTemporaryCode, .sendEnrollmentLink, .exemptUser, .allowChanges:
      true
    default: false
    }
  }

  /// Whether a second administrator can decide about the action where a caller can't be verified.
  var canWaitForApproval: Bool { requirements.secondApprover == .lastFactor }
}

extension Account {
  var verifiedEmail: String? { emailVerified ? email : nil }
}
