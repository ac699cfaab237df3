import Identity

/// What the desk refuses, as errors beside fields.
enum ActionErrorText {
  /// The errors of the fields of a form, all at once and in its order.
  ///
  /// `confirmation` is the error of the field in which who is meant, or how many, is typed.
  ///
  /// - Throws: The refusal of what no field can mend.
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

  /// The errors of the forms about the desk itself.
  ///
  /// - Throws: The refusal of what no field can mend.
  static func faults(
    _ error: SupportRulesError, _ times: Times, _ permission: Permission
  ) throws(Refusal) -> [FieldError] {
    switch error {
    case .answers(let faults): return faults.map { field($0, times) }
    // The page says it in the place of its form.
    case .noSecondFactor: return []
    case .notAllowed: throw .notAllowed(permission)
    case .scopeNotFound: throw .notFound
    case .unavailable: throw .unavailable(error)
    }
  }

  /// What is wrong with an answer, and what would be right.
  static func field(_ fault: ActionInputError, _ times: Times) -> FieldError {
    let (field, text) =
      switch fault {
      case .untilOutOfRange:
        ("until", "Choose an end in the future, at most \(Support.longestSuspension) days away.")
      case .nameRequired: ("name", "Write a name, such as the phone’s model.")
      case .nameTooLong: ("name", "Shorten the name to \(Factor.longestName) characters.")
      case .reasonRequired: ("reason", "Choose the reason that fits best.")
      case .proofMissing: ("proof", "Make sure of each of these and tick it, or end the call.")
      case .ticketTooLong:
        ("ticket", "Shorten the ticket to one line of \(ActionRequest.longestTicket) characters.")
      case .noteRequired: ("note", "Say in the note what the other reason is.")
      case .noteTooLong:
        ("note", "Shorten the note to \(Words.number(ActionRequest.longestNote)) characters.")
      case .writtenReasonRequired: ("note", "Write the reason in a sentence.")
      case .emptyNote: ("note", "Write the note first.")
      case .notConfirmed: ("confirmation", "Type who is meant.")
      case .answerRequired: ("answer", "Say why, in a sentence for the requester.")
      case .answerTooLong:
        (
          "answer", "Shorten the sentence to \(Words.number(Approval.longestAnswer)) characters."
        )
      case .outOfRange(let range): (range.fault.field, range.fault.text)
      case .ownerRequired(let range):
        (range.fault.field, "Only an owner can raise or remove this limit.")
      case .codeRequired:
        ("code", "Type a code of your own authenticator; the last one was too long ago.")
      case .codeNotLookedAt:
        (
          "code",
          "Type a code again: the one you gave was not looked at, so it is neither used nor counted."
        )
      case .wrongCode:
        ("code", "This is no code of yours, or it was used before. Wait for the next one.")
      case .throttled(let until):
        ("code", "Too many wrong codes. Type the next one after \(times.words(until)).")
      }
    return FieldError(field: field, text: text)
  }

  /// Why whoever looks at an account cannot act on it, as the gate will say too.
  static func refusal(_ account: Account, _ context: ScopeContext) -> ActionDenial? {
    if account.hasOnFile(context.signedIn.administrator.email) { return .ownAccount }
    if account.isProtected, !context.may(.protectUsers) { return .protectedAccount }
    return account.changesLockedAt == nil ? nil : .changesLocked
  }

  /// Why an agent may not act at all, for a page that then asks for nothing.
  static func sentence(_ error: ActionDenial) -> String {
    switch error {
    case .noSecondFactor:
      "You have no second factor of your own. Set one up in your account first."
    case .ownAccount:
      "This account has your own address. Ask a colleague to act on it."
    case .ownRemoval:
      "You removed it yourself. Another administrator can restore it."
    case .nothingToDo:
      "It is so already: there is nothing to do."
    case .protectedAccount:
      "This account is protected. Only an owner can act on it."
    case .changesLocked:
      "The user said that a change of their second factors was none of theirs. An owner has to look at it before anything is changed."
    case .held:
      "You have done as much in an hour as this place allows. An owner sees it on their first page and can release you."
    case .alreadyAsked:
      "A removal for this user waits for a second administrator already. It stands under Approvals."
    case .switchedOff:
      "This is switched off here. Policy admins and owners can switch it on, in the rules of the support."
    case .noAuthenticator:
      "This user has no authenticator app that a code could stand in for."
    case .noCodes: "There are no such codes any more."
    case .enrollment(let error): EnrollmentWords.sentence(error)
    case .userDisabled:
      "This user may not sign in at present. Enable the account first."
    default: "This cannot be done."
    }
  }
}
