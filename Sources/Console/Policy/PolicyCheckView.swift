import HTTP
import Identity
import Templating

struct PolicyCheckView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let preview: PolicyPreview
  let proposal: PolicyProposal
  let typed: String
  var isLate = false
  /// What saving it requires.
  let fields: ActionFields
  let now: Instant
  /// With how many wrong codes in a row the codes of a user are closed.
  var codeCap = SupportRules().codeCap

  private var old: MFAConfiguration { preview.policy.configuration }
  private var new: MFAConfiguration { preview.new.configuration }

  /// Who notices the change, each with the number it is about.
  private var hits: [String] {
    var hits: [String] = []
    let enrolled = preview.policy.totpUsers
    if preview.switchesOff {
      hits.append(
        losing == 0
          ? "No user is enrolled, so nobody loses a second factor."
          : "\(Words.count(losing, "enrolled user", "enrolled users")) will then sign in with a password only."
      )
      hits.append(
        "Nobody can enroll any more. Factors stay stored, and count again when TOTP is switched on."
      )
    } else if new.isTOTPOn && !old.isTOTPOn {
      let users = preview.policy.users
      hits.append(
        users == 0
          ? "There is no user yet. Whoever signs up may enroll, as far as your application offers it."
          : "\(Words.count(users, "user", "users")) may enroll from now on, as far as your application offers it."
      )
      if enrolled > 0 {
        hits.append(
          "\(Words.count(enrolled, "user has", "users have")) a factor already and will be asked for a code at the next sign-in."
        )
      }
    } else if new.isTOTPOn && new.window.codes < old.window.codes {
      let side = Words.duration(seconds: new.window.lateness)
      hits.append(
        "\(Words.count(enrolled, "enrolled user is", "enrolled users are")) held to the narrower window: whose clock is off by more than \(side) will be refused."
      )
    } else if new.isTOTPOn && new.window.codes > old.window.codes {
      hits.append(
        "\(Words.count(enrolled, "enrolled user gets", "enrolled users get")) the wider window. A guess then has \(new.window.codes) chances in a million instead of \(old.window.codes)."
      )
    }
    if preview.policy.pattern != preview.new.pattern
      || preview.policy.mandatoryFrom != preview.new.mandatoryFrom
    {
      hits.append(
        "The enrollment pattern is recorded for your application. The server does not enforce it, so users notice nothing until the application acts on it."
      )
    }
    let (was, becomes) = (preview.policy.edit, preview.new)
    if becomes.pattern == .mandatory,
      (was.pattern, was.mandatoryFrom) != (becomes.pattern, becomes.mandatoryFrom)
    {
      hits.append(mandatoryHit)
    }
    if old.isSMSOn != new.isSMSOn { hits.append(smsHit) }
    if hits.isEmpty { hits.append("Nobody notices: what is in force stays the same.") }
    return hits
  }

  /// What switching codes by SMS means.
  private var smsHit: String {
    let phones = preview.policy.phoneUsers
    if new.isSMSOn {
      return phones == 0
        ? "Users may enroll a phone from now on, as far as your application offers it."
        : "\(Words.count(phones, "user has", "users have")) a phone already and will be asked for a code by SMS at the next sign-in."
    }
    let users = Words.count(losing, "user with a phone", "users with a phone")
    return losing == 0 || preview.switchesOff
      ? "Nobody can enroll a phone any more, and no code is sent to one."
      : "Nobody can enroll a phone any more. \(users) will then sign in with a password only."
  }

  private var button: String {
    if preview.needsApproval { return "Request approval" }
    return preview.switchesOff ? "Switch TOTP off" : "Save the change"
  }

  /// That a second administrator has to approve it, and why.
  private var approval: String? {
    guard preview.needsApproval, let limit = preview.approvalOver else { return nil }
    let users = Words.count(preview.affectedUsers, "user", "users")
    return
      "This weakens the policy for \(users) (limit \(Words.number(limit))), so a second administrator has to approve it within a day. Nothing changes until then."
  }

  /// What is probably a mistake.
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
        "There is no SMS gateway, so no phone receives a code. Codes wait in the outbox, where only an owner can open them."
      )
    }
    return warnings
  }

  private var losing: Int { preview.losingSecondFactor }

  private var mandatoryHit: String {
    let users = preview.policy.users
    guard preview.withoutFactor > 0 else {
      return users == 0
        ? "There is no user yet." : "Every user here has a factor already: nobody has to enroll."
    }
    let who = Words.count(preview.withoutFactor, "user has", "users have")
    let by = preview.new.mandatoryFrom.map { "by \(Times.words($0))" } ?? "at the next sign-in"
    return
      "\(who) no factor and will have to enroll \(by), \(Meter.percent(preview.withoutFactor, of: users)) of \(Words.count(users, "user", "users"))."
  }

  /// Those whom a mandatory pattern is about, for those who may look at them.
  private var withoutFactor: String? {
    guard context.may(.findUsers), preview.new.pattern == .mandatory, preview.withoutFactor > 0
    else { return nil }
    return (["factor": "none"] as Form).query(of: ConsolePaths.users(context.scope))
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .flag("isLate") { $0.isLate },
    .text("withoutFactor") { $0.withoutFactor },
    .text("odds") { OddsWords.sentence($0.new.accepted, cap: $0.codeCap) },
    .text("action") { ConsolePaths.policy($0.context.scope) },
    .text("cancel") { ConsolePaths.policy($0.context.scope) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .number("version") { $0.preview.policy.version },
    .text("kind") { $0.context.scope.kind },
    .text("kindInSentence") { $0.context.scope.kindInSentence },
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

/// One line of old and new.
struct ChangeRow: ViewModel {
  let change: PolicyChange

  static let keys: Keys<Self> = [
    .text("field") { Words.sentence($0.change.field.rawValue) },
    .text("from") { $0.change.from },
    .text("to") { $0.change.to },
  ]
}

/// A field that goes along unseen.
struct HiddenField: ViewModel, Equatable {
  let name: String
  let value: String

  static let keys: Keys<Self> = [
    .text("name") { $0.name },
    .text("value") { $0.value },
  ]
}

/// The name that must be typed before something wide is switched off.
struct TypedName: ViewModel {
  let name: String
  let id: String
  let value: String
  let error: String?

  init(_ view: PolicyCheckView) {
    let scope = view.context.scope
    name = scope.name
    id = scope.tenant?.text ?? scope.project.text
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
