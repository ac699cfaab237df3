import HTTP
import Identity
import Templating
import Text

/// The fields that every support action has: reason, note, ticket, identity checks, and the agent's
/// authenticator code if the last one is older than the re-authentication interval.
struct SupportForm: ViewModel {
  let frame: FrameView
  let standing: SupportEligibility
  let answers: ActionInput
  /// The reasons that the form offers.
  var reasons: [SupportReason] = SupportReason.losses
  /// Whether the form creates a note about the user; the note field then comes first.
  var isNote = false

  static let keys: Keys<Self> = [
    .list("reasons") { form in
      form.reasons.enumerated().map { index, reason in
        SupportReasonChoice(
          index: index, reason: reason, isChosen: reason.rawValue == form.answers.reason)
      }
    },
    .text("reasonError") { $0.frame.error(at: "reason") },
    .text("note") { $0.answers.note },
    .text("noteError") { $0.frame.error(at: "note") },
    .flag("isNote") { $0.isNote },
    .text("longestNote") { _ in Words.number(ActionRequest.longestNote) },
    .text("ticket") { $0.answers.ticket },
    .text("ticketError") { $0.frame.error(at: "ticket") },
    .flag("hasProof") { !$0.standing.settings.identityProof.isEmpty },
    .list("proofs") { form in
      form.standing.settings.identityProof.enumerated().map { index, line in
        ProofChoice(
          index: index, line: line, isTicked: form.answers.proofs.contains(UntrustedText(line)))
      }
    },
    .text("proofError") { $0.frame.error(at: "proof") },
    .optional("codeField") { CodeField($0.standing.asksForCode, $0.frame) },
  ]
}

struct SupportReasonChoice: ViewModel {
  let index: Int
  let reason: SupportReason
  let isChosen: Bool

  static let keys: Keys<Self> = [
    // The first ID is the field's name, which the error summary links to.
    .text("id") { $0.index == 0 ? "reason" : "reason-\($0.reason.rawValue)" },
    .text("value") { $0.reason.rawValue },
    .text("name") { $0.reason.name },
    .text("hint") { Words.sentence($0.reason.hint) + "." },
    .text("label") { "\($0.reason.name): \($0.reason.hint)" },
    .flag("isChosen") { $0.isChosen },
  ]
}

/// One of the pool's identity checks.
struct ProofChoice: ViewModel {
  let index: Int
  let line: String
  let isTicked: Bool

  static let keys: Keys<Self> = [
    // The first ID is the field's name, which the error summary links to.
    .text("id") { $0.index == 0 ? "proof" : "proof-\($0.index)" },
    .text("line") { $0.line },
    .flag("isTicked") { $0.isTicked },
  ]
}

extension SupportReason {
  /// The reason's name in lists and forms.
  var name: String {
    switch self {
    case .lost: "Lost device"
    case .stolen: "Stolen device"
    case .compromised: "Compromised"
    case .replaced: "Replaced device"
    case .locked: "Codes rejected"
    case .left: "User left"
    case .found: "Device found"
    case .mistake: "Mistake"
    case .asked: "User request"
    case .other: "Other"
    }
  }

  /// When to choose it.
  var hint: String {
    switch self {
    case .lost: "no one is known to have it"
    case .stolen: "someone else may have it"
    case .compromised: "someone else may know the secret or a code"
    case .replaced: "the user has a new one to enroll"
    case .locked: "the user has the device, but its codes are rejected"
    case .left: "the user no longer needs it"
    case .found: "the user has the device again"
    case .mistake: "an earlier action was unintended"
    case .asked: "the user asked for it"
    case .other: "explained in the note"
    }
  }
}
