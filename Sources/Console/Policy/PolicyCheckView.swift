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
  let proposal: PolicyProposal
  let typed: String
  var isLate = false
  /// The authorization fields that saving requires.
  let fields: ActionFields
  let now: Instant

  private var old: MFAConfiguration { preview.policy.configuration }
  private var new: MFAConfiguration { preview.new.configuration }

  /// The effects of the change on users, with their number.
  private var hits: [String] {
    var hits: [String] = []
    let enrolled = preview.policy.totpUsers
    if preview.switchesOff {
      hits.append(
        losing == 0
          ? "No users are enrolled, so no one loses a second factor."
          : "\(Words.count(losing, "enrolled user", "enrolled users")) will sign in without a second factor."
      )
      hits.append(
        "Users can no longer enroll. Enrolled factors are kept and work again if TOTP is turned back on."
      )
    } else if new.isTOTPOn && !old.isTOTPOn {
      let users = preview.policy.users
      hits.append(
        users == 0
          ? "There are no users yet. New users can enroll if your application offers it."
          : "\(Words.count(users, "user", "users")) can enroll if your application offers it."
      )
      if enrolled > 0 {
        hits.append(
          "\(Words.count(enrolled, "user already has", "users already have")) a factor and will be asked for a code at the next sign-in."
        )
      }
    } else if new.isTOTPOn && new.window.codes < old.window.codes {
      let side = Words.duration(seconds: new.window.lateness)
      hits.append(
        "The narrower window applies to \(Words.count(enrolled, "enrolled user", "enrolled users")): codes from a device whose clock is off by more than \(side) are rejected."
      )
    } else if new.isTOTPOn && new.window.codes > old.window.codes {
      hits.append(
        "The wider window applies to \(Words.count(enrolled, "enrolled user", "enrolled users")). The chance that a random code is accepted rises from \(old.window.codes) to \(new.window.codes) in a million."
      )
    }
    if preview.policy.pattern != preview.new.pattern
      || preview.policy.mandatoryFrom != preview.new.mandatoryFrom
    {
      hits.append(
        "The enrollment pattern is recorded for your application. The server doesn’t enforce it, so nothing changes for users until the application acts on it."
      )
    }
    let (was, becomes) = (preview.policy.edit, preview.new)
    if becomes.pattern == .mandatory,
      (was.pattern, was.mandatoryFrom) != (becomes.pattern, becomes.mandatoryFrom)
    {
      hits.append(mandatoryHit)
    }
    if old.isSMSOn != new.isSMSOn { hits.append(smsHit) }
    if hits.isEmpty { hits.append("No one: the policy in effect stays the same.") }
    return hits
  }

  /// The effect of turning SMS codes on or off.
  private var smsHit: String {
    let phones = preview.policy.phoneUsers
    if new.isSMSOn {
      return phones == 0
        ? "Users can enroll a phone if your application offers it."
        : "\(Words.count(phones, "user already has", "users already have")) a phone and will be asked for an SMS code at the next sign-in."
    }
    let users = Words.count(losing, "user with a phone", "users with a phone")
    return losing == 0 || preview.switchesOff
      ? "Users can no longer enroll a phone, and no codes are sent to enrolled phones."
      : "Users can no longer enroll a phone. \(users) will sign in without a second factor."
  }

  private var button: String {
    if preview.needsApproval { return "Request approval" }
    return preview.switchesOff ? "Turn off TOTP" : "Save changes"
  }

  /// Says that a second administrator has to approve the change, and why.
  private var approval: String? {
    guard preview.needsApproval, let limit = preview.approvalOver else { return nil }
    let users = Words.count(preview.affectedUsers, "user", "users")
    return
      "This weakens the policy for \(users) (limit \(Words.number(limit))), so a second administrator has to approve it within a day. Nothing changes until then."
  }

  /// Warnings about values that are probably mistakes.
  private var warnings: [String] {
    var warnings: [String] = []
    if let day = preview.new.mandatoryFrom, day != preview.policy.edit.mandatoryFrom,
      day.start < now
    {
      warnings.append(
        "The start date, \(Times.words(day)), is in the past: enrollment is mandatory immediately.")
    }
    if new.isSMSOn, !old.isSMSOn {
      warnings.append(
        "There is no SMS gateway, so no phone receives a code. Codes are stored in Messages, where only \(Permission.readMessages.holder) can open them."
      )
    }
    return warnings
  }

  private var losing: Int { preview.losingSecondFactor }

  private var mandatoryHit: String {
    let users = preview.policy.users
    guard preview.withoutFactor > 0 else {
      return users == 0
        ? "There are no users yet." : "Every user already has a factor, so no one has to enroll."
    }
    let has = preview.withoutFactor == 1 ? "has" : "have"
    let by = preview.new.mandatoryFrom.map { "by \(Times.words($0))" } ?? "at the next sign-in"
    return
      "\(Words.number(preview.withoutFactor)) of \(Words.count(users, "user", "users")) (\(Meter.percent(preview.withoutFactor, of: users))) \(has) no factor and must enroll \(by)."
  }

  /// The list of users whom a mandatory pattern affects; nil without access to it.
  private var withoutFactor: String? {
    guard context.may(.findUsers), preview.new.pattern == .mandatory, preview.withoutFactor > 0
    else { return nil }
    return (["factor": "none"] as Form).query(of: ConsolePaths.users(context.scope))
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .flag("isLate") { $0.isLate },
    .text("withoutFactor") { $0.withoutFactor },
    .text("odds") { OddsWords.sentence($0.new.accepted, cap: $0.preview.codeCap) },
    .text("save") { ConsolePaths.policyChanges($0.context.scope) },
    .text("edit") { ConsolePaths.policyEdit($0.context.scope) },
    .text("cancel") { ConsolePaths.policy($0.context.scope) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .number("version") { $0.preview.policy.version },
    .text("scopeName") { $0.context.scope.name },
    .list("answers") { $0.proposal.fields },
    .list("changes") { $0.preview.changes.map(ChangeRow.init) },
    .markup("stripNow") { WindowStrip.small($0.old) },
    .text("wordsNow") { WindowStrip.label($0.old.accepted) },
    .markup("stripThen") { WindowStrip.small($0.new) },
    .text("wordsThen") { WindowStrip.label($0.new.accepted) },
    .flag("isDangerous") { $0.preview.switchesOff },
    .object("authorization") { $0.fields },
    .texts("hits") { $0.hits },
    .optional("typed") { $0.preview.switchesOff ? TypedName($0) : nil },
    .text("button") { $0.button },
    .text("approval") { $0.approval },
    .text("approvalError") { $0.frame.error(at: "approval") },
    .texts("warnings") { $0.warnings },
    .text("buttonStyle") { $0.preview.switchesOff ? "destroy" : "primary" },
  ]
}

/// A changed setting with its current and new value.
struct ChangeRow: ViewModel {
  let change: PolicyChange

  static let keys: Keys<Self> = [
    .text("field") { Words.sentence($0.change.field.rawValue) },
    .text("from") { $0.change.from.message },
    .text("to") { $0.change.to.message },
  ]
}

/// A hidden form field.
struct HiddenField: ViewModel, Equatable {
  let name: String
  let value: String

  static let keys: Keys<Self> = [
    .text("name") { $0.name },
    .text("value") { $0.value },
  ]
}

/// The scope name that has to be typed to confirm turning off TOTP.
struct TypedName: ViewModel {
  let name: String
  let id: String
  let value: String
  let error: Message?

  init(_ view: PolicyCheckView) {
    let scope = view.context.scope
    name = scope.name
    id = scope.objectID
    value = view.typed
    error = view.frame.error(at: "confirmation")
  }

  static let keys: Keys<Self> = [
    .text("name") { $0.name },
    .text("id") { $0.id },
    .text("value") { $0.value },
    .text("error") { $0.error },
  ]
}
