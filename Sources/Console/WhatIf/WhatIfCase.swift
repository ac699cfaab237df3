import HTTP
import Identity
import OTP
import Templating

/// The simulated sign-in of an account.
struct WhatIfCase: ViewModel {
  let label: String
  let href: String
  let place: String
  let chip: Markup
  let codeAttempt: String
  let facts: [Fact]

  init(_ forecast: SignInForecast, times: Times) {
    let (account, scope) = (forecast.account, forecast.scope)
    label = account.label
    href = ConsolePaths.user(scope, account.id.text)
    place =
      scope.tenant == nil
      ? Words.isolated(scope.projectName)
      : "\(Words.isolated(scope.projectName)) / \(Words.isolated(scope.name))"
    (chip, codeAttempt) = Self.codeAttempt(forecast, times)
    facts = Self.facts(forecast, times)
  }

  private static func codeAttempt(_ forecast: SignInForecast, _ times: Times) -> (Markup, String) {
    guard forecast.firstFactor == .accepted else {
      return (Chip.bad("rejected"), "The sign-in is rejected: \(reason(forecast, times)).")
    }
    switch forecast.secondFactor {
    case .none:
      return (
        Chip.look("first factor only"), "The password alone signs this user in."
      )
    case .due(_, _, .blocked(let until)):
      return (
        Chip.bad("codes blocked"),
        "The password is accepted. All codes are rejected until \(times.words(until)), including correct ones."
      )
    case .due(_, _, .closed):
      return (
        Chip.bad("locked"),
        "The password is accepted. All codes are rejected until the user is unlocked, including correct ones."
      )
    case .due(let factors, _, .open) where factors.count == forecast.suspended.count:
      return (
        AccountChips.suspended,
        "The password is accepted, then a code is required. Codes from \(FactorWords.list(factors)) are rejected while \(factors.count == 1 ? "it is" : "they are") suspended, including correct ones."
      )
    case .due(_, _, .open):
      return (Chip.on("code required"), "The password is accepted, then a code is required.")
    }
  }

  private static func reason(_ forecast: SignInForecast, _ times: Times) -> String {
    switch forecast.firstFactor {
    case .accepted: "it isn’t rejected"
    case .scopeDisabled: "sign-in is turned off for all users in this pool"
    case .passwordLoginDisabled: "password sign-in is turned off in this pool"
    case .tooManyAttempts(let until):
      "too many incorrect passwords; none is accepted until \(times.words(until))"
    case .noEmail: "this account has no email address"
    case .noPassword: "this account has no password"
    case .userDisabled: "this account is disabled"
    }
  }

  private static func facts(_ forecast: SignInForecast, _ times: Times) -> [Fact] {
    let (account, policy) = (forecast.account, forecast.policy)
    var facts = [
      Fact("First factor", firstFactor(forecast, times)),
      Fact("Sign-in methods", forecast.methods.words),
      Fact("Account", account.disabled ? Chip.bad("disabled") : Chip.on("enabled")),
      Fact("Email", AccountChips.email(account)),
      Fact("Second factor", secondFactor(forecast, times)),
    ]
    if let blocked = forecast.blockedNetworks {
      let networks = Words.count(blocked.count, "network", "networks")
      facts.append(
        Fact(
          "Too many incorrect passwords",
          "Rejected from \(networks) until \(times.words(blocked.until)), accepted from others"))
    }
    if case .due(let factors, let window, let lock) = forecast.secondFactor {
      if factors.contains(where: { $0.kind == .totp }) {
        facts.append(Fact("Valid codes", accepted(window, policy.configuration)))
      }
      facts.append(
        Fact(
          "Incorrect codes",
          wrongCodes(account, lock, times)))
    }
    facts.append(Fact("Enrollment", enrollment(forecast)))
    facts.append(Fact("Enrollment pattern", policy.patternName ?? "none recorded"))
    return facts
  }

  private static func wrongCodes(
    _ account: Account, _ lock: CodeLock, _ times: Times
  ) -> String {
    switch lock {
    case .open: "\(account.wrongCodes) in a row"
    case .blocked(let until): "\(account.wrongCodes) in a row, rejected until \(times.words(until))"
    case .closed: "\(account.wrongCodes) in a row, locked"
    }
  }

  private static func accepted(_ window: Window, _ configuration: MFAConfiguration) -> Markup {
    var html = HTML()
    html.add(WindowStrip.small(configuration))
    html.raw("<span class=\"sub\">")
    html.text(WindowWords.explanation(window))
    html.raw("</span>")
    return html.markup
  }

  private static func firstFactor(_ forecast: SignInForecast, _ times: Times) -> String {
    forecast.firstFactor == .accepted
      ? "The password is accepted" : Words.sentence(reason(forecast, times))
  }

  private static func secondFactor(_ forecast: SignInForecast, _ times: Times) -> Markup {
    switch forecast.secondFactor {
    case .due(let factors, _, _):
      var html = HTML()
      html.text("Required: ")
      for (index, factor) in factors.enumerated() {
        if index > 0 { html.text(", ") }
        html.add(HTML.isolated(factor.label))
        let suspended = forecast.suspended.first { $0.id == factor.id }
        if let until = suspended?.suspendedUntil {
          html.raw(" (suspended until ")
          html.add(times.moment(until))
          html.raw(")")
        }
      }
      let others = forecast.account.factors.filter { factor in
        !factors.contains { $0.id == factor.id }
      }
      if !others.isEmpty {
        html.text(
          ". \(Words.sentence(FactorWords.off(others))): "
            + "\(Words.count(others.count, "factor is", "factors are")) not required")
      }
      return html.markup
    case .none:
      let stored = forecast.account.factors
      guard !stored.isEmpty else { return HTML.escaped("Not required: none enrolled") }
      return HTML.escaped(
        "Not required: \(FactorWords.off(stored)), and \(Words.count(stored.count, "factor remains", "factors remain")) stored"
      )
    }
  }

  private static func enrollment(_ forecast: SignInForecast) -> String {
    switch forecast.enrollmentRefusal {
    case nil:
      return "Allowed within \(Enrollments.freshSignIn / 60) minutes of sign-in"
    case .totpNotEnabled: return "Not allowed: TOTP is off here"
    case .unverifiedEmail:
      return forecast.account.email == nil
        ? "Not allowed: no email address" : "Not allowed: the email address isn’t verified"
    case .alreadyEnrolled: return "Not allowed: an authenticator app is already enrolled"
    case .tooManyFactors:
      return "Not allowed: \(Enrollments.mostPhones) factors are already enrolled"
    case .changesLocked:
      return "Not allowed: the user reported a second factor change that wasn’t theirs"
    case .unsupportedFirstFactor:
      return "Not allowed: the first factor doesn’t support a second factor"
    default: return "Not allowed"
    }
  }

  static let keys: Keys<Self> = [
    .text("label") { $0.label },
    .text("href") { $0.href },
    .text("place") { $0.place },
    .markup("chip") { $0.chip },
    .text("codeAttempt") { $0.codeAttempt },
    .list("facts") { $0.facts },
  ]
}
