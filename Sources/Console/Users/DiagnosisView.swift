import Identity
import Localization
import OTP
import Templating

struct DiagnosisView: ViewModel {
  let finding: Message
  let advice: Message?
  let evidence: Markup?
  let isWrong: Bool

  init(_ diagnosis: SignInDiagnosis, of account: Account, at now: Instant, _ times: Times) {
    (finding, advice) = Self.text(diagnosis, of: account, at: now, times)
    evidence = Self.evidence(diagnosis, times)
    switch diagnosis.cause {
    case .noFactor, .factorsOff, nil: isWrong = false
    default: isWrong = true
    }
  }

  private static func text(
    _ diagnosis: SignInDiagnosis, of account: Account, at now: Instant, _ times: Times
  ) -> (finding: Message, advice: Message?) {
    let clock = diagnosis.drift.map { _ in CodeAttemptText.clockAdvice }
    switch diagnosis.cause {
    case .disabled:
      return (Message("users.diagnosis-disabled"), Message("users.advice-disabled"))
    case .locked:
      return (
        CodeAttemptText.lock(account, at: now, times) ?? Message("users.diagnosis-nothing"),
        clock ?? Message("users.advice-locked")
      )
    case .suspended(let factor, let until):
      return (
        Message(
          "users.diagnosis-suspended",
          ["name": FactorText.name(factor), "until": times.endValue(until)]),
        Message("users.advice-suspended")
      )
    case .drift(let drift): return (CodeAttemptText.finding(drift), CodeAttemptText.clockAdvice)
    case .reused: return (Message("users.diagnosis-reused"), Message("users.advice-reused"))
    case .incorrect(let count):
      return (
        Message("users.diagnosis-incorrect", ["count": .number(count)]),
        Message("users.advice-incorrect")
      )
    case .signInOff:
      return (Message("users.diagnosis-sign-in-off"), Message("users.advice-sign-in-off"))
    case .methodsOff:
      return (Message("users.diagnosis-methods-off"), Message("users.advice-methods-off"))
    case .enrollmentDue(.refuse):
      return (Message("users.diagnosis-refused"), Message("users.advice-refused"))
    case .enrollmentDue(.claim):
      return (Message("users.diagnosis-enrollment-due"), Message("users.advice-enrollment-due"))
    case .factorsOff:
      return (Message("users.diagnosis-factors-off"), Message("users.advice-no-factor"))
    case .unverifiedEmail:
      return (Message("users.diagnosis-no-factor"), Message("users.advice-unverified-email"))
    case .backupCodesOff(let state):
      return (
        off(state),
        Message(
          "users.advice-backup-codes-off",
          ["holder": .message(Permission.editSupportRules.holder)])
      )
    case .noFactor:
      return (Message("users.diagnosis-no-factor"), Message("users.advice-no-factor"))
    case nil: return (Message("users.diagnosis-nothing"), nil)
    }
  }

  private static func off(_ state: BackupCodeState) -> Message {
    guard state.temporaryIsOff else { return Message("users.diagnosis-recovery-codes-off") }
    return state.recoveryIsOff
      ? Message("users.diagnosis-backup-codes-off") : Message("users.diagnosis-temporary-code-off")
  }

  private static func evidence(_ diagnosis: SignInDiagnosis, _ times: Times) -> Markup? {
    var html = HTML()
    if let drift = diagnosis.drift {
      html.raw("<span>")
      html.message(CodeAttemptText.evidence(drift))
      html.raw("</span>")
      if let window = drift.newest.window {
        html.raw("<span>")
        html.message(
          Message("users.limit", ["count": .number(window.adjacentIntervals)]))
        html.raw("</span>")
      }
      if let lastOnTime = drift.lastOnTime {
        html.raw("<span>")
        html.message(Message("users.last-on-time"))
        html.raw(" ")
        html.add(times.past(lastOnTime))
        html.raw("</span>")
      }
    } else if let last = diagnosis.last {
      html.raw("<span>")
      html.message(
        Message(
          "users.last-code", ["result": .message(CodeAttemptText.sentence(last))]))
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
  ]
}
