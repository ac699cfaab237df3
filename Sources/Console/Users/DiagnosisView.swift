import Identity
import Localization
import OTP
import Templating

struct DiagnosisView: ViewModel {
  let finding: Message
  let advice: Message?
  let evidence: Markup?
  let isWrong: Bool
  /// Whether no code or sign-in works until an administrator acts.
  let isBlocked: Bool

  init(_ diagnosis: SignInDiagnosis, of account: Account, at now: Instant, _ times: Times) {
    (finding, advice) = Self.text(diagnosis, of: account, at: now, times)
    evidence = Self.evidence(diagnosis, times)
    switch diagnosis.cause {
    case .noFactor, .factorsOff, nil: (isWrong, isBlocked) = (false, false)
    case .disabled, .locked(.closed): (isWrong, isBlocked) = (false, true)
    default: (isWrong, isBlocked) = (true, false)
    }
  }

  private static func text(
    _ diagnosis: SignInDiagnosis, of account: Account, at now: Instant, _ times: Times
  ) -> (finding: Message, advice: Message?) {
    let clock = diagnosis.drift.map { _ in CodeAttemptText.clockAdvice }
    switch diagnosis.cause {
    case .disabled:
      return (
        Message("The user is disabled."),
        Message("Sign-in is refused until an administrator enables the user.")
      )
    case .locked:
      return (
        CodeAttemptText.lock(account, at: now, times) ?? Message("No sign-in problems detected."),
        clock ?? Message("Confirm the caller’s identity, then unlock the codes.")
      )
    case .suspended(let factor, let until):
      return (
        Message(
          "The factor “{name}” is suspended through {until}.",
          ["name": FactorText.name(factor), "until": times.endValue(until)]),
        Message("Its codes are rejected. End the suspension once the caller has the device.")
      )
    case .drift(let drift): return (CodeAttemptText.finding(drift), CodeAttemptText.clockAdvice)
    case .reused(let from):
      return (
        Message("The last code had already been used."),
        from.map {
          Message(
            "Later codes were used, too. The device’s codes are accepted from {time}.",
            ["time": times.start($0)])
        } ?? Message("Ask the caller to wait up to 30\u{A0}s and enter the next code.")
      )
    case .incorrect(let count):
      return (
        Message(
          one: "The last code was incorrect.",
          other: "The last {count} codes were incorrect.", ["count": .number(count)]),
        Message(
          """
          Ask the caller which entry in the authenticator app the codes are from. If it’s the \
          right one, remove the factor so that they can enroll again.
          """)
      )
    case .signInOff:
      return (
        Message("Sign-in is disabled for all users here."),
        Message("Every sign-in is refused until the project or tenant is enabled again.")
      )
    case .methodsOff:
      return (
        Message("All sign-in methods of this user are disabled."),
        Message("Sign-in is refused until one of them is enabled for the project or tenant.")
      )
    case .enrollmentDue(.refuse):
      return (
        Message("No second factor, so sign-in is refused."),
        Message(
          """
          Server enforcement refuses sign-in until the user enrolls, and emails them an enrollment \
          link. Ask the caller to look for it, or send another one.
          """)
      )
    case .enrollmentDue(.claim):
      return (
        Message("No second factor, although enrollment is due."),
        Message(
          """
          This user signs in without a code. The ID token says that enrollment is due, and your \
          application decides what happens.
          """)
      )
    case .factorsOff:
      return (
        Message("All second factors of this user are of disabled types."),
        Message("This user signs in without a code.")
      )
    case .unverifiedEmail:
      return (
        Message("No second factor."),
        Message("The caller can’t enroll one until the email address is verified.")
      )
    case .backupCodesOff(let state):
      return (
        off(state),
        Message(
          """
          Each one the caller enters counts as an incorrect code. Ask for a code from the \
          authenticator app. Turning these codes on requires the {roles} role.
          """, ["roles": Permission.editSupportRules.roleNames])
      )
    case .noFactor:
      return (Message("No second factor."), Message("This user signs in without a code."))
    case nil: return (Message("No sign-in problems detected."), nil)
    }
  }

  private static func off(_ state: BackupCodeState) -> Message {
    guard state.temporaryIsOff else {
      return Message(
        "Recovery codes are off in the support rules, so this user’s codes aren’t accepted.")
    }
    return state.recoveryIsOff
      ? Message(
        """
        Temporary and recovery codes are off in the support rules, so this user’s codes aren’t \
        accepted.
        """)
      : Message("Temporary codes are off in the support rules, so this user’s code isn’t accepted.")
  }

  private static func evidence(_ diagnosis: SignInDiagnosis, _ times: Times) -> Markup? {
    var html = HTML()
    if let drift = diagnosis.drift {
      html.raw("<span>")
      html.message(CodeAttemptText.evidence(drift))
      html.raw("</span> ")
      if let window = drift.newest.window {
        html.raw("<span>")
        html.message(
          Message(
            one: "Limit: {count} interval", other: "Limit: {count} intervals",
            ["count": .number(window.adjacentIntervals)]))
        html.raw("</span> ")
      }
      if let lastOnTime = drift.lastOnTime {
        html.raw("<span>")
        html.message(Message("Last on time"))
        html.raw(" ")
        html.add(times.past(lastOnTime))
        html.raw("</span>")
      }
    } else if let last = diagnosis.last {
      html.raw("<span>")
      html.message(
        Message("Last code: {result},", ["result": .message(CodeAttemptText.sentence(last))]))
      html.raw(" ")
      html.add(times.past(last.at))
      html.raw("</span>")
    } else {
      return nil
    }
    return html.markup
  }

  static let keys: Keys<Self> = [
    .text(\.finding),
    .text(\.advice),
    .markup(\.evidence),
    .flag(\.isWrong),
    .flag(\.isBlocked),
  ]
}

struct UserExemption: ViewModel {
  let exemption: Exemption
  /// The address to end it; nil without the permission.
  let end: String?
  let times: Times

  init(_ exemption: Exemption, of account: Account, in context: PoolContext) {
    self.exemption = exemption
    times = context.signedIn.times
    end = context.address(of: EndExemption.self, on: account)
  }

  static let keys: Keys<Self> = [
    .markup("sentence") {
      Message(
        "Exempted from MFA by {grantor} through {until}. Reason: {reason}",
        [
          "until": $0.times.endValue($0.exemption.endsAt),
          "grantor": .name(Formatted.short($0.exemption.grantorName)),
          "reason": .message(ExemptionText.reason($0.exemption)),
        ])
    },
    .text(\.end),
  ]
}
