import HTTP
import Identity
import Localization
import MailText
import OTP
import Templating

struct PolicyCheckView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
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
  /// Whether this server sends email.
  let carriesMail: Bool
  /// Whether this server sends text messages.
  let carriesText: Bool
  let now: Instant

  private var old: MFAConfiguration { preview.policy.configuration }
  private var new: MFAConfiguration { preview.new.configuration }

  private var hits: [Message] {
    var hits: [Message] = []
    let enrolled = preview.policy.totpUsers
    if preview.switchesOff {
      hits.append(
        losing == 0
          ? Message("policy.no-one-enrolled")
          : Message("policy.users-lose-factor", ["count": .number(losing)]))
      hits.append(Message("policy.no-more-enrollment"))
    } else if new.isTOTPOn && !old.isTOTPOn {
      let users = preview.policy.users
      if users == 0 { hits.append(Message("policy.new-users-can-enroll")) }
      if users > enrolled {
        hits.append(Message("policy.users-can-enroll", ["count": .number(users - enrolled)]))
      }
      if enrolled > 0 {
        hits.append(Message("policy.users-have-factor", ["count": .number(enrolled)]))
      }
    } else if new.isTOTPOn && new.window.codes < old.window.codes {
      let side = Formatted.duration(seconds: new.window.lateness)
      hits.append(
        Message(
          "policy.narrower-window", ["count": .number(enrolled), "duration": .message(side)]))
    } else if new.isTOTPOn && new.window.codes > old.window.codes {
      hits.append(
        Message(
          "policy.wider-window",
          [
            "count": .number(enrolled), "old": .number(old.window.codes),
            "new": .number(new.window.codes),
          ]))
    }
    if changesPattern, preview.new.effectiveEnforcement == nil {
      hits.append(Message("policy.pattern-is-recorded"))
    }
    let (was, becomes) = (preview.policy.edit, preview.new)
    // Enforcement by the server has its own time.
    if becomes.pattern == .mandatory, becomes.effectiveEnforcement == nil,
      new.isTOTPOn || new.isSMSOn,
      (was.pattern, was.mandatoryFrom) != (becomes.pattern, becomes.mandatoryFrom)
    {
      hits.append(mandatoryHit)
    }
    if let enforcementHit { hits.append(enforcementHit) }
    if old.isSMSOn != new.isSMSOn { hits.append(smsHit) }
    if hits.isEmpty { hits.append(Message("policy.no-one-affected")) }
    return hits
  }

  /// Whether the pattern or the enforcement changes, which no API call can do.
  private var changesOutsideTheAPI: Bool {
    changesPattern || preview.policy.edit.enforcement != preview.new.enforcement
  }

  private var changesPattern: Bool {
    preview.policy.pattern != preview.new.pattern
      || preview.policy.mandatoryFrom != preview.new.mandatoryFrom
  }

  private var enforcementHit: Message? {
    let was = preview.policy.edit
    guard let enforcement = preview.new.effectiveEnforcement,
      let day = preview.new.firstDueDay(at: now)
    else {
      return was.effectiveEnforcement == nil ? nil : Message("policy.no-more-enforcement")
    }
    // Users whose factors are turned off become due.
    guard was.effectiveEnforcement != enforcement || changesPattern || losing > 0 else {
      return nil
    }
    guard let unenrolled else { return Self.uncounted }
    let (count, from) = (Message.Value.number(unenrolled.required), Times.value(day))
    return switch enforcement.applied(carriesMail: carriesMail).mode {
    case .claim: Message("policy.users-get-claim", ["count": count, "day": from])
    case .refuse: Message("policy.users-are-refused", ["count": count, "day": from])
    }
  }

  private var smsHit: Message {
    let phones = preview.policy.phoneUsers
    if new.isSMSOn {
      return phones == 0
        ? Message("policy.phones-can-enroll")
        : Message("policy.users-have-phone", ["count": .number(phones)])
    }
    guard losing > 0, !preview.switchesOff else { return Message("policy.no-more-phones") }
    // With server enforcement, the number of users who are due says what happens to them.
    return preview.new.effectiveEnforcement == nil
      ? Message("policy.phone-users-lose-factor", ["count": .number(losing)])
      : Message("policy.phone-users-have-no-other-factor", ["count": .number(losing)])
  }

  private var button: Message {
    if preview.needsApproval { return Message("policy.request-approval") }
    return preview.switchesOff ? Message("policy.turn-off-totp") : Message("policy.save-changes")
  }

  private var approval: Message? {
    guard preview.needsApproval, let limit = preview.approvalOver else { return nil }
    return Message(
      "policy.needs-approval",
      ["count": .number(preview.affectedUsers), "limit": .number(limit)])
  }

  /// Warnings about values that are probably mistakes, and about what can't be read.
  private var warnings: [Message] {
    var warnings: [Message] = []
    if changesWindow, evidence.evidence == nil {
      warnings.append(Message("policy.impact-unavailable"))
    }
    if preview.new.enforcement != nil, preview.new.effectiveEnforcement == nil {
      warnings.append(Message("policy.enforcement-condition"))
    }
    if preview.new.effectiveEnforcement?.mode == .refuse, !carriesMail {
      warnings.append(Message("policy.refuses-no-one"))
    }
    return warnings
      + PolicyWarning.all(
        from: preview.policy.edit, to: preview.new, at: now, carriesText: carriesText
      ).map(\.message)
  }

  private var losing: Int { preview.losingSecondFactor }

  /// What applications will see.
  private var sees: [Message] {
    var sees: [Message] = []
    if preview.switchesOff {
      sees.append(Message("policy.apps-totp-off"))
    } else if new.isTOTPOn && !old.isTOTPOn {
      sees.append(Message("policy.apps-totp-on"))
    } else if new.isTOTPOn && new.window.codes < old.window.codes {
      sees.append(Message("policy.apps-narrower"))
    } else if new.isTOTPOn && new.window.codes > old.window.codes {
      sees.append(Message("policy.apps-wider"))
    }
    if old.isSMSOn != new.isSMSOn {
      sees.append(new.isSMSOn ? Message("policy.apps-sms-on") : Message("policy.apps-sms-off"))
    }
    if let enforcement = preview.new.effectiveEnforcement {
      if enforcement != preview.policy.edit.effectiveEnforcement {
        switch enforcement.applied(carriesMail: carriesMail).mode {
        case .claim: sees.append(Message("policy.apps-claim"))
        case .refuse: sees.append(Message("policy.apps-refusal"))
        }
      }
    } else if changesPattern {
      sees.append(Message("policy.apps-pattern"))
    }
    // Refusal ends sessions without a second factor at their next refresh.
    if modes.new == .refuse { return sees }
    guard changesClaim else { return sees + [Message("policy.apps-sessions")] }
    return sees + [
      old == new
        ? Message("policy.apps-stay-signed-in") : Message("policy.apps-sessions-and-claim")
    ]
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

  private static let uncounted = Message("policy.users-uncounted")

  private var mandatoryHit: Message {
    guard let unenrolled else { return Self.uncounted }
    let users = preview.policy.users
    let without = unenrolled.required
    guard without > 0 else {
      return users == 0 ? Message("policy.no-users-yet") : Message("policy.no-one-has-to-enroll")
    }
    let all = Message.Value.message(Message("policy.user-count", ["count": .number(users)]))
    let share = Message.Value.message(Meter.percent(without, of: users).message)
    guard let day = preview.new.mandatoryFrom, day.start > now else {
      return Message(
        "policy.users-must-enroll", ["count": .number(without), "users": all, "share": share])
    }
    return Message(
      "policy.users-must-enroll-by",
      ["count": .number(without), "users": all, "share": share, "day": Times.value(day)])
  }

  /// The lists of the users whom the change affects; empty without access to them.
  private var lists: [PolicyUserList] {
    context.may(.findUsers) ? PolicyUserList.all(preview, unenrolled, in: context.scope) : []
  }

  private static func name(_ window: Window?) -> Message {
    window.map { .verbatim(WindowText.name($0)) } ?? Message("common.off")
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .flag(\.isLate),
    .list("lists") { $0.lists },
    .flag("haveFiles") { !$0.lists.isEmpty && $0.context.may(.exportUsers) },
    .text("odds") { OddsText.sentence($0.new.accepted, cap: $0.preview.codeCap) },
    .optional("impact") { $0.impact },
    .texts("sees") { $0.sees },
    .flag("isOtherConfiguration") { $0.old != $0.new },
    .flag("outsideTheAPI") { $0.changesOutsideTheAPI },
    .text("curl") {
      PolicyCurl.text($0.context.scope, $0.new, over: $0.old, publicURL: $0.publicURL)
    },
    .text("node") { PolicyNode.text($0.context.scope, $0.new, over: $0.old) },
    .text("curlNow") {
      PolicyCurl.text($0.context.scope, $0.old, over: $0.new, publicURL: $0.publicURL)
    },
    .text("nodeNow") { PolicyNode.text($0.context.scope, $0.old, over: $0.new) },
    .text("tokens") {
      $0.context.may(.manageKeys) ? ConsolePaths.newToken($0.context.scope) : nil
    },
    .text("action") { ConsolePaths.policyChanges($0.context.scope) },
    .text("edit") { ConsolePaths.policyEdit($0.context.scope) },
    .text("cancel") { ConsolePaths.policy($0.context.scope) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .number("version") { $0.preview.policy.version },
    .text("scopeName") { $0.context.scope.name },
    .list("answers") { $0.proposal.fields },
    .list("changes") { $0.preview.changes.map(ChangeRow.init) },
    .flag("isOtherWindow") { $0.old.accepted != $0.new.accepted },
    .text("nameNow") { name($0.old.accepted) },
    .markup("stripNow") { $0.old.accepted.map(WindowStrip.plain) },
    .text("wordsNow") { WindowStrip.label($0.old.accepted) },
    .text("nameThen") { name($0.new.accepted) },
    .markup("stripThen") { $0.new.accepted.map(WindowStrip.plain) },
    .text("wordsThen") { WindowStrip.label($0.new.accepted) },
    .flag("isDangerous") { $0.preview.switchesOff },
    .object("authorization") { $0.fields },
    .texts("hits") { $0.hits },
    .optional("typed") { view in
      view.preview.switchesOff
        ? TypedName(view.context.scope, view.typed, view.frame.error(at: "confirmation")) : nil
    },
    .text("button") { $0.button },
    .text("approval") { $0.approval },
    .text("approvalError") { $0.frame.error(at: "approval") },
    .texts("warnings") { $0.warnings },
    .text("buttonStyle") { $0.preview.switchesOff ? "destroy" : "primary" },
  ]
}

struct ChangeRow: ViewModel {
  let change: PolicyChange

  static let keys: Keys<Self> = [
    .text("field") { $0.change.field.label },
    .text("from") { $0.change.oldValue },
    .text("to") { $0.change.newValue },
  ]
}

struct HiddenField: ViewModel, Equatable {
  let name: String
  let value: String

  static let keys: Keys<Self> = [
    .text(\.name),
    .text(\.value),
  ]
}

/// The scope name that has to be typed to confirm turning off TOTP.
struct TypedName: ViewModel {
  let name: String
  let id: String
  let value: String
  let error: Message?

  init(_ scope: Scope, _ typed: String, _ error: Message?) {
    name = scope.name
    id = scope.objectID
    value = typed
    self.error = error
  }

  static let keys: Keys<Self> = [
    .text(\.name),
    .text(\.id),
    .text(\.value),
    .text(\.error),
  ]
}
