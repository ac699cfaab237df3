import Identity
import Localization

enum ActionErrorText {
  /// Returns the field errors for a denied action, in the order of the form.
  ///
  /// `confirmation` is the error of the field that confirms the user or the number of users.
  ///
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
    case .noSecondFactor, .ownAccount, .ownRemoval, .ownExemption, .protectedAccount,
      .changesLocked, .factorsNeedApproval, .callerUnverifiable, .held, .nothingToDo, .alreadyAsked,
      .switchedOff,
      .noAuthenticator, .noCodes,
      .enrollment,
      .userDisabled, .factorEnrolled:
      return [FieldError(field: "reason", text: sentence(error))]
    case .tooManyCallerCodes(let until):
      let text = Message("support.too-many-caller-codes", ["time": times.value(until)])
      return [FieldError(field: "caller-code", text: text)]
    case .accountNotFound, .factorNotFound, .notAllowed, .sessionEnded, .unavailable:
      throw Refusal(error, permission)
    }
  }

  /// - Throws: A ``Refusal`` for errors that don't belong to a field.
  static func faults(
    _ error: SupportRulesError, _ times: Times, _ permission: Permission
  ) throws(Refusal) -> [FieldError] {
    switch error {
    case .answers(let faults): return faults.map { field($0, times) }
    // The page shows these in place of its form, and above it.
    case .noSecondFactor, .changedMeanwhile: return []
    case .notAllowed: throw .notAllowed(permission)
    case .sessionEnded: throw .sessionEnded
    case .scopeNotFound: throw .notFound
    case .unavailable: throw .unavailable(error)
    }
  }

  static func field(_ fault: ActionInputError, _ times: Times) -> FieldError {
    let (field, text): (String, Message) =
      switch fault {
      case .untilOutOfRange:
        (
          "until",
          Message("support.until-out-of-range", ["count": .number(Support.longestSuspension)])
        )
      case .nameRequired: ("name", Message("support.factor-name-required"))
      case .nameTooLong:
        ("name", Message("support.factor-name-too-long", ["count": .number(Factor.longestName)]))
      case .reasonRequired: ("reason", Message("support.reason-required"))
      case .proofMissing: ("proof", Message("support.proof-missing"))
      case .callerCodeRequired: ("caller-code", Message("support.caller-code-required"))
      case .callerCodeMalformed: ("caller-code", Message("support.caller-code-malformed"))
      case .callerCodeWrong(let left):
        ("caller-code", Message("support.caller-code-wrong", ["count": .number(left)]))
      case .callerCodeExpired: ("caller-code", Message("support.caller-code-expired"))
      case .ticketTooLong:
        (
          "ticket",
          Message("support.ticket-too-long", ["count": .number(ActionRequest.longestTicket)])
        )
      case .noteRequired: ("note", Message("support.note-required"))
      case .noteTooLong:
        ("note", Message("support.note-too-long", ["count": .number(ActionRequest.longestNote)]))
      case .writtenReasonRequired: ("note", Message("support.written-reason-required"))
      case .notConfirmed: ("confirmation", Message("support.confirmation-required"))
      case .answerRequired: ("answer", Message("support.answer-required"))
      case .answerTooLong:
        ("answer", Message("support.answer-too-long", ["count": .number(Approval.longestAnswer)]))
      case .outOfRange(let range): (range.fault.field, range.fault.text)
      case .ownerRequired(let range):
        (
          range.fault.field,
          Message(
            "support.limit-requires-holder", ["holder": .message(Permission.protectUsers.holder)])
        )
      case .codeRequired: ("code", Message("support.code-required"))
      case .passkeyRequired:
        (ActionFields.blockedField, Message("authorization.passkey-first"))
      case .providerRequired:
        (ActionFields.blockedField, Message("authorization.provider-first"))
      case .codeNotLookedAt: ("code", Message("support.code-not-checked"))
      case .wrongCode: ("code", Message("support.code-incorrect"))
      case .usedCode: ("code", CodeFault.used)
      case .throttled(let until):
        ("code", Message("support.code-throttled", ["time": times.value(until)]))
      }
    return FieldError(field: field, text: text)
  }

  /// Returns the sentence that a page shows in place of its form.
  static func sentence(_ error: ActionDenial) -> Message {
    switch error {
    case .noSecondFactor: Message("support.no-second-factor")
    case .ownAccount: Message("support.own-account")
    case .ownRemoval: Message("support.own-removal")
    case .ownExemption: Message("support.own-exemption")
    case .nothingToDo: Message("support.nothing-to-do")
    case .protectedAccount:
      Message("support.account-protected", ["holder": .message(Permission.protectUsers.holder)])
    case .changesLocked:
      Message(
        "support.changes-locked", ["holder": .message(Permission.protectUsers.startingHolder)])
    case .held:
      Message("support.agent-held", ["holders": .message(Permission.protectUsers.startingHolders)])
    case .alreadyAsked: Message("support.already-asked")
    case .factorEnrolled: Message("support.factor-enrolled")
    case .switchedOff:
      Message(
        "support.switched-off", ["holder": .message(Permission.editSupportRules.startingHolder)])
    case .noAuthenticator: Message("support.no-authenticator")
    case .noCodes: Message("support.no-codes")
    case .factorsNeedApproval: Message("support.factors-need-approval")
    case .callerUnverifiable: Message("support.caller-unverifiable")
    case .enrollment(let error): EnrollmentText.sentence(error)
    case .userDisabled: Message("support.user-disabled")
    default: Message("support.action-unavailable")
    }
  }
}
