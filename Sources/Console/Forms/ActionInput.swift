import HTTP
import Identity
import Localization
import OTP
import Text

struct ActionInput: Sendable {
  /// The fields with the codes of a user's device, which no form keeps.
  static let deviceCodes = ["first-code", "second-code"]
  /// The code field of the rejection form of an approval; the approval form on the same page has its
  /// own.
  static let refusalCode = "refusal-code"

  var reason = ""
  var note = ""
  var ticket = ""
  var proofs: Set<UntrustedText> = []
  /// The code that the caller read back, as typed.
  var callerCode = ""
  /// The email address, UID, or number of users that confirms an action that can't be undone.
  var confirmation = ""
  /// The agent's authenticator code; never shown again in the form.
  var code: TypedCode = ""

  init() {}

  init(_ form: Form) {
    reason = form.trimmed("reason")
    note = form.trimmed("note")
    ticket = form.trimmed("ticket")
    proofs = Set(form.all("proof"))
    callerCode = form.trimmed("caller-code")
    confirmation = form.trimmed("confirmation")
    code = form.code("code")
  }

  func request(_ signedIn: SignedIn) -> ActionRequest {
    ActionRequest(
      agent: signedIn.session, author: signedIn.author, reason: SupportReason(rawValue: reason),
      note: note, ticket: ticket, proofs: proofs, callerCode: TypedCode(callerCode),
      proof: .code(code), typed: confirmation)
  }
}

enum ActionErrorText {
  /// Returns the field errors for a denied action, in the order of the form.
  ///
  /// `confirmation` is the error of the field that confirms the user or the number of users.
  ///
  /// - Throws: A ``Refusal`` for errors that don't belong to a field.
  static func faults(
    _ error: ActionDenial, _ times: Times, _ permission: Permission = .removeFactors,
    confirmation: FieldError? = nil
  ) throws -> [FieldError] {
    switch error {
    case .answers(let faults):
      return faults.map { fault in
        fault == .notConfirmed ? confirmation ?? field(fault, times) : field(fault, times)
      }
    case .noSecondFactor, .ownAccount, .ownRemoval, .ownExemption, .protectedAccount,
      .changesLocked, .factorsNeedApproval, .callerUnverifiable, .held, .nothingToDo, .alreadyAsked,
      .switchedOff,
      .noAuthenticator, .noCodes, .codesLocked, .factorsSuspended, .clockDoubted,
      .enrollment,
      .userDisabled, .factorEnrolled, .existsElsewhere, .changeUnderWay, .connectionStopped:
      return [FieldError(field: "reason", text: sentence(error))]
    case .tooManyCallerCodes(let until):
      let text = Message(
        "Too many codes were sent. Try again after {time}.", ["time": times.value(until)])
      return [FieldError(field: "caller-code", text: text)]
    case .accountNotFound, .factorNotFound, .notAllowed, .notOffered, .sessionEnded:
      throw Refusal.of(error, permission)
    }
  }

  /// The page of settings shows in place of its form that a second factor is missing.
  static func settingsFaults(
    _ error: ActionDenial, _ times: Times, _ permission: Permission
  ) throws -> [FieldError] {
    if case .noSecondFactor = error { [] } else { try faults(error, times, permission) }
  }

  static func field(_ fault: ActionInputError, _ times: Times) -> FieldError {
    FieldError(field: field(of: fault), text: text(fault, times))
  }

  private static func field(of fault: ActionInputError) -> String {
    switch fault {
    case .untilOutOfRange: "until"
    case .nameRequired, .nameTooLong: "name"
    case .firstCodeMalformed: "first-code"
    case .secondCodeMalformed: "second-code"
    case .reasonRequired: "reason"
    case .proofMissing: "proof"
    case .callerCodeRequired, .callerCodeMalformed, .callerCodeWrong, .callerCodeExpired:
      "caller-code"
    case .ticketTooLong: "ticket"
    case .noteRequired, .noteTooLong, .writtenReasonRequired: "note"
    case .notConfirmed: "confirmation"
    case .answerRequired, .answerTooLong: "answer"
    case .outOfRange(let range), .ownerRequired(let range): range.fault.field
    case .passkeyRequired, .providerRequired: ActionFields.blockedField
    case .codeRequired, .codeNotLookedAt, .wrongCode, .usedCode, .throttled: "code"
    }
  }

  private static func text(_ fault: ActionInputError, _ times: Times) -> Message {
    switch fault {
    case .untilOutOfRange:
      Message(
        one: "Choose a date in the future, at most {count} day away.",
        other: "Choose a date in the future, at most {count} days away.",
        ["count": .number(Support.longestSuspension)])
    case .nameRequired: Message("Enter a name, such as the phone’s model.")
    case .nameTooLong:
      Message(
        one: "Shorten the name to {count} character.",
        other: "Shorten the name to {count} characters.", ["count": .number(Factor.longestName)])
    case .firstCodeMalformed: Message("Enter the six digits of the first code.")
    case .secondCodeMalformed: Message("Enter the six digits of the next code.")
    case .reasonRequired: Message("Choose a reason.")
    case .proofMissing: Message("Confirm every identity check. If you can’t, don’t continue.")
    case .callerCodeRequired:
      Message(
        """
        Send a code, and enter what the caller reads to you. If they can’t read it, don’t \
        continue.
        """)
    case .callerCodeMalformed: Message("Enter the eight digits that the caller reads to you.")
    case .callerCodeWrong(let left):
      Message(
        one: "Incorrect code. You have {count} try left.",
        other: "Incorrect code. You have {count} tries left.", ["count": .number(left)])
    case .callerCodeExpired: Message("This code is no longer valid. Send another one.")
    case .ticketTooLong:
      Message(
        one: "Shorten the ticket to one line of {count} character.",
        other: "Shorten the ticket to one line of {count} characters.",
        ["count": .number(ActionRequest.longestTicket)])
    case .noteRequired: Message("Enter a note that explains the reason.")
    case .noteTooLong:
      Message(
        one: "Shorten the note to {count} character.",
        other: "Shorten the note to {count} characters.",
        ["count": .number(ActionRequest.longestNote)])
    case .writtenReasonRequired: Message("Enter a reason.")
    case .notConfirmed: Message("Enter the confirmation.")
    case .answerRequired: Message("Enter a reason for rejecting the request.")
    case .answerTooLong:
      Message(
        one: "Shorten the reason to {count} character.",
        other: "Shorten the reason to {count} characters.",
        ["count": .number(Approval.longestAnswer)])
    case .outOfRange(let range): range.fault.text
    case .ownerRequired:
      Message(
        "Changing this requires the {roles} role.", ["roles": Permission.protectUsers.roleNames])
    case .codeRequired(let minutes):
      Message(
        one: """
          Enter a code from your authenticator app. Your last code was more than {count} \
          minute ago.
          """,
        other: """
          Enter a code from your authenticator app. Your last code was more than {count} \
          minutes ago.
          """, ["count": .number(minutes)])
    case .passkeyRequired: passkeyFirst
    case .providerRequired: Message("Confirm your identity to continue.")
    case .codeNotLookedAt:
      Message("Enter the code again. It wasn’t checked, so you can still use it.")
    case .wrongCode: Message("This code is incorrect or was already used. Wait for the next one.")
    case .usedCode: CodeFault.used
    case .throttled(let until):
      Message("Too many incorrect codes. Try again after {time}.", ["time": times.value(until)])
    }
  }

  static let passkeyFirst = Message(
    """
    This action requires recent re-authentication. Use your passkey first, then submit the form.
    """)

  /// Returns the sentence that a page shows in place of its form.
  static func sentence(_ error: ActionDenial) -> Message {
    switch error {
    case .noSecondFactor:
      Message("You don’t have a second factor. Set one up in your account first.")
    case .ownAccount:
      Message("This account has your email address. Ask another administrator to act on it.")
    case .ownRemoval:
      Message("You removed this yourself. Only another administrator can restore it.")
    case .ownExemption:
      Message(
        "You granted this user’s last exemption. Another administrator can grant the next one.")
    case .nothingToDo: Message("No changes to make.")
    case .protectedAccount:
      Message(
        "This account is protected. Actions on it require the {roles} role.",
        ["roles": Permission.protectUsers.roleNames])
    case .changesLocked:
      Message(
        """
        The user reported a change that they didn’t make. Nothing can be changed until the report is \
        reviewed, which requires the {roles} role.
        """, ["roles": Permission.protectUsers.roleNames])
    case .held:
      Message(
        """
        You’re blocked because you reached the hourly action limit. Waiting doesn’t end the block. \
        Unblocking you on the Projects page requires the {roles} role.
        """, ["roles": Permission.protectUsers.roleNames])
    case .alreadyAsked:
      Message("A removal for this user is already pending approval. See Approvals.")
    case .factorEnrolled:
      Message(
        """
        The user has enrolled another factor since you opened this page. Check which factors are \
        removed, and submit the form again.
        """)
    case .switchedOff:
      Message(
        "This feature is off. Turning it on in Support rules requires the {roles} role.",
        ["roles": Permission.editSupportRules.roleNames])
    case .noAuthenticator:
      Message("This user doesn’t have an authenticator app, which this requires.")
    case .noCodes: Message("These codes no longer exist.")
    case .codesLocked: Message("This user’s codes are locked. Unlock them first.")
    case .factorsSuspended:
      Message("A factor of this user is suspended. End the suspension first.")
    case .clockDoubted:
      Message("The server’s clock may be wrong, so codes can’t be compared with it now.")
    case .factorsNeedApproval:
      Message(
        """
        A second administrator has to approve the removal of this user’s second factors. Remove the \
        factors first, and then delete the user.
        """)
    case .callerUnverifiable:
      Message(
        """
        The support rules require a code that the caller reads from their email, and this user has \
        no verified email address. You can request the removal of second factors, which a second \
        administrator has to approve.
        """)
    case .enrollment(let error): EnrollmentText.sentence(error)
    case .userDisabled: Message("This user is disabled. Enable the account first.")
    case .existsElsewhere:
      Message(
        """
        Delete the user at the server of the connected project first. Here, they’re gone after the \
        next walk.
        """)
    case .changeUnderWay:
      Message("Another change is on its way to the server of the users. Wait until it’s over.")
    case .connectionStopped:
      Message("The project’s connection is paused or was ended, so nothing can be changed.")
    default: Message("This action isn’t available.")
    }
  }
}

/// Explains to support agents why a user can't enroll an authenticator app.
enum EnrollmentText {
  static func sentence(_ error: EnrollmentError) -> Message {
    switch error {
    case .totpNotEnabled: Message("TOTP is off, so users can’t set up an authenticator app.")
    case .unverifiedEmail:
      Message("This user’s email isn’t verified, so links can’t be sent to it.")
    case .alreadyEnrolled:
      Message(
        "This user already has an authenticator app. If the device is lost, remove the app first.")
    case .tooManyFactors:
      Message(
        one: "This user has reached the limit of {count} second factor.",
        other: "This user has reached the limit of {count} second factors.",
        ["count": .number(Enrollments.mostPhones)])
    case .unsupportedFirstFactor:
      Message(
        """
        This user can sign in only by phone, and phone sign-in doesn’t support a second factor. \
        Enable another sign-in method first.
        """)
    case .changesLocked: ActionErrorText.sentence(.changesLocked)
    default: Message("This user can’t set up an authenticator app right now.")
    }
  }
}

enum CodeFault {
  static let used = Message(
    """
    This code was already used. Wait for the next one. If you didn’t use it, replace your \
    authenticator app, and change your password if you have one.
    """)

  static func tooManyCodes(
    in field: String = "code", until: Instant, at now: Instant
  ) -> FieldError {
    let wait = until.wait(at: now)
    let length = Message.Value.message(Formatted.duration(seconds: Int(wait)))
    return FieldError(
      field: field,
      text: Message("Too many incorrect codes. Try again in {wait}.", ["wait": length]), wait: wait)
  }

  static func tooManyPasswords(
    in field: String = "password", until: Instant, at now: Instant
  ) -> FieldError {
    let wait = until.wait(at: now)
    let length = Message.Value.message(Formatted.duration(seconds: Int(wait)))
    return FieldError(
      field: field,
      text: Message("Too many incorrect passwords. Try again in {wait}.", ["wait": length]),
      wait: wait)
  }
}
