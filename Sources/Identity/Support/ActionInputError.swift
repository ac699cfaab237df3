import Text

/// What is missing or wrong of what an agent has filled in.
///
/// Whoever has a caller on the line sees all of it at once, so the desk never stops at the first.
public enum ActionInputError: Sendable, Equatable {
  /// No moment within the time for which a factor may be suspended.
  case untilOutOfRange
  /// A factor needs a name.
  case nameRequired
  /// A name of more than ``Factor/longestName`` characters.
  case nameTooLong
  /// No reason, or an unknown one.
  case reasonRequired
  /// Lines of the identity proof are not ticked.
  case proofMissing
  /// A ticket of more than ``ActionRequest/longestTicket`` characters, or of more than one line.
  case ticketTooLong
  /// The reason "other" needs a note.
  case noteRequired
  /// A note of more than ``ActionRequest/longestNote`` characters.
  case noteTooLong
  /// The action needs a reason in the administrator's own words.
  case writtenReasonRequired
  /// A note about a user without words.
  case emptyNote
  /// Who is meant, or how many, was not typed, for what cannot be taken back.
  case notConfirmed
  /// A refusal says why.
  case answerRequired
  /// An answer of more than ``Approval/longestAnswer`` characters.
  case answerTooLong
  /// A rule of the desk outside its range.
  case outOfRange(SupportRulesError.Field)
  /// Only an owner loosens this rule.
  case ownerRequired(SupportRulesError.Field)
  /// The last code of the agent's own is too old: a new one is due.
  case codeRequired
  /// A code was typed and not looked at, since something else was amiss; it has to be typed again.
  case codeNotLookedAt
  /// Not a code of the agent's second factor, nor a recovery code.
  case wrongCode
  /// Too many wrong codes of the agent; from then on one may try again.
  case throttled(until: Instant)
}

extension ActionInputError {
  /// Whether its field stands before the reason in a form.
  var isFirst: Bool { [.untilOutOfRange, .nameRequired, .nameTooLong].contains(self) }
}

extension ActionRequest {
  /// What is wrong with the reason for an action, in the order of the form.
  func faults(of action: ConsoleAction, _ settings: SupportRules) -> [ActionInputError] {
    switch action.requirements.reason {
    case .none: []
    case .written:
      note.isEmpty
        ? [.writtenReasonRequired] : note.count > Self.longestNote ? [.noteTooLong] : []
    case .chosen:
      action == .writeNote ? faultsOfNote(settings) : faults(settings)
    }
  }

  /// What is amiss of what every action asks for, in the order of the form.
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

  /// The same for a note about a user, which comes first and is required.
  private func faultsOfNote(_ settings: SupportRules) -> [ActionInputError] {
    let faults = faults(settings)
    let ofNote: [ActionInputError] =
      note.isEmpty ? [.emptyNote] : faults.filter { $0 == .noteTooLong }
    return ofNote + faults.filter { $0 != .noteTooLong && $0 != .noteRequired }
  }
}
