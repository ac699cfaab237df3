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

  private var reason: Field {
    let prompt = Field.Option(value: "", label: Message("Choose a reason"), isPrompt: true)
    let options = reasons.map { Field.Option(value: $0.rawValue, label: $0.label) }
    return Field.menu("reason", Message("Reason"), [prompt] + options, value: answers.reason)
      .shown(nil, frame)
  }

  /// The reasons with a sentence each, for a page with room for them.
  private var explainedReason: Field {
    let options = reasons.map {
      Field.Option(value: $0.rawValue, label: $0.name, hint: $0.explanation)
    }
    return Field.choice("reason", Message("Reason"), options, value: answers.reason)
      .shown(nil, frame)
  }

  private var details: [Field] {
    let fields: [Field] = [
      .line(
        "ticket", Message("Ticket <span class=\"soft\">(optional)</span>"),
        #" class="medium" autocomplete="off""#, value: answers.ticket, detectsDirection: true),
      .area(
        "note", Message("Note <span class=\"soft\">(required for “Other”)</span>"),
        hint: Message("Saved to the audit log. Don’t include codes or passwords."),
        #" rows="3""#, value: answers.note),
    ]
    return fields.map { $0.shown(nil, frame) }
  }

  static let keys: Keys<Self> = [
    .optional(\.caller),
    .object("reason") { $0.reason },
    .object("explainedReason") { $0.explainedReason },
    .list("details") { $0.details },
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
