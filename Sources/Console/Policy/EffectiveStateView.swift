import HTTP
import Identity
import Localization
import Templating

/// The card that says what is enforced, by whom, since when, and for whom it isn't.
struct EffectiveStateView: ViewModel {
  let effective: EffectiveMFA
  let policy: Policy
  let unenrolled: UnenrolledUsers
  let context: ScopeContext
  let times: Times
  /// The number of consecutive wrong codes after which a user's codes are locked.
  let cap: Int

  private var codes: Markup {
    effective.kinds.isEmpty
      ? Chip.off(Message("policy.codes-not-required"))
      : Chip.on(Message("policy.codes-by-server"))
  }

  private var codesHint: Message {
    effective.kinds.isEmpty
      ? Message("policy.codes-off-hint")
      : Message("policy.codes-hint", ["count": .number(effective.askedUsers)])
  }

  private var enrollment: Markup {
    switch effective.enrollment {
    case .nobody: Chip.off(Message("policy.enrollment-by-nobody"))
    case .application: Chip.look(Message("policy.enrollment-by-application"))
    case .server(let enforcement):
      switch enforcement.mode {
      case .claim: Chip.look(Message("policy.enrollment-by-claim"))
      case .refuse: Chip.on(Message("policy.codes-by-server"))
      }
    }
  }

  private var enrollmentHint: Message {
    guard !effective.kinds.isEmpty else { return Message("policy.enrollment-off-hint") }
    if let day = effective.startsOn {
      return Message("policy.enrollment-starts", ["day": Times.value(day)])
    }
    if case .server(let enforcement) = effective.enrollment {
      switch enforcement.mode {
      case .claim: return Message("policy.enrollment-claim-hint")
      case .refuse: return Message("policy.enrollment-refuse-hint")
      }
    }
    switch effective.pattern {
    case .mandatory:
      guard let day = effective.enforcedFrom else {
        return Message("policy.enrollment-mandatory-hint")
      }
      return Message("policy.enrollment-enforced-from", ["day": Times.value(day)])
    case .stepUp: return Message("policy.enrollment-step-up-hint")
    case .skippable, .account, nil: return Message("policy.enrollment-optional-hint")
    }
  }

  private var mandatory: Message? {
    if case .server = effective.enrollment { return nil }
    // The server is going to enforce it.
    if effective.enforcedFrom != nil { return nil }
    return effective.saysMandatory ? Message("policy.mandatory-means") : nil
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
      "policy.not-enrolled-users",
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
      $0.effective.refusesNoOne ? Message("policy.refuses-no-one") : nil
    },
    .markup("enrollmentSince") { view in
      view.effective.enrollment == .nobody
        ? nil : view.effective.enrollmentSince.map(view.day)
    },
    .text("unasked") { $0.unasked },
    .text("exempt") { view in
      view.unenrolled.exempt == 0
        ? nil : Message("policy.and-exempt", ["count": .number(view.unenrolled.exempt)])
    },
    .text("unaskedUsers") { view in
      view.effective.unaskedUsers > 0 && view.context.may(.findUsers)
        // The list has those without any factor.
        && !view.unenrolled.haveDisabledFactors
        ? (["factor": "none"] as Form).query(of: ConsolePaths.users(view.context.scope)) : nil
    },
    .text("inGrace") { view in
      view.effective.usersInGrace > 0
        ? Message("policy.users-in-grace", ["count": .number(view.effective.usersInGrace)]) : nil
    },
    .text("mandatory") { $0.mandatory },
    .markup("totp") { $0.policy.configuration.chip },
    .text("sms") {
      $0.policy.configuration.isSMSOn ? Message("common.on") : Message("common.off")
    },
    .text("intervals") { WindowText.number($0.policy.configuration) },
    .number(\.cap),
    .text("simulator") {
      $0.context.may(.findUsers) ? ConsolePaths.signInSimulator() : nil
    },
  ]
}
