import HTTP
import Identity
import Localization
import Templating

/// The card that says what is enforced, by whom, since when, and for whom it isn't.
struct EffectiveStateView: ViewModel {
  let effective: EffectiveMFA
  let policy: Policy
  let unenrolled: UnenrolledUsers
  let context: PoolContext
  let times: Times
  /// The number of consecutive wrong codes after which a user's codes are locked.
  let cap: Int

  private var codes: Markup {
    effective.kinds.isEmpty
      ? Chip.off(Message("not required"))
      : Chip.on(Message("enforced by the server"))
  }

  private var codesHint: Message {
    effective.kinds.isEmpty
      ? Message("Every user signs in with the first factor only.")
      : Message(
        one: "{count} enrolled user is asked for a code at each sign-in.",
        other: "{count} enrolled users are asked for a code at each sign-in.",
        ["count": .number(effective.askedUsers)])
  }

  private var enrollment: Markup {
    switch effective.enrollment {
    case .nobody: Chip.off(Message("not enforced"))
    case .application: Chip.look(Message("up to your application"))
    case .server(let enforcement):
      switch enforcement.mode {
      case .claim: Chip.look(Message("reported by the server"))
      case .refuse: Chip.on(Message("enforced by the server"))
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
        return Message(
          """
          Recorded as mandatory. The server still issues tokens to users without a factor, so \
          your application has to refuse those users.
          """)
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
    return effective.saysMandatory
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

  private var unasked: Message {
    let missing = max(effective.unaskedUsers - unenrolled.exempt, 0)
    return Message(
      one: "{number} of {count} user ({share})", other: "{number} of {count} users ({share})",
      [
        "number": .number(missing), "count": .number(effective.users),
        "share": .message(Meter.percent(missing, of: effective.users)),
      ])
  }

  static let keys: Keys<Self> = [
    .markup("codes") { $0.codes },
    .text("codesHint") { $0.codesHint },
    .markup("codesSince") { view in
      view.effective.kinds.isEmpty ? nil : view.effective.codesSince.map(view.times.day)
    },
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
    .markup("totp") { $0.policy.configuration.chip },
    .text("sms") {
      $0.policy.configuration.isSMSOn ? Message("on") : Message("off")
    },
    .text("intervals") { WindowText.number($0.policy.configuration) },
    .number(\.cap),
    .text("simulator") {
      $0.context.may(.findUsers) ? ConsolePaths.signInSimulator() : nil
    },
  ]
}
