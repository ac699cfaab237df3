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
    case .lost: Message("support.reason-lost")
    case .stolen: Message("support.reason-stolen")
    case .compromised: Message("support.reason-compromised")
    case .replaced: Message("support.reason-replaced")
    case .locked: Message("support.reason-locked")
    case .left: Message("support.reason-left")
    case .found: Message("support.reason-found")
    case .mistake: Message("support.reason-mistake")
    case .asked: Message("support.reason-asked")
    case .other: Message("support.reason-other")
    }
  }

  /// When to choose it, after its name.
  var hint: Message {
    switch self {
    case .lost: Message("support.hint-lost")
    case .stolen: Message("support.hint-stolen")
    case .compromised: Message("support.hint-compromised")
    case .replaced: Message("support.hint-replaced")
    case .locked: Message("support.hint-locked")
    case .left: Message("support.hint-left")
    case .found: Message("support.hint-found")
    case .mistake: Message("support.hint-mistake")
    case .asked: Message("support.hint-asked")
    case .other: Message("support.hint-other")
    }
  }

  /// When to choose it, as a sentence.
  var explanation: Message {
    switch self {
    case .lost: Message("support.explanation-lost")
    case .stolen: Message("support.explanation-stolen")
    case .compromised: Message("support.explanation-compromised")
    case .replaced: Message("support.explanation-replaced")
    case .locked: Message("support.explanation-locked")
    case .left: Message("support.explanation-left")
    case .found: Message("support.explanation-found")
    case .mistake: Message("support.explanation-mistake")
    case .asked: Message("support.explanation-asked")
    case .other: Message("support.explanation-other")
    }
  }

  /// The name and when to choose it: “Lost device: no sign that anyone else has it”.
  var label: Message {
    Message("support.reason-with-hint", ["name": .message(name), "hint": .message(hint)])
  }
}
