import HTTP
import Identity
import Templating

/// The part of a form that every action of the desk has: why, for which ticket, on which proof, and
/// a code of the agent's own when the last one is too old.
struct SupportForm: ViewModel {
  let frame: FrameView
  let standing: SupportEligibility
  let answers: ActionInput
  /// The reasons that make sense for the action.
  var reasons: [SupportReason] = SupportReason.losses
  /// True where the note is what the form is about, and stands first.
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
    // The first carries the field's own name, for the error summary to lead to.
    .text("id") { $0.index == 0 ? "reason" : "reason-\($0.reason.rawValue)" },
    .text("value") { $0.reason.rawValue },
    .text("name") { $0.reason.name },
    .text("hint") { Words.sentence($0.reason.hint) + "." },
    .text("label") { "\($0.reason.name): \($0.reason.hint)" },
    .flag("isChosen") { $0.isChosen },
  ]
}

/// A line of the pool's identity proof.
struct ProofChoice: ViewModel {
  let index: Int
  let line: String
  let isTicked: Bool

  static let keys: Keys<Self> = [
    // The first carries the field's own name, for the error summary to lead to.
    .text("id") { $0.index == 0 ? "proof" : "proof-\($0.index)" },
    .text("line") { $0.line },
    .flag("isTicked") { $0.isTicked },
  ]
}

extension SupportReason {
  /// The reason in lists and forms.
  var name: String {
    switch self {
    case .lost: "Lost device"
    case .stolen: "Stolen device"
    case .compromised: "Compromised"
    case .replaced: "Replaced device"
    case .locked: "Codes refused"
    case .left: "User leaves"
    case .found: "Device is back"
    case .mistake: "Mistake"
    case .asked: "Asked for"
    case .other: "Other"
    }
  }

  /// When to choose it.
  var hint: String {
    switch self {
    case .lost: "it is gone, and nobody is known to have it"
    case .stolen: "somebody else may hold it"
    case .compromised: "somebody else may know the secret or a code"
    case .replaced: "there is a new one to enroll"
    case .locked: "the device is there, and its codes do not pass"
    case .left: "they will not need it any more"
    case .found: "it was lost, and the user has it again"
    case .mistake: "what was done before was not meant"
    case .asked: "the user wants it so"
    case .other: "the note says what"
    }
  }
}
