import Identity
import Localization
import MailText
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
    let (account, pool) = (forecast.account, forecast.pool)
    label = account.label
    href = ConsolePaths.user(pool, account.id.text)
    let project = Message.Value.name(Formatted.short(pool.projectName))
    place =
      pool.tenant == nil
      ? .value(project)
      : Message(
        "{project} / {tenant}",
        ["project": project, "tenant": .name(Formatted.short(pool.name))])
    (chip, codeAttempt) = Self.codeAttempt(forecast, times)
    facts = Self.facts(forecast, times)
  }

  private static func codeAttempt(
    _ forecast: SignInForecast, _ times: Times
  ) -> (Markup, Message) {
    if let rejection = rejection(forecast, times) {
      return (Chip.bad(Message("rejected")), rejection)
    }
    switch forecast.secondFactor {
    case .none:
      switch forecast.enforcement {
      case .refuse:
        return (
          Chip.bad(Message("rejected")),
          Message(
            """
            The server enforces enrollment and refuses this user until a second factor is set up. \
            The user receives an enrollment link by email.
            """)
        )
      case .claim:
        return (
          Chip.look(Message("first factor only")),
          Message(
            """
            The password alone signs this user in. The ID token says that a second factor should \
            be set up.
            """)
        )
      case nil:
        return (
          Chip.look(Message("first factor only")),
          Message("The password alone signs this user in.")
        )
      }
    case .due(_, _, .blocked(let until)):
      return (
        Chip.look(Message("codes blocked")),
        Message(
          "The password is accepted. All codes are rejected until {time}, including correct ones.",
          ["time": times.value(until)])
      )
    case .due(_, _, .closed):
      return (
        Chip.bad(Message("locked")),
        Message(
          """
          The password is accepted. All codes are rejected until the user is unlocked, including \
          correct ones.
          """)
      )
    case .due(let factors, _, .open) where factors.count == forecast.suspended.count:
      let names = factors.map {
        Message("“{name}”", ["name": .name(Formatted.short($0.label))])
      }
      return (
        AccountChips.suspended,
        Message(
          one: """
            The password is accepted, then a code is required. Codes from the factor {factors} \
            are rejected while it’s suspended, including correct ones.
            """,
          other: """
            The password is accepted, then a code is required. Codes from the factors {factors} \
            are rejected while they’re suspended, including correct ones.
            """,
          ["count": .number(factors.count), "factors": .list(names)])
      )
    case .due(_, _, .open):
      if let (factor, drift, window) = forecast.factorOffTime {
        return (
          Chip.bad(Message("rejected")), CodeAttemptText.rejection(of: factor, drift, window)
        )
      }
      return (
        Chip.on(Message("code required")),
        Message("The password is accepted, then a code is required.")
      )
    }
  }

  private static func rejection(_ forecast: SignInForecast, _ times: Times) -> Message? {
    switch forecast.firstFactor {
    case .accepted: nil
    case .poolDisabled:
      Message("The sign-in is rejected: sign-in is turned off for all users in this user pool.")
    case .passwordLoginDisabled:
      Message("The sign-in is rejected: password sign-in is turned off in this user pool.")
    case .tooManyAttempts(let until):
      Message(
        """
        The sign-in is rejected: too many incorrect passwords. All passwords are rejected until \
        {time}, including the correct one.
        """, ["time": times.value(until)])
    case .noEmail: Message("The sign-in is rejected: this account has no email address.")
    case .noPassword: Message("The sign-in is rejected: this account has no password.")
    case .userDisabled: Message("The sign-in is rejected: this account is disabled.")
    case .locked:
      Message(
        "The sign-in is rejected: this account is locked, because its user reported a change.")
    }
  }

  private static func facts(_ forecast: SignInForecast, _ times: Times) -> [Fact] {
    let (account, policy) = (forecast.account, forecast.policy)
    var facts = [
      Fact(Message("First factor"), firstFactor(forecast, times)),
      Fact(Message("Sign-in methods"), forecast.methods.words),
      Fact(
        Message("Account"),
        account.disabled
          ? Chip.bad(Message("disabled"))
          : Chip.on(Message("enabled"))),
      Fact(Message("Email"), AccountChips.email(account)),
      Fact(Message("Second factor"), secondFactor(forecast, times)),
    ]
    if let blocked = forecast.blockedNetworks {
      facts.append(
        Fact(
          Message("Too many incorrect passwords"),
          Message(
            one: "Rejected from {count} network until {time}, accepted from others",
            other: "Rejected from {count} networks until {time}, accepted from others",
            ["count": .number(blocked.count), "time": times.value(blocked.until)])))
    }
    if case .due(let factors, let window, let lock) = forecast.secondFactor {
      if factors.contains(where: { $0.kind == .totp }) {
        facts.append(
          Fact(Message("Adjacent intervals"), accepted(window, policy.configuration)))
      }
      facts.append(
        Fact(Message("Incorrect codes"), wrongCodes(account, lock, times)))
    }
    facts.append(Fact(Message("Enrollment"), enrollment(forecast)))
    facts.append(
      Fact(
        Message("Enrollment pattern"),
        policy.edit.patternName ?? Message("none recorded")))
    return facts
  }

  private static func wrongCodes(
    _ account: Account, _ lock: CodeLock, _ times: Times
  ) -> Message {
    let codes = Message.Value.number(account.wrongCodes)
    return switch lock {
    case .open: Message("{number} in a row", ["number": codes])
    case .blocked(let until):
      Message(
        "{number} in a row, rejected until {time}", ["number": codes, "time": times.value(until)])
    case .closed: Message("{number} in a row, locked", ["number": codes])
    }
  }

  private static func accepted(_ window: Window, _ configuration: MFAConfiguration) -> Markup {
    #"""
    \#(WindowStrip.small(configuration))<span class="sub">\#(WindowText.explanation(window))</span>
    """#
  }

  private static func firstFactor(_ forecast: SignInForecast, _ times: Times) -> Message {
    switch forecast.firstFactor {
    case .accepted: Message("The password is accepted")
    case .poolDisabled: Message("Sign-in is turned off for all users in this user pool")
    case .passwordLoginDisabled: Message("Password sign-in is turned off in this user pool")
    case .tooManyAttempts(let until):
      Message(
        "Too many incorrect passwords: all passwords are rejected until {time}",
        ["time": times.value(until)])
    case .noEmail: Message("This account has no email address")
    case .noPassword: Message("This account has no password")
    case .userDisabled: Message("This account is disabled")
    case .locked(let signIn): signIn.sentence
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
        case .none: Message("Required: {factors}", ["factors": required])
        case .totp:
          Message(
            one: "Required: {factors}. TOTP is off: {count} factor isn’t required",
            other: "Required: {factors}. TOTP is off: {count} factors aren’t required",
            ["factors": required, "count": count])
        case .phone:
          Message(
            one: "Required: {factors}. SMS is off: {count} factor isn’t required",
            other: "Required: {factors}. SMS is off: {count} factors aren’t required",
            ["factors": required, "count": count])
        case .both:
          Message(
            one: "Required: {factors}. TOTP and SMS are off: {count} factor isn’t required",
            other: "Required: {factors}. TOTP and SMS are off: {count} factors aren’t required",
            ["factors": required, "count": count])
        }
      return Markup(html: message)
    case .none:
      let count = Message.Value.number(stored.count)
      let message =
        switch FactorKinds(stored) {
        case .none: Message("Not required: none enrolled")
        case .totp:
          Message(
            one: "Not required: TOTP is off, and {count} factor remains stored",
            other: "Not required: TOTP is off, and {count} factors remain stored", ["count": count])
        case .phone:
          Message(
            one: "Not required: SMS is off, and {count} factor remains stored",
            other: "Not required: SMS is off, and {count} factors remain stored", ["count": count])
        case .both:
          Message(
            one: "Not required: TOTP and SMS are off, and {count} factor remains stored",
            other: "Not required: TOTP and SMS are off, and {count} factors remain stored",
            ["count": count])
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
      return Message("“{name}”", ["name": name])
    }
    return Message(
      "{name} (suspended through {time})", ["name": name, "time": times.endValue(until)])
  }

  private static func enrollment(_ forecast: SignInForecast) -> Message {
    switch forecast.enrollmentRefusal {
    case nil:
      return Message(
        one: "Allowed within {count} minute of sign-in",
        other: "Allowed within {count} minutes of sign-in",
        ["count": .number(Int(Enrollments.freshSignIn / 60))])
    case .totpNotEnabled: return Message("Not allowed: TOTP is off")
    case .unverifiedEmail:
      return forecast.account.email == nil
        ? Message("Not allowed: no email address")
        : Message("Not allowed: the email address isn’t verified")
    case .alreadyEnrolled: return Message("Not allowed: an authenticator app is already enrolled")
    case .tooManyFactors:
      return Message(
        one: "Not allowed: {count} factor is already enrolled",
        other: "Not allowed: {count} factors are already enrolled",
        ["count": .number(Enrollments.mostPhones)])
    case .changesLocked:
      return Message("Not allowed: the user reported a second factor change they didn’t make")
    case .unsupportedFirstFactor:
      return Message("Not allowed: the first factor doesn’t support a second factor")
    default: return Message("Not allowed")
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
