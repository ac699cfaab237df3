import HTTP
import Identity
import Localization
import OTP
import Templating

struct SignInSimulatorCase: ViewModel {
  let label: String
  let href: String
  let place: Message
  let chip: Markup
  let codeAttempt: Message
  let facts: [Fact]

  init(_ forecast: SignInForecast, times: Times) {
    let (account, scope) = (forecast.account, forecast.scope)
    label = account.label
    href = ConsolePaths.user(scope, account.id.text)
    let project = Message.Value.name(Formatted.short(scope.projectName))
    place =
      scope.tenant == nil
      ? .value(project)
      : Message(
        "sign-in-simulator.place",
        ["project": project, "tenant": .name(Formatted.short(scope.name))])
    (chip, codeAttempt) = Self.codeAttempt(forecast, times)
    facts = Self.facts(forecast, times)
  }

  private static func codeAttempt(
    _ forecast: SignInForecast, _ times: Times
  ) -> (Markup, Message) {
    if let rejection = rejection(forecast, times) {
      return (Chip.bad(Message("sign-in-simulator.chip-rejected")), rejection)
    }
    switch forecast.secondFactor {
    case .none:
      switch forecast.enforcement {
      case .refuse:
        return (
          Chip.bad(Message("sign-in-simulator.chip-rejected")), Message("sign-in-simulator.refused")
        )
      case .claim:
        return (
          Chip.look(Message("sign-in-simulator.chip-first-factor")),
          Message("sign-in-simulator.claimed")
        )
      case nil:
        return (
          Chip.look(Message("sign-in-simulator.chip-first-factor")),
          Message("sign-in-simulator.password-alone")
        )
      }
    case .due(_, _, .blocked(let until)):
      return (
        Chip.look(Message("sign-in-simulator.chip-blocked")),
        Message("sign-in-simulator.codes-blocked", ["time": times.value(until)])
      )
    case .due(_, _, .closed):
      return (
        Chip.bad(Message("sign-in-simulator.chip-locked")),
        Message("sign-in-simulator.codes-locked")
      )
    case .due(let factors, _, .open) where factors.count == forecast.suspended.count:
      let names = factors.map {
        Message("sign-in-simulator.quoted", ["name": .name(Formatted.short($0.label))])
      }
      return (
        AccountChips.suspended,
        Message(
          "sign-in-simulator.all-suspended",
          ["count": .number(factors.count), "factors": .list(names)])
      )
    case .due(_, _, .open):
      return (
        Chip.on(Message("sign-in-simulator.chip-code")), Message("sign-in-simulator.code-required")
      )
    }
  }

  private static func rejection(_ forecast: SignInForecast, _ times: Times) -> Message? {
    switch forecast.firstFactor {
    case .accepted: nil
    case .scopeDisabled: Message("sign-in-simulator.rejected-scope-disabled")
    case .passwordLoginDisabled: Message("sign-in-simulator.rejected-passwords-off")
    case .tooManyAttempts(let until):
      Message("sign-in-simulator.rejected-too-many-passwords", ["time": times.value(until)])
    case .noEmail: Message("sign-in-simulator.rejected-no-email")
    case .noPassword: Message("sign-in-simulator.rejected-no-password")
    case .userDisabled: Message("sign-in-simulator.rejected-user-disabled")
    }
  }

  private static func facts(_ forecast: SignInForecast, _ times: Times) -> [Fact] {
    let (account, policy) = (forecast.account, forecast.policy)
    var facts = [
      Fact(Message("sign-in-simulator.first-factor"), firstFactor(forecast, times)),
      Fact(Message("sign-in-simulator.sign-in-methods"), forecast.methods.words),
      Fact(
        Message("sign-in-simulator.account"),
        account.disabled
          ? Chip.bad(Message("sign-in-simulator.chip-disabled"))
          : Chip.on(Message("sign-in-simulator.chip-enabled"))),
      Fact(Message("common.email"), AccountChips.email(account)),
      Fact(Message("common.second-factor"), secondFactor(forecast, times)),
    ]
    if let blocked = forecast.blockedNetworks {
      facts.append(
        Fact(
          Message("sign-in-simulator.too-many-passwords"),
          Message(
            "sign-in-simulator.networks-blocked",
            ["count": .number(blocked.count), "time": times.value(blocked.until)])))
    }
    if case .due(let factors, let window, let lock) = forecast.secondFactor {
      if factors.contains(where: { $0.kind == .totp }) {
        facts.append(
          Fact(Message("sign-in-simulator.valid-codes"), accepted(window, policy.configuration)))
      }
      facts.append(
        Fact(Message("sign-in-simulator.incorrect-codes"), wrongCodes(account, lock, times)))
    }
    facts.append(Fact(Message("sign-in-simulator.enrollment"), enrollment(forecast)))
    facts.append(
      Fact(
        Message("policy.enrollment-pattern"),
        policy.edit.patternName ?? Message("policy.no-pattern-recorded")))
    return facts
  }

  private static func wrongCodes(
    _ account: Account, _ lock: CodeLock, _ times: Times
  ) -> Message {
    let codes = Message.Value.number(account.wrongCodes)
    return switch lock {
    case .open: Message("sign-in-simulator.wrong-codes", ["number": codes])
    case .blocked(let until):
      Message(
        "sign-in-simulator.wrong-codes-blocked", ["number": codes, "time": times.value(until)])
    case .closed: Message("sign-in-simulator.wrong-codes-locked", ["number": codes])
    }
  }

  private static func accepted(_ window: Window, _ configuration: MFAConfiguration) -> Markup {
    var html = HTML()
    html.add(WindowStrip.small(configuration))
    html.raw("<span class=\"sub\">")
    html.message(WindowText.explanation(window))
    html.raw("</span>")
    return html.markup
  }

  private static func firstFactor(_ forecast: SignInForecast, _ times: Times) -> Message {
    switch forecast.firstFactor {
    case .accepted: Message("sign-in-simulator.password-accepted")
    case .scopeDisabled: Message("sign-in-simulator.scope-disabled")
    case .passwordLoginDisabled: Message("sign-in-simulator.passwords-off")
    case .tooManyAttempts(let until):
      Message("sign-in-simulator.none-accepted-until", ["time": times.value(until)])
    case .noEmail: Message("sign-in-simulator.no-email")
    case .noPassword: Message("sign-in-simulator.no-password")
    case .userDisabled: Message("sign-in-simulator.user-disabled")
    }
  }

  private static func secondFactor(_ forecast: SignInForecast, _ times: Times) -> Markup {
    let stored = forecast.account.factors
    switch forecast.secondFactor {
    case .due(let factors, _, _):
      let required = Message.Value.sequence(factors.map { name($0, forecast, times) })
      let others = stored.filter { factor in !factors.contains { $0.id == factor.id } }
      let count = Message.Value.number(others.count)
      let message =
        switch FactorKinds(others) {
        case .none: Message("sign-in-simulator.required", ["factors": required])
        case .totp:
          Message("sign-in-simulator.required-totp-off", ["factors": required, "count": count])
        case .phone:
          Message("sign-in-simulator.required-sms-off", ["factors": required, "count": count])
        case .both:
          Message("sign-in-simulator.required-both-off", ["factors": required, "count": count])
        }
      return Markup(html: message)
    case .none:
      let count = Message.Value.number(stored.count)
      let message =
        switch FactorKinds(stored) {
        case .none: Message("sign-in-simulator.none-enrolled")
        case .totp: Message("sign-in-simulator.not-required-totp-off", ["count": count])
        case .phone: Message("sign-in-simulator.not-required-sms-off", ["count": count])
        case .both: Message("sign-in-simulator.not-required-both-off", ["count": count])
        }
      return Markup(escaping: message)
    }
  }

  private static func name(
    _ factor: Factor, _ forecast: SignInForecast, _ times: Times
  ) -> Message {
    let name = Message.Value.name(Formatted.short(factor.label))
    let suspended = forecast.suspended.first { $0.id == factor.id }
    guard let until = suspended?.suspendedUntil else {
      return Message("sign-in-simulator.quoted", ["name": name])
    }
    return Message(
      "sign-in-simulator.suspended-factor", ["name": name, "time": times.endValue(until)])
  }

  private static func enrollment(_ forecast: SignInForecast) -> Message {
    switch forecast.enrollmentRefusal {
    case nil:
      return Message(
        "sign-in-simulator.may-enroll", ["count": .number(Int(Enrollments.freshSignIn / 60))])
    case .totpNotEnabled: return Message("sign-in-simulator.may-not-enroll-off")
    case .unverifiedEmail:
      return forecast.account.email == nil
        ? Message("sign-in-simulator.may-not-enroll-no-email")
        : Message("sign-in-simulator.may-not-enroll-unverified")
    case .alreadyEnrolled: return Message("sign-in-simulator.may-not-enroll-again")
    case .tooManyFactors:
      return Message(
        "sign-in-simulator.may-not-enroll-more", ["count": .number(Enrollments.mostPhones)])
    case .changesLocked: return Message("sign-in-simulator.may-not-enroll-locked")
    case .unsupportedFirstFactor: return Message("sign-in-simulator.may-not-enroll-first-factor")
    default: return Message("sign-in-simulator.may-not-enroll")
    }
  }

  static let keys: Keys<Self> = [
    .text(\.label),
    .text(\.href),
    .text(\.place),
    .markup(\.chip),
    .text(\.codeAttempt),
    .list(\.facts),
  ]
}

private enum FactorKinds {
  case none, totp, phone, both

  init(_ factors: [Factor]) {
    let hasTOTP = factors.contains { $0.kind == .totp }
    let hasPhone = factors.contains { $0.kind == .phone }
    self =
      switch (hasTOTP, hasPhone) {
      case (false, false): .none
      case (true, false): .totp
      case (false, true): .phone
      case (true, true): .both
      }
  }
}
