import Text

/// A validation error in what an agent entered.
///
/// All errors are reported together, because the agent may have the user on the phone.
public enum ActionInputError: Sendable, Equatable {
  /// The end of the suspension isn't within the allowed range.
  case untilOutOfRange
  case nameRequired
  case nameTooLong
  case reasonRequired
  /// Not all identity checks are confirmed.
  case proofMissing
  case callerCodeRequired
  /// The text in the field for the caller's code isn't a code; it isn't counted as a try.
  case callerCodeMalformed
  /// The caller read back a wrong code; the number of tries left.
  case callerCodeWrong(left: Int)
  /// No code was sent, or it has expired or had too many tries.
  case callerCodeExpired
  /// The ticket is longer than ``ActionRequest/longestTicket`` characters or has more than one
  /// line.
  case ticketTooLong
  /// The reason "other" requires a note.
  case noteRequired
  case noteTooLong
  case writtenReasonRequired
  /// The confirmation for an irreversible action wasn't typed: who is affected, or how many.
  case notConfirmed
  /// A rejection requires a reason.
  case answerRequired
  case answerTooLong
  case outOfRange(SupportRulesError.Field)
  /// Only an owner can loosen this rule.
  case ownerRequired(SupportRulesError.Field)
  /// Re-authentication is required because the agent's last code is too old.
  case codeRequired
  /// Re-authentication is required, and the agent's only second factor is a passkey, which has a
  /// separate page.
  case passkeyRequired
  /// Re-authentication is required, and the agent can only sign in at the provider again.
  case providerRequired
  /// The code wasn't checked because of other errors and has to be entered again.
  case codeNotLookedAt
  /// The code is neither one of the agent's second factor nor a recovery code.
  case wrongCode
  /// The code is one of the agent's second factor that was accepted before.
  case usedCode
  /// The agent entered too many wrong codes; retry after this time.
  case throttled(until: Instant)
}

extension ActionInputError {
  /// Whether the field comes before the reason in a form.
  var isFirst: Bool {
    switch self {
    case .untilOutOfRange, .nameRequired, .nameTooLong, .callerCodeRequired,
      .callerCodeMalformed, .callerCodeWrong, .callerCodeExpired:
      true
    default: false
    }
  }
}

extension ActionRequest {
  /// Returns the errors in the reason for an action, in the order of the form.
  func faults(of action: ConsoleAction, _ settings: SupportRules) -> [ActionInputError] {
    switch action.requirements.reason {
    case .none: []
    case .written:
      note.isEmpty
        ? [.writtenReasonRequired] : note.count > Self.longestNote ? [.noteTooLong] : []
    case .chosen: faults(settings)
    }
  }

  /// Returns the errors in the fields that every action has, in the order of the form.
  private func faults(_ settings: SupportRules) -> [ActionInputError] {
    var faults: [ActionInputError] = []
    if reason == nil { faults.append(.reasonRequired) }
    if !proofs.isSuperset(of: settings.identityProof.map { UntrustedText($0) }) {
      faults.append(.proofMissing)
    }
    if ticket.count > Self.longestTicket || ticket.contains(where: \.isNewline) {
      faults.append(.ticketTooLong)
    }
    if note.count > Self.longestNote {
      faults.append(.noteTooLong)
    } else if reason == .other, note.isEmpty {
      faults.append(.noteRequired)
    }
    return faults
  }
}
