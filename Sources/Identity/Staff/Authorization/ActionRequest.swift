public import Database
public import OTP
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
  public var callerCode: TypedCode
  public var proof: ReauthenticationProof
  /// The confirmation that the agent typed; only for irreversible actions.
  public var typed: String

  /// The maximum length of a note, in characters.
  public static let longestNote = 1_000
  /// The maximum length of a ticket, in characters.
  public static let longestTicket = 100

  public init(
    agent: ConsoleSession, author: Author, reason: SupportReason? = nil, note: String = "",
    ticket: String = "", proofs: Set<UntrustedText> = [], callerCode: TypedCode = "",
    proof: ReauthenticationProof = .none, typed: String = ""
  ) {
    self.agent = agent
    self.author = author
    self.reason = reason
    self.note = note.trimmed
    self.ticket = ticket.trimmed
    self.proofs = proofs
    self.callerCode = callerCode
    self.proof = proof
    self.typed = typed.trimmed
  }
}

public struct ActionOutcome<Value: Sendable>: Sendable {
  public let value: Value
  /// The renewed session if the agent re-authenticated, which the browser needs as a new cookie.
  public let renewed: NewConsoleSession?
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
  /// The user's codes are blocked or locked after incorrect ones, and have to be unlocked first.
  case codesLocked
  /// A second factor of the user is suspended.
  case factorsSuspended
  /// The user is still at the server of the connected project.
  case existsElsewhere
  /// The server's clock may be wrong.
  case clockDoubted
  case enrollment(EnrollmentError)
  /// The account is disabled, or sign-in is disabled for its pool.
  case userDisabled
  /// Another change of the user or the policy is on its way to the server of the connected project.
  case changeUnderWay
  /// The connection of the project is paused, or the project was disconnected.
  case connectionStopped
  /// The kind of pool doesn't have what the action needs.
  case notOffered(Capability)
  case notAllowed
  case sessionEnded
}

/// A validation error in what an agent entered.
///
/// All errors are reported together, because the agent may have the user on the phone.
public enum ActionInputError: Sendable, Equatable {
  /// The end of the suspension isn't within the allowed range.
  case untilOutOfRange
  case nameRequired
  case nameTooLong
  /// The earlier of two consecutive codes isn't a code; it isn't counted as a try.
  case firstCodeMalformed
  case secondCodeMalformed
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
  /// Re-authentication is required because the agent's last code is older than the interval.
  case codeRequired(minutes: Int)
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
      .callerCodeMalformed, .callerCodeWrong, .callerCodeExpired, .firstCodeMalformed,
      .secondCodeMalformed:
      true
    default: false
    }
  }
}

extension ActionRequest {
  /// The request for an action that has no reason, whose fields nothing checks.
  var withoutReason: ActionRequest {
    var request = self
    (request.reason, request.note, request.ticket) = (nil, "", "")
    return request
  }

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

public enum SupportReason: String, CaseIterable, Sendable, SQLConvertible {
  case lost
  case stolen
  /// Someone else may have the secret or the codes.
  case compromised
  /// The user has a new device.
  case replaced
  /// Codes are rejected, although the user has the device.
  case locked
  /// The user is leaving.
  case left
  /// The lost device was found.
  case found
  case mistake
  /// The user requested it.
  case asked
  /// The user sets up a second factor for the first time.
  case enrollment
  /// The user proved that an email address is theirs.
  case confirmed
  /// The user requested a copy of their data or its erasure.
  case dataRequest = "data-request"
  /// A theft, a compromise, or a reported change was investigated.
  case resolved
  /// Another reason, described in the note.
  case other

  /// Whether someone else may have what is removed, so that it must never be restored.
  public var isHostile: Bool { self == .stolen || self == .compromised }
}
