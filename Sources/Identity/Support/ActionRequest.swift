public import Text

/// What an agent gives with an action on a user's account.
public struct ActionRequest: Sendable {
  /// Who acts, in which session.
  public var agent: ConsoleSession
  /// The same as audit rows name them.
  public var author: Author
  /// Why; an action without one is refused.
  public var reason: SupportReason?
  /// More about it, at most ``longestNote`` characters; needed when the reason is "other".
  public var note: String
  /// The ticket it is about, at most ``longestTicket`` characters; may be empty.
  public var ticket: String
  /// The lines of the pool's identity proof that are ticked.
  public var proofs: Set<UntrustedText>
  /// What the agent re-authenticates with.
  public var proof: ReauthenticationProof
  /// Who is meant, as the agent typed it; only for what cannot be taken back.
  public var typed: String

  /// The longest note, in characters.
  public static let longestNote = 1_000
  /// The longest ticket, in characters.
  public static let longestTicket = 100

  /// Puts a request together.
  public init(
    agent: ConsoleSession, author: Author, reason: SupportReason? = nil, note: String = "",
    ticket: String = "", proofs: Set<UntrustedText> = [],
    proof: ReauthenticationProof = .none, typed: String = ""
  ) {
    self.agent = agent
    self.author = author
    self.reason = reason
    self.note = note.trimmed
    self.ticket = ticket.trimmed
    self.proofs = proofs
    self.proof = proof
    self.typed = typed.trimmed
  }
}

/// What came of an action.
public struct ActionOutcome<Value: Sendable>: Sendable {
  /// What was done.
  public let value: Value
  /// The session under its new name, when the agent gave a code for it; the browser has to be told.
  public let renewed: NewConsoleSession?

  /// Makes an outcome.
  public init(value: Value, renewed: NewConsoleSession?) {
    self.value = value
    self.renewed = renewed
  }
}

/// What an agent did, for the one row that the log gets.
struct SupportAction<Value: Sendable> {
  let entry: AuditEntry
  let value: Value
}

/// Why an action is refused.
public enum ActionDenial: Error, Sendable {
  /// No such account.
  case accountNotFound
  /// The account has no such factor, or not any more.
  case factorNotFound
  /// What is missing or wrong of what the agent has filled in: all of it, in the order of the form.
  case answers([ActionInputError])
  /// The agent has no second factor of their own.
  case noSecondFactor
  /// The account has the agent's own address on file.
  case ownAccount
  /// Only owners act on this account.
  case protectedAccount
  /// The user said that a change was none of theirs, so nobody changes anything until an owner has
  /// looked at it.
  case changesLocked
  /// The agent removed the factor themselves; another administrator has to restore it.
  case ownRemoval
  /// It is so already.
  case nothingToDo
  /// A removal for this account waits for a second administrator already.
  case alreadyAsked
  /// The agent did too much in an hour; an owner has to release them.
  case held
  /// The pool has this switched off.
  case switchedOff
  /// The account has no authenticator app that a code could stand in for.
  case noAuthenticator
  /// There are no codes that could be ended.
  case noCodes
  /// The account cannot have another authenticator app, and why.
  case enrollment(EnrollmentError)
  /// The account may not sign in, or nobody of its pool may.
  case userDisabled
  /// The session is over, or may not do this any more.
  case notAllowed
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension ActionDenial: UseCaseError {}
