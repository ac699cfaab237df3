import HTTP
import Identity
import Localization
import MailText
import Templating

/// Who is enrolled, and what is enforced, by whom, since when, and for whom it isn't.
struct EffectiveStateView: ViewModel {
  let effective: EffectiveMFA
  let policy: Policy
  let unenrolled: UnenrolledUsers
  let context: PoolContext
  let times: Times
  /// The number of consecutive wrong codes after which a user's codes are locked.
  let cap: Int

  private var enrolled: Message {
    guard policy.users > 0 else { return Message("There are no users yet.") }
    return Message(
      one: "{number} of {count} user enrolled.", other: "{number} of {count} users enrolled.",
      ["number": .number(policy.enrolledUsers), "count": .number(policy.users)])
  }

  private var codes: Markup {
    effective.kinds.isEmpty
      ? Chip.off(Message("not required")) : Chip.on(Message("server"))
  }

  private var enrollment: Markup {
    switch effective.enrollment {
    case .nobody: Chip.off(Message("not enforced"))
    case .application: Chip.look(Message("your app"))
    case .server(let enforcement):
      switch enforcement.mode {
      case .claim: Chip.look(Message("reported by the server"))
      case .refuse: Chip.on(Message("server"))
      }
    }
  }

  private var enrollmentHint: Message {
    guard !effective.kinds.isEmpty else { return Message("Users can’t enroll.") }
    if let day = effective.startsOn {
      return Message(
        "Recorded as mandatory from {day}. It isn’t enforced until then.", ["day": Times.value(day)]
      )
    }
    if case .server(let enforcement) = effective.enrollment {
      switch enforcement.mode {
      case .claim:
        return Message(
          """
          ID tokens say which users should have enrolled. Your application decides what they can \
          do.
          """)
      case .refuse:
        return Message(
          "Users who should have enrolled are refused, and receive an enrollment link by email.")
      }
    }
    switch effective.pattern {
    case .mandatory:
      guard let day = effective.enforcedFrom else {
        return Message("Users without a factor still get tokens; your app must block them.")
      }
      return Message(
        "Recorded as mandatory. The server enforces it from {day}.", ["day": Times.value(day)])
    case .stepUp:
      return Message(
        "Recorded as step-up. Your application has to check for a second factor where it’s needed.")
    case .skippable, .account, nil: return Message("Users choose whether to enroll.")
    }
  }

  private var mandatory: Message? {
    if case .server = effective.enrollment { return nil }
    // The server is going to enforce it.
    if effective.enforcedFrom != nil { return nil }
    return effective.saysMandatory && effective.pattern != .mandatory
      ? Message(
        """
        “Mandatory” is a setting for applications to read. Regardless of it, the server requires \
        codes only from enrolled users.
        """) : nil
  }

  private func day(_ beginning: EffectiveMFA.Beginning) -> Markup {
    switch beginning {
    case .day(let day): Markup(html: Message.value(Times.value(day)))
    case .moment(let instant): times.day(instant)
    }
  }

  /// The users who sign in with only their first factor; nil if there are none.
  private var unasked: Message? {
    let missing = max(effective.unaskedUsers - unenrolled.exempt, 0)
    return missing == 0
      ? nil
      : Message(
        one: "{count} can sign in without a second factor.",
        other: "{count} can sign in without a second factor.", ["count": .number(missing)])
  }

  static let keys: Keys<Self> = [
    .text("enrolled") { $0.enrolled },
    .markup("codes") { $0.codes },
    .markup("enrollment") { $0.enrollment },
    .text("enrollmentHint") { $0.enrollmentHint },
    .text("refusesNoOne") {
      $0.effective.refusesNoOne ? Message("This server sends no email, so no one is refused.") : nil
    },
    .markup("enrollmentSince") { view in
      view.effective.enrollment == .nobody
        ? nil : view.effective.enrollmentSince.map(view.day)
    },
    .text("unasked") { $0.unasked },
    .text("exempt") { view in
      view.unenrolled.exempt == 0
        ? nil
        : Message(
          one: "{count} more user is exempt.",
          other: "{count} more users are exempt.", ["count": .number(view.unenrolled.exempt)])
    },
    .text("unaskedUsers") { view in
      view.effective.unaskedUsers > 0 && view.context.may(.findUsers)
        // The list has those without any factor.
        && !view.unenrolled.haveDisabledFactors
        ? (["factor": "none"] as Form).query(of: ConsolePaths.users(view.context.pool)) : nil
    },
    .text("inGrace") { view in
      view.effective.usersInGrace > 0
        ? Message(
          one: "{count} of them still has time to enroll.",
          other: "{count} of them still have time to enroll.",
          ["count": .number(view.effective.usersInGrace)]) : nil
    },
    .text("mandatory") { $0.mandatory },
    .markup("totp") { $0.policy.configuration.chip(in: $0.context.pool.kind) },
    .markup("window") { WindowStrip.small($0.policy.configuration) },
    .text("unknown") { WindowText.unknown($0.policy.configuration, in: $0.context.pool) },
    .text("pattern") { $0.policy.edit.patternName ?? Message("none") },
    .text("enforcement") {
      $0.policy.edit.enforcement == nil
        ? Message("off: your app decides")
        : PolicyChange.value(.enforcement, $0.policy.edit).message
    },
    .markup("sms") { $0.policy.configuration.smsChip },
    .number(\.cap),
    // Another server has its own enforcement and lockout.
    .flag("isHosted") { $0.context.pool.kind == .hosted },
    .text("simulator") {
      $0.context.may(.findUsers) && $0.context.offers(.secrets)
        ? ConsolePaths.signInSimulator() : nil
    },
  ]
}
