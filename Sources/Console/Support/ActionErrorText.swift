import Localization
import Identity

/// Error messages for support actions.
enum ActionErrorText {
  /// Returns the field errors for a denied action, in the order of the form.
  ///
  /// - Parameters:
  ///   - error: Why the action was denied.
  ///   - times: The format of dates.
  ///   - permission: The permission that the action requires.
  ///   - confirmation: The error of the field that confirms the user or the number of users.
  /// - Returns: The errors.
  /// - Throws: A ``Refusal`` for errors that don't belong to a field.
  static func faults(
    _ error: ActionDenial, _ times: Times, _ permission: Permission = .removeFactors,
    confirmation: FieldError? = nil
  ) throws(Refusal) -> [FieldError] {
    switch error {
    case .answers(let faults):
      return faults.map { fault in
        fault == .notConfirmed ? confirmation ?? field(fault, times) : field(fault, times)
      }
    case .noSecondFactor, .ownAccount, .ownRemoval, .protectedAccount, .changesLocked, .held,
      .nothingToDo, .alreadyAsked, .switchedOff, .noAuthenticator, .noCodes, .enrollment,
      .userDisabled:
      return [FieldError(field: "reason", text: sentence(error))]
    case .accountNotFound, .factorNotFound: throw .notFound
    case .notAllowed: throw .notAllowed(permission)
    case .unavailable: throw .unavailable(error)
    }
  }

  /// Returns the field errors of the support rules form.
  ///
  /// - Throws: A ``Refusal`` for errors that don't belong to a field.
  static func faults(
    _ error: SupportRulesError, _ times: Times, _ permission: Permission
  ) throws(Refusal) -> [FieldError] {
    switch error {
    case .answers(let faults): return faults.map { field($0, times) }
    // The page shows this in place of its form.
    case .noSecondFactor: return []
    case .notAllowed: throw .notAllowed(permission)
    case .scopeNotFound: throw .notFound
    case .unavailable: throw .unavailable(error)
    }
  }

  /// Returns what is wrong with a field and how to fix it.
  static func field(_ fault: ActionInputError, _ times: Times) -> FieldError {
    let (field, text): (String, any MessageConvertible) =
      switch fault {
      case .untilOutOfRange:
        ("until", "Choose a date in the future, at most \(Support.longestSuspension) days away.")
      case .nameRequired: ("name", "Enter a name, such as the phone’s model.")
      case .nameTooLong: ("name", "Shorten the name to \(Factor.longestName) characters.")
      case .reasonRequired: ("reason", "Choose a reason.")
      case .proofMissing: ("proof", "Confirm every identity check. If you can’t, don’t continue.")
      case .ticketTooLong:
        ("ticket", "Shorten the ticket to one line of \(ActionRequest.longestTicket) characters.")
      case .noteRequired: ("note", "Enter a note that explains the reason.")
      case .noteTooLong:
        ("note", "Shorten the note to \(Words.number(ActionRequest.longestNote)) characters.")
      case .writtenReasonRequired: ("note", "Enter the reason.")
      case .emptyNote: ("note", "Enter a note.")
      case .notConfirmed: ("confirmation", "Enter the confirmation.")
      case .answerRequired: ("answer", "Enter a reason for the requester.")
      case .answerTooLong:
        (
          "answer", "Shorten the reason to \(Words.number(Approval.longestAnswer)) characters."
        )
      case .outOfRange(let range): (range.fault.field, range.fault.text)
      case .ownerRequired(let range):
        (
          range.fault.field,
          "Only \(Permission.protectUsers.holder) can raise or remove this limit."
        )
      case .codeRequired:
        (
          "code",
          "Enter a code from your authenticator app. It’s been too long since your last one."
        )
      case .codeNotLookedAt:
        (
          "code",
          "Enter the code again. It wasn’t checked, so it’s neither used nor counted as an attempt."
        )
      case .wrongCode:
        ("code", "This code is incorrect or was already used. Wait for the next one.")
      case .throttled(let until):
        ("code", "Too many incorrect codes. Try again after \(times.words(until)).")
      }
    return FieldError(field: field, text: text)
  }

  /// Returns the sentence that a page shows in place of its form.
  static func sentence(_ error: ActionDenial) -> String {
    switch error {
    case .noSecondFactor:
      "You don’t have a second factor. Set one up in your account first."
    case .ownAccount:
      "This account has your own address. Ask another administrator to act on it."
    case .ownRemoval:
      "You removed this yourself. Another administrator can restore it."
    case .nothingToDo:
      "No changes to make."
    case .protectedAccount:
      "This account is protected. Only \(Permission.protectUsers.holder) can act on it."
    case .changesLocked:
      "The user reported a change to their second factors that they didn’t make. \(Words.sentence(Permission.protectUsers.holder)) must review the report before anything can be changed."
    case .held:
      "You’ve reached the hourly action limit. \(Words.sentence(Permission.protectUsers.holders)) see this on their start page and can unblock you."
    case .alreadyAsked:
      "A removal for this user is already pending approval. See Approvals."
    case .switchedOff:
      "This feature is off. \(Words.sentence(Permission.editSupportRules.holder)) can turn it on in Support rules."
    case .noAuthenticator:
      "This user doesn’t have an authenticator app. Temporary codes require one."
    case .noCodes: "These codes no longer exist."
    case .enrollment(let error): EnrollmentWords.sentence(error)
    case .userDisabled:
      "This user is disabled. Enable the account first."
    default: "This action isn’t available."
    }
  }
}
