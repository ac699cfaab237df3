import HTTP
import Identity
import Localization
import Templating
import Text

/// The fields that every support action has: reason, note, ticket, identity checks, and the agent's
/// authenticator code if the last one is older than the re-authentication interval.
struct SupportForm: ViewModel {
  let frame: FrameView
  let eligibility: SupportEligibility
  let answers: ActionInput
  let action: String
  /// How the agent verifies the caller; nil where the pool doesn't offer it.
  var caller: CallerView?
  var reasons: [SupportReason] = SupportReason.losses
  /// The field that confirms the user for an action that can't be undone.
  var confirmation: Field?

  static let keys: Keys<Self> = [
    .optional(\.caller),
    .list("reasons") { form in
      form.reasons.enumerated().map { index, reason in
        SupportReasonChoice(
          index: index, reason: reason, isChosen: reason.rawValue == form.answers.reason)
      }
    },
    .text("reasonError") { $0.frame.error(at: "reason") },
    .text("note") { $0.answers.note },
    .text("noteError") { $0.frame.error(at: "note") },
    .text("ticket") { $0.answers.ticket },
    .text("ticketError") { $0.frame.error(at: "ticket") },
    .flag("hasProof") { !$0.eligibility.settings.identityProof.isEmpty },
    .list("proofs") { form in
      form.eligibility.settings.identityProof.enumerated().map { index, line in
        ProofChoice(
          index: index, line: line, isTicked: form.answers.proofs.contains(UntrustedText(line)))
      }
    },
    .text("proofError") { $0.frame.error(at: "proof") },
    .optional(\.confirmation),
    .optional("codeField") {
      CodeField($0.eligibility.asksForCode, $0.frame, action: $0.action)
    },
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
    .text("hint") { $0.reason.explanation },
    .text("label") { $0.reason.label },
    .flag(\.isChosen),
  ]
}

struct ProofChoice: ViewModel {
  let index: Int
  let line: String
  let isTicked: Bool

  static let keys: Keys<Self> = [
    // The first ID is the field's name, which the error summary links to.
    .text("id") { $0.index == 0 ? "proof" : "proof-\($0.index)" },
    .text(\.line),
    .flag(\.isTicked),
  ]
}

extension SupportReason {
  var name: Message {
    switch self {
    case .lost: Message("Lost device")
    case .stolen: Message("Stolen device")
    case .compromised: Message("Compromised")
    case .replaced: Message("Replaced device")
    case .locked: Message("Codes rejected")
    case .left: Message("User left")
    case .found: Message("Device found")
    case .mistake: Message("Mistake")
    case .asked: Message("User request")
    case .other: Message("Other")
    }
  }

  /// When to choose it, after its name.
  var hint: Message {
    switch self {
    case .lost: Message("no sign that anyone else has it")
    case .stolen: Message("someone else may have it")
    case .compromised: Message("someone else may know the secret or a code")
    case .replaced: Message("the user has a new one to enroll")
    case .locked: Message("the user has the device, but its codes are rejected")
    case .left: Message("the user left the organization")
    case .found: Message("the user has the device again")
    case .mistake: Message("an earlier action was unintended")
    case .asked: Message("the user asked for it")
    case .other: Message("explained in the note")
    }
  }

  /// When to choose it, as a sentence.
  var explanation: Message {
    switch self {
    case .lost: Message("No sign that anyone else has it.")
    case .stolen: Message("Someone else may have it.")
    case .compromised: Message("Someone else may know the secret or a code.")
    case .replaced: Message("The user has a new one to enroll.")
    case .locked: Message("The user has the device, but its codes are rejected.")
    case .left: Message("The user left the organization.")
    case .found: Message("The user has the device again.")
    case .mistake: Message("An earlier action was unintended.")
    case .asked: Message("The user asked for it.")
    case .other: Message("Explained in the note.")
    }
  }

  /// The name and when to choose it: “Lost device: no sign that anyone else has it”.
  var label: Message {
    Message("{name}: {hint}", ["name": .message(name), "hint": .message(hint)])
  }
}
