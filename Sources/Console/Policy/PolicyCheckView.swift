import HTTP
import Identity
import Localization
import MailText
import OTP
import Templating

struct PolicyCheckView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let preview: PolicyPreview
  /// The users who would have no second factor of an enabled kind; nil if they can't be counted.
  let unenrolled: UnenrolledUsers?
  let proposal: PolicyProposal
  let typed: String
  var isLate = false
  let fields: ActionFields
  /// What the codes of the last 30 days say about the windows.
  let evidence: PolicyEvidence
  let publicURL: PublicURL
  let carriesMail: Bool
  let carriesText: Bool
  let now: Instant

  var old: MFAConfiguration { preview.policy.configuration }
  var new: MFAConfiguration { preview.new.configuration }

  /// Whether the pattern or the enforcement changes, which no API call can do.
  private var changesOutsideTheAPI: Bool {
    changesPattern || preview.policy.edit.enforcement != preview.new.enforcement
  }

  var changesPattern: Bool {
    preview.policy.pattern != preview.new.pattern
      || preview.policy.mandatoryFrom != preview.new.mandatoryFrom
  }

  private var button: Message {
    if preview.needsApproval { return Message("Request approval") }
    return preview.switchesOff ? Message("Turn off TOTP") : Message("Save changes")
  }

  private var approval: Message? {
    guard preview.needsApproval, let limit = preview.approvalOver else { return nil }
    return Message(
      one: """
        This weakens the policy for {count} user (limit {limit}), so a second administrator has \
        to approve it within a day. Nothing changes until then.
        """,
      other: """
        This weakens the policy for {count} users (limit {limit}), so a second administrator has \
        to approve it within a day. Nothing changes until then.
        """,
      ["count": .number(preview.affectedUsers), "limit": .number(limit)])
  }

  /// Warnings about values that are probably mistakes, and about what can't be read.
  private var warnings: [Message] {
    var warnings: [Message] = []
    if changesWindow, evidence.evidence == nil {
      warnings.append(Message("The new window’s effect on recent codes is unavailable right now."))
    }
    if preview.new.enforcement != nil, preview.new.effectiveEnforcement == nil {
      warnings.append(
        Message(
          """
          Server enforcement has no effect until TOTP is on and the pattern is “Mandatory at \
          sign-up”.
          """))
    }
    if preview.new.effectiveEnforcement?.mode == .refuse, !carriesMail {
      warnings.append(Message("This server sends no email, so no one is refused."))
    }
    return warnings
      + PolicyWarning.all(
        from: preview.policy.edit, to: preview.new, at: now, carriesText: carriesText
      ).map(\.message)
  }

  var losing: Int { preview.losingSecondFactor }

  /// What applications will see.
  private var sees: [Message] {
    var sees: [Message] = []
    if preview.switchesOff {
      sees.append(
        Message(
          """
          TOTP: sign-in returns an ID token without asking for a code. Starting an enrollment fails \
          with OPERATION_NOT_ALLOWED.
          """))
    } else if new.isTOTPOn && !old.isTOTPOn {
      sees.append(
        Message(
          """
          TOTP: for enrolled users, sign-in returns mfaPendingCredential, and SDKs report \
          auth/multi-factor-auth-required.
          """))
    } else if new.isTOTPOn && new.window.codes < old.window.codes {
      sees.append(
        Message(
          "Intervals: codes outside the new window fail like incorrect codes, with INVALID_CODE."))
    } else if new.isTOTPOn && new.window.codes > old.window.codes {
      sees.append(Message("Intervals: nothing changes, except that more codes are accepted."))
    }
    if old.isSMSOn != new.isSMSOn {
      sees.append(
        new.isSMSOn
          ? Message("SMS: phones can be enrolled, and sign-in asks for their codes.")
          : Message("SMS: phones can’t be enrolled, and sign-in doesn’t ask for their codes."))
    }
    if let enforcement = preview.new.effectiveEnforcement {
      if enforcement != preview.policy.edit.effectiveEnforcement {
        switch enforcement.applied(carriesMail: carriesMail).mode {
        case .claim:
          sees.append(
            Message(
              """
              ID tokens of users who should have enrolled: the claim \
              countersign.mfa_enrollment_required is true, from the next sign-in or token refresh.
              """))
        case .refuse:
          sees.append(
            Message(
              """
              Sign-in and token refresh of users who should have enrolled: MFA_ENROLLMENT_REQUIRED \
              (auth/mfa-enrollment-required in the web SDK). An enrollment link is sent to their \
              verified email address.
              """))
        }
      }
    } else if changesPattern {
      sees.append(
        Message(
          """
          Enrollment pattern: nothing changes in the API. Your application decides when it asks \
          users to enroll.
          """))
    }
    // Refusal ends sessions without a second factor at their next refresh.
    if modes.new == .refuse { return sees }
    guard changesClaim else {
      return sees + [
        Message("Users stay signed in. The change applies from the next sign-in on.")
      ]
    }
    return sees + [
      old == new
        ? Message("Users stay signed in.")
        : Message(
          "Users stay signed in. Everything but the claim changes from the next sign-in on.")
    ]
  }

  /// The window of a change that turns on TOTP, which can still be chosen; nil for other changes.
  private var intervals: IntervalsControl? {
    guard case .answers(let answers, _) = proposal, new.isTOTPOn, !old.isTOTPOn,
      context.pool.kind == .hosted
    else { return nil }
    return IntervalsControl(selected: answers.intervals, cap: evidence.cap, error: nil)
  }

  /// The rows of the changes, with those of every window that can still be chosen but the stored one;
  /// the style sheet shows that of the selected window.
  private var changes: [CheckedChange] {
    PolicyChange.Field.allCases.flatMap { field -> [CheckedChange] in
      guard field == .adjacentIntervals, let intervals else {
        return preview.changes.filter { $0.field == field }.map {
          CheckedChange(field: field, from: $0.from, to: $0.newValue)
        }
      }
      let stored = PolicyChange.value(field, preview.policy.edit)
      return intervals.outcomes.filter { $0.value != stored }.map {
        CheckedChange(field: field, from: stored, to: $0.number, outcome: $0)
      }
    }
  }

  /// The calls that make the change, for every window if it can still be chosen.
  private var snippets: PolicySnippets {
    guard case .answers(let answers, _) = proposal, intervals != nil else {
      return PolicySnippets(preview, publicURL: publicURL)
    }
    return PolicySnippets(preview.policy, answers, publicURL: publicURL)
  }

  /// The values of the form as hidden fields, except those that the page asks for.
  private var answers: [HiddenField] {
    intervals == nil ? proposal.fields : proposal.fields.filter { $0.name != "intervals" }
  }

  /// Whether the claim in ID tokens changes, which the next token refresh contains.
  private var changesClaim: Bool {
    guard modes.old == .claim || modes.new == .claim else { return false }
    return preview.policy.edit.effectiveEnforcement != preview.new.effectiveEnforcement
      || changesPattern
  }

  /// What this server does to users who are due, before and after the change; nil for nothing.
  private var modes: (old: Enforcement.Mode?, new: Enforcement.Mode?) {
    let mode = { (edit: PolicyEdit) in
      edit.effectiveEnforcement?.applied(carriesMail: carriesMail).mode
    }
    return (mode(preview.policy.edit), mode(preview.new))
  }

  private var changesWindow: Bool {
    old.isTOTPOn && new.isTOTPOn && old.window != new.window
  }

  /// The effect of another window on the codes of the last 30 days; nil if the window stays the same
  /// or there are too few codes, or they can't be read.
  private var impact: WindowImpact? {
    guard changesWindow, let counts = evidence.evidence, counts.isEnough else { return nil }
    return WindowImpact(
      old: old.window, new: new.window, evidence: counts, cap: evidence.cap,
      affected: AffectedUsersPage.address(
        old.window.codes < new.window.codes ? old.window : new.window, days: evidence.days,
        in: context),
      notHelped: AffectedUsersPage.address(new.window, days: evidence.days, in: context))
  }

  static let uncounted = Message(
    "The number of users without a second factor is unavailable right now.")

  /// The lists of the users whom the change affects; empty without access to them.
  private var lists: [PolicyUserList] {
    context.may(.findUsers) ? PolicyUserList.all(preview, unenrolled, in: context.pool) : []
  }

  private static func name(_ window: Window?) -> Message {
    window.map { .verbatim(WindowText.name($0)) } ?? Message("off")
  }

  /// The field for the name of the pool, which confirms turning off TOTP.
  private var confirmation: Field? {
    guard preview.switchesOff else { return nil }
    let pool = context.pool
    return Field.line(
      "confirmation",
      Message("To turn off TOTP, type <bdi>{name}</bdi>", ["name": .text(pool.name)]),
      hint: Message("Name or ID <code>{id}</code>", ["id": .text(pool.objectID)]),
      Field.Look.medium, value: typed
    ).shown(nil, frame)
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .flag(\.isLate),
    .list("lists") { $0.lists },
    .flag("haveFiles") { !$0.lists.isEmpty && $0.context.may(.exportUsers) },
    .text("odds") { OddsText.sentence($0.new.accepted, cap: $0.preview.codeCap) },
    .optional("impact") { $0.impact },
    .texts("sees") { $0.sees },
    // Calls of this server's API don't change a connected pool.
    .flag("isOtherConfiguration") { $0.old != $0.new && $0.context.pool.kind == .hosted },
    .flag("outsideTheAPI") { $0.changesOutsideTheAPI },
    .markup("curl") { $0.snippets.curl },
    .markup("node") { $0.snippets.node },
    .text("curlNow") {
      PolicyCurl.text($0.context.pool, $0.old, over: $0.new, publicURL: $0.publicURL)
    },
    .text("nodeNow") { PolicyNode.text($0.context.pool, $0.old, over: $0.new) },
    .text("tokens") {
      $0.context.may(.manageKeys) ? CreateServiceToken.path($0.context.pool) : nil
    },
    .text("action") { ConsolePaths.policyChanges($0.context.pool) },
    .text("edit") { ConsolePaths.policyEdit($0.context.pool) },
    .text("cancel") { ConsolePaths.policy($0.context.pool) },
    .number("version") { $0.preview.policy.version },
    .text("poolName") { $0.context.pool.name },
    .list("answers") { $0.answers },
    .optional("intervalsControl") { $0.intervals },
    .markup("cells") { WindowCells.labels($0.new.accepted) },
    .list("changes") { $0.changes },
    .flag("isOtherWindow") {
      $0.old.accepted != $0.new.accepted && $0.intervals == nil
    },
    .text("nameNow") { name($0.old.accepted) },
    .markup("stripNow") { $0.old.accepted.map(WindowStrip.plain) },
    .text("wordsNow") { WindowStrip.label($0.old.accepted) },
    .text("nameThen") { name($0.new.accepted) },
    .markup("stripThen") { $0.new.accepted.map(WindowStrip.plain) },
    .text("wordsThen") { WindowStrip.label($0.new.accepted) },
    .flag("isDangerous") { $0.preview.switchesOff },
    .object("authorization") { $0.fields },
    .texts("hits") { $0.hits },
    .optional("confirmation") { $0.confirmation },
    .text("button") { $0.button },
    .text("approval") { $0.approval },
    .text("approvalError") { $0.frame.error(at: "approval") },
    .texts("warnings") { $0.warnings },
    .text("buttonStyle") { $0.preview.switchesOff ? "destroy" : "primary" },
  ]
}

struct CheckedChange: ViewModel {
  let field: PolicyChange.Field
  let from: PolicyChange.Value
  let to: Message
  /// The window with which it's a change, of those that can still be chosen; nil for all.
  var outcome: WindowOutcome?

  static let keys: Keys<Self> = [
    .text("field") { $0.field.label },
    .text("from") { $0.from.message },
    .text(\.to),
    .optional(\.outcome),
  ]
}
