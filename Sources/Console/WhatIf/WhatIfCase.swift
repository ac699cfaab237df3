import HTTP
import Identity
import Localization
import OTP
import Templating

/// The simulated sign-in of an account.
struct WhatIfCase: ViewModel {
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
    let project = Message.Value.name(Words.short(scope.projectName))
    place =
      scope.tenant == nil
      ? .value(project)
      : Message(
        "what-if.place", ["project": project, "tenant": .name(Words.short(scope.name))])
    (chip, codeAttempt) = Self.codeAttempt(forecast, times)
    facts = Self.facts(forecast, times)
  }

  private static func codeAttempt(
    _ forecast: SignInForecast, _ times: Times
  ) -> (Markup, Message) {
    if let rejection = rejection(forecast, times) {
      return (Chip.bad(Message("what-if.chip-rejected")), rejection)
    }
    switch forecast.secondFactor {
    case .none:
      switch forecast.enforcement {
      case .refuse:
        return (Chip.bad(Message("what-if.chip-rejected")), Message("what-if.refused"))
      case .claim:
        return (Chip.look(Message("what-if.chip-first-factor")), Message("what-if.claimed"))
      case nil:
        return (Chip.look(Message("what-if.chip-first-factor")), Message("what-if.password-alone"))
      }
    case .due(_, _, .blocked(let until)):
      return (
        Chip.look(Message("what-if.chip-blocked")),
        Message("what-if.codes-blocked", ["time": times.value(until)])
      )
    case .due(_, _, .closed):
      return (Chip.bad(Message("what-if.chip-locked")), Message("what-if.codes-locked"))
    case .due(let factors, _, .open) where factors.count == forecast.suspended.count:
      let names = factors.map {
        Message("what-if.quoted", ["name": .name(Words.short($0.label))])
      }
      return (
        AccountChips.suspended,
        Message(
          "what-if.all-suspended", ["count": .number(factors.count), "factors": .list(names)])
      )
    case .due(_, _, .open):
      return (Chip.on(Message("what-if.chip-code")), Message("what-if.code-required"))
    }
  }

  /// Says why the sign-in is rejected; nil if the password is accepted.
  private static func rejection(_ forecast: SignInForecast, _ times: Times) -> Message? {
    switch forecast.firstFactor {
    case .accepted: nil
    case .scopeDisabled: Message("what-if.rejected-scope-disabled")
    case .passwordLoginDisabled: Message("what-if.rejected-passwords-off")
    case .tooManyAttempts(let until):
      Message("what-if.rejected-too-many-passwords", ["time": times.value(until)])
    case .noEmail: Message("what-if.rejected-no-email")
    case .noPassword: Message("what-if.rejected-no-password")
    case .userDisabled: Message("what-if.rejected-user-disabled")
    }
  }

  private static func facts(_ forecast: SignInForecast, _ times: Times) -> [Fact] {
    let (account, policy) = (forecast.account, forecast.policy)
    var facts = [
      Fact(Message("what-if.first-factor"), firstFactor(forecast, times)),
      Fact(Message("what-if.sign-in-methods"), forecast.methods.words),
      Fact(
        Message("what-if.account"),
        account.disabled
          ? Chip.bad(Message("what-if.chip-disabled"))
          : Chip.on(Message("what-if.chip-enabled"))),
      Fact(Message("common.email"), AccountChips.email(account)),
      Fact(Message("common.second-factor"), secondFactor(forecast, times)),
    ]
    if let blocked = forecast.blockedNetworks {
      facts.append(
        Fact(
          Message("what-if.too-many-passwords"),
          Message(
            "what-if.networks-blocked",
            ["count": .number(blocked.count), "time": times.value(blocked.until)])))
    }
    if case .due(let factors, let window, let lock) = forecast.secondFactor {
      if factors.contains(where: { $0.kind == .totp }) {
        facts.append(
          Fact(Message("what-if.valid-codes"), accepted(window, policy.configuration)))
      }
      facts.append(
        Fact(Message("what-if.incorrect-codes"), wrongCodes(account, lock, times)))
    }
    facts.append(Fact(Message("what-if.enrollment"), enrollment(forecast)))
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
    case .open: Message("what-if.wrong-codes", ["number": codes])
    case .blocked(let until):
      Message("what-if.wrong-codes-blocked", ["number": codes, "time": times.value(until)])
    case .closed: Message("what-if.wrong-codes-locked", ["number": codes])
    }
  }

  private static func accepted(_ window: Window, _ configuration: MFAConfiguration) -> Markup {
    var html = HTML()
    html.add(WindowStrip.small(configuration))
    html.raw("<span class=\"sub\">")
    html.message(WindowWords.explanation(window))
    html.raw("</span>")
    return html.markup
  }

  private static func firstFactor(_ forecast: SignInForecast, _ times: Times) -> Message {
    switch forecast.firstFactor {
    case .accepted: Message("what-if.password-accepted")
    case .scopeDisabled: Message("what-if.scope-disabled")
    case .passwordLoginDisabled: Message("what-if.passwords-off")
    case .tooManyAttempts(let until):
      Message("what-if.none-accepted-until", ["time": times.value(until)])
    case .noEmail: Message("what-if.no-email")
    case .noPassword: Message("what-if.no-password")
    case .userDisabled: Message("what-if.user-disabled")
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
        case .none: Message("what-if.required", ["factors": required])
        case .totp:
          Message("what-if.required-totp-off", ["factors": required, "count": count])
        case .phone:
          Message("what-if.required-sms-off", ["factors": required, "count": count])
        case .both:
          Message("what-if.required-both-off", ["factors": required, "count": count])
        }
      return Markup(html: message)
    case .none:
      let count = Message.Value.number(stored.count)
      let message =
        switch FactorKinds(stored) {
        case .none: Message("what-if.none-enrolled")
        case .totp: Message("what-if.not-required-totp-off", ["count": count])
        case .phone: Message("what-if.not-required-sms-off", ["count": count])
        case .both: Message("what-if.not-required-both-off", ["count": count])
        }
      return Markup(escaping: message)
    }
  }

  /// The name of a required factor, with the time until which it's suspended.
  private static func name(
    _ factor: Factor, _ forecast: SignInForecast, _ times: Times
  ) -> Message {
    let name = Message.Value.name(factor.label)
    let suspended = forecast.suspended.first { $0.id == factor.id }
    guard let until = suspended?.suspendedUntil else { return .value(name) }
    return Message("what-if.suspended-factor", ["name": name, "time": times.value(until)])
  }

  private static func enrollment(_ forecast: SignInForecast) -> Message {
    switch forecast.enrollmentRefusal {
    case nil:
      return Message(
        "what-if.may-enroll", ["count": .number(Int(Enrollments.freshSignIn / 60))])
    case .totpNotEnabled: return Message("what-if.may-not-enroll-off")
    case .unverifiedEmail:
      return forecast.account.email == nil
        ? Message("what-if.may-not-enroll-no-email")
        : Message("what-if.may-not-enroll-unverified")
    case .alreadyEnrolled: return Message("what-if.may-not-enroll-again")
    case .tooManyFactors:
      return Message(
        "what-if.may-not-enroll-more", ["count": .number(Enrollments.mostPhones)])
    case .changesLocked: return Message("what-if.may-not-enroll-locked")
    case .unsupportedFirstFactor: return Message("what-if.may-not-enroll-first-factor")
    default: return Message("what-if.may-not-enroll")
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

/// The kinds of some second factors.
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
