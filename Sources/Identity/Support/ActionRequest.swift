public import Text

public struct ActionRequest: Sendable {
  public var agent: ConsoleSession
  public var author: Author
  /// The reason; an action without one is rejected.
  public var reason: SupportReason?
  /// Details, at most ``longestNote`` characters; required if the reason is "other".
  public var note: String
  /// The ticket, at most ``longestTicket`` characters; may be empty.
  public var ticket: String
  /// The identity checks that are confirmed.
  public var proofs: Set<UntrustedText>
  /// The code that the caller read back; empty if there is none.
  public var callerCode: String
  public var proof: ReauthenticationProof
  /// The confirmation that the agent typed; only for irreversible actions.
  public var typed: String

  /// The maximum length of a note, in characters.
  public static let longestNote = 1_000
  /// The maximum length of a ticket, in characters.
  public static let longestTicket = 100

  public init(
    agent: ConsoleSession, author: Author, reason: SupportReason? = nil, note: String = "",
    ticket: String = "", proofs: Set<UntrustedText> = [], callerCode: String = "",
    proof: ReauthenticationProof = .none, typed: String = ""
  ) {
    self.agent = agent
    self.author = author
    self.reason = reason
    self.note = note.trimmed
    self.ticket = ticket.trimmed
    self.proofs = proofs
    self.callerCode = callerCode.trimmed
    self.proof = proof
    self.typed = typed.trimmed
  }
}

public struct ActionOutcome<Value: Sendable>: Sendable {
  public let value: Value
  /// The renewed session if the agent re-authenticated, which the browser needs as a new cookie.
  public let renewed: NewConsoleSession?

  public init(value: Value, renewed: NewConsoleSession?) {
    self.value = value
    self.renewed = renewed
  }
}

/// A completed action with its single audit log entry.
struct CompletedAction<Value: Sendable> {
  let entry: AuditEntry
  let value: Value
}

public enum ActionDenial: Error, Sendable {
  case accountNotFound
  case factorNotFound
  /// The account has a factor that it didn't have when the agent decided to remove all of them.
  case factorEnrolled
  /// The validation errors in what the agent entered, in the order of the form.
  case answers([ActionInputError])
  case noSecondFactor
  /// The account has the agent's own email on file.
  case ownAccount
  /// Only owners can act on this account.
  case protectedAccount
  /// The user reported a change as unauthorized, so nothing can be changed until an owner has
  /// reviewed the report.
  case changesLocked
  /// Removing the account's second factors requires a second administrator, so they have to be removed
  /// before the account is deleted.
  case factorsNeedApproval
  /// The agent removed the factor themselves; another administrator has to restore it.
  case ownRemoval
  /// The agent granted the user's last exemption; another administrator has to grant the next one.
  case ownExemption
  /// The requested state is already in effect.
  case nothingToDo
  /// A removal for this account already has a pending approval.
  case alreadyAsked
  /// The agent hit the hourly action limit; an owner has to unblock them.
  case held
  case switchedOff
  /// The account has no authenticator app that a code could replace.
  case noAuthenticator
  /// A verified caller is required, and the account has no verified email address for a code.
  case callerUnverifiable
  /// Too many codes for callers were sent to the user or by the agent; retry after this time.
  case tooManyCallerCodes(until: Instant)
  case noCodes
  case enrollment(EnrollmentError)
  /// The account is disabled, or sign-in is disabled for its pool.
  case userDisabled
  case notAllowed
  case sessionEnded
}
