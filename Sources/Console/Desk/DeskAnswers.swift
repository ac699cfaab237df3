import HTTP
import Identity

/// What an agent has typed into a form of the desk.
struct DeskAnswers: Sendable {
  var reason = ""
  var note = ""
  var ticket = ""
  var proofs: Set<String> = []
  /// Never shown again.
  var code = ""

  /// An empty form.
  init() {}

  init(_ form: Form) {
    reason = form.trimmed("reason")
    note = form.trimmed("note")
    ticket = form.trimmed("ticket")
    proofs = Set(form.all("proof"))
    code = form.trimmed("code")
  }

  /// The same for Identity.
  func request(_ signedIn: SignedIn) -> DeskRequest {
    DeskRequest(
      agent: signedIn.session, author: signedIn.author, reason: DeskReason(rawValue: reason),
      note: note, ticket: ticket, proofs: proofs, code: code)
  }
}

/// What the desk refuses, as errors beside fields.
enum DeskFaults {
  /// The error of a field of the form.
  ///
  /// - Throws: The refusal of what no field can mend.
  static func fault(
    _ error: DeskError, _ times: Times, _ permission: Permission = .removeFactors
  ) throws(Refusal) -> FieldError {
    switch error {
    case .reasonRequired:
      return FieldError(field: "reason", text: "Choose the reason that fits best.")
    case .noteRequired:
      return FieldError(field: "note", text: "Say in the note what the other reason is.")
    case .noteTooLong:
      return FieldError(
        field: "note",
        text: "Shorten the note to \(Words.number(DeskRequest.longestNote)) characters.")
    case .ticketTooLong:
      return FieldError(
        field: "ticket",
        text: "Shorten the ticket to one line of \(DeskRequest.longestTicket) characters.")
    case .proofMissing:
      return FieldError(
        field: "proof", text: "Make sure of each of these and tick it, or end the call.")
    case .codeRequired:
      return FieldError(
        field: "code",
        text: "Type a code of your own authenticator; the last one was too long ago.")
    case .wrongCode:
      return FieldError(
        field: "code",
        text: "This is no code of yours, or it was used before. Wait for the next one.")
    case .throttled(let until):
      return FieldError(
        field: "code",
        text: "Too many wrong codes. Type the next one after \(times.words(until)).")
    case .untilOutOfRange:
      return FieldError(
        field: "until",
        text: "Choose an end in the future, at most \(Desk.longestSuspension) days away.")
    case .emptyNote:
      return FieldError(field: "note", text: "Write the note first.")
    case .noSecondFactor, .ownAccount, .ownRemoval, .protectedAccount, .changesLocked, .held,
      .nothingToDo, .alreadyAsked, .switchedOff, .noAuthenticator, .noCodes, .enrolment,
      .userDisabled:
      return FieldError(field: "reason", text: sentence(error))
    case .accountNotFound, .factorNotFound: throw .notFound
    case .notAllowed: throw .notAllowed(permission)
    case .unavailable: throw .unavailable(error)
    }
  }

  /// Why whoever looks at an account cannot act on it, as the gate will say too.
  static func refusal(_ account: Account, _ context: ScopeContext) -> DeskError? {
    if account.hasOnFile(context.signedIn.administrator.email) { return .ownAccount }
    if account.isProtected, !context.may(.protectUsers) { return .protectedAccount }
    return account.changesLockedAt == nil ? nil : .changesLocked
  }

  /// Why an agent may not act at all, for a page that then asks for nothing.
  static func sentence(_ error: DeskError) -> String {
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
      "This is switched off here. Policy admins and owners can switch it on, in the rules of the desk."
    case .noAuthenticator:
      "This user has no authenticator app that a code could stand in for."
    case .noCodes: "There are no such codes any more."
    case .enrolment(let error): EnrolmentWords.sentence(error)
    case .userDisabled:
      "This user may not sign in at present. Enable the account first."
    default: "This cannot be done."
    }
  }
}
