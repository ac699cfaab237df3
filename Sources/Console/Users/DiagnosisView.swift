import Identity
import Localization
import OTP
import Templating

/// What's wrong with a user's sign-in, in front of the actions.
struct DiagnosisView: ViewModel {
  private enum Weight: String {
    /// Nothing is wrong.
    case calm
    case warn
    /// No code or sign-in works.
    case danger
  }

  /// What the finding explains; nil if it isn't about codes.
  private let about: Message?
  private let finding: Message
  private let facts: [Fact]
  private let weight: Weight
  /// How bad it is, as where all that needs attention is listed; nil if it isn't there.
  private let severity: SeverityMark?
  private let isFine: Bool
  /// The action that it leads to, and when.
  private let remedy: UserActionLink?
  private let occasion: Message

  init(
    _ diagnosis: SignInDiagnosis, of account: Account, _ remedy: UserActionLink?, at now: Instant,
    _ times: Times
  ) {
    let text = Self.text(diagnosis, of: account, at: now, times)
    finding = Self.lackingFactor(diagnosis, at: now, times) ?? text.finding
    var facts: [Fact] = []
    if case .locked(.closed) = diagnosis.cause {
      facts.append(
        Fact(
          Message("Effect"),
          Message(
            """
            Every code is rejected until an administrator unlocks the codes or removes a second \
            factor.
            """)))
    }
    if let advice = text.advice { facts.append(Fact(advice.label, advice.text)) }
    facts.add(
      diagnosis.drift == nil ? Message("Last code") : Message("Seen"),
      Self.evidence(diagnosis, times))
    self.facts = facts
    self.remedy = remedy
    isFine = diagnosis.cause == nil
    var (about, occasion): (Message?, Message) = (nil, Message("Next step"))
    weight =
      switch diagnosis.cause {
      case .noFactor, .factorsOff: diagnosis.lacksMandatoryFactor ? .warn : .calm
      case .disabled, .locked, .signInOff: .danger
      case nil: .calm
      default: .warn
      }
    severity =
      switch diagnosis.cause {
      case .locked: SeverityMark(.lockedOut)
      case .signInOff: SeverityMark(.signInOff)
      default: nil
      }
    switch diagnosis.cause {
    case .drift: (about, occasion) = (Message("Code rejected"), Message("If it can’t be set"))
    case .locked, .suspended, .reused, .incorrect, .backupCodesOff: about = Message("Code rejected")
    default: break
    }
    (self.about, self.occasion) = (about, occasion)
  }

  /// Returns that enrollment is mandatory, for a user without a second factor; nil if it isn't.
  private static func lackingFactor(
    _ diagnosis: SignInDiagnosis, at now: Instant, _ times: Times
  ) -> Message? {
    guard diagnosis.lacksMandatoryFactor else { return nil }
    switch diagnosis.cause {
    case .noFactor, .unverifiedEmail, .enrollmentDue: break
    default: return nil
    }
    guard let since = diagnosis.mandatorySince else {
      return diagnosis.hasHadFactor
        ? Message("No second factor, although it’s mandatory")
        : Message("Hasn’t enrolled, although it’s mandatory")
    }
    let isThisYear = since.year == times.calendarDay(of: now).year
    let day = isThisYear ? Times.short(since) : Times.value(since)
    return diagnosis.hasHadFactor
      ? Message("No second factor; mandatory since {day}", ["day": day])
      : Message("Hasn’t enrolled; mandatory since {day}", ["day": day])
  }

  private typealias Advice = (label: Message, text: Message)

  private static func caller(_ text: Message) -> Advice { (Message("Tell the caller"), text) }

  private static func effect(_ text: Message) -> Advice { (Message("Effect"), text) }

  private static func next(_ text: Message) -> Advice { (Message("Next step"), text) }

  private static func text(
    _ diagnosis: SignInDiagnosis, of account: Account, at now: Instant, _ times: Times
  ) -> (finding: Message, advice: Advice?) {
    switch diagnosis.cause {
    case .disabled:
      return (
        Message("The user is disabled"),
        effect(Message("Sign-in is refused until an administrator enables the user."))
      )
    case .locked(let lock):
      let rejection = lock == .closed ? nil : effect(Message("Correct codes are rejected, too."))
      return (
        CodeAttemptText.lock(account, at: now, times),
        diagnosis.drift == nil ? rejection : caller(CodeAttemptText.clockAdvice)
      )
    case .suspended(let factor, let until):
      return (
        Message(
          "The factor “{name}” is suspended through {until}",
          ["name": FactorText.name(factor), "until": times.endValue(until)]),
        effect(Message("Its codes are rejected until the caller has the device."))
      )
    case .drift(let drift):
      return (CodeAttemptText.finding(drift), caller(CodeAttemptText.clockAdvice))
    case .reused(let from):
      return (
        Message("The last code had already been used"),
        from.map {
          effect(
            Message(
              "Later codes were used, too. The device’s codes are accepted from {time}.",
              ["time": times.start($0)]))
        } ?? caller(Message("Wait up to 30\u{A0}s and enter the next code."))
      )
    case .incorrect(let count):
      return (
        Message(
          one: "The last code was incorrect",
          other: "The last {count} codes were incorrect", ["count": .number(count)]),
        next(
          Message(
            """
            Ask which entry in the authenticator app the codes are from. If it’s the right one, \
            remove the factor so that they can enroll again.
            """))
      )
    case .signInOff:
      return (
        Message("Sign-in is disabled for all users here"),
        effect(
          Message("Every sign-in is refused until the project or tenant is enabled again."))
      )
    case .methodsOff:
      return (
        Message("All sign-in methods of this user are disabled"),
        effect(
          Message("Sign-in is refused until one of them is enabled for the project or tenant."))
      )
    case .enrollmentDue(.refuse):
      return (
        Message("No second factor, so sign-in is refused"),
        caller(
          Message(
            """
            Look for the email with the enrollment link. Sign-in is refused until you’ve enrolled.
            """))
      )
    case .enrollmentDue(.claim):
      return (
        Message("No second factor, although enrollment is due"),
        effect(
          Message(
            """
            Signs in without a code. The ID token says that enrollment is due, and your \
            application decides what happens.
            """))
      )
    case .factorsOff:
      return (
        Message("All second factors of this user are of disabled types"),
        effect(Message("Signs in without a code."))
      )
    case .unverifiedEmail:
      return (
        Message("No second factor"),
        effect(Message("The caller can’t enroll until the email address is verified."))
      )
    case .backupCodesOff(let state):
      return (
        off(state),
        effect(
          Message(
            """
            Each one the caller enters counts as an incorrect code. Ask for a code from the \
            authenticator app. Turning these codes on requires the {roles} role.
            """, ["roles": Permission.editSupportRules.roleNames]))
      )
    case .noFactor:
      return (Message("No second factor"), effect(Message("Signs in without a code.")))
    case nil: return (Message("No sign-in problem"), nil)
    }
  }

  private static func off(_ state: BackupCodeState) -> Message {
    guard state.temporaryIsOff else {
      return Message("Recovery codes are off in the support rules, so they aren’t accepted")
    }
    return state.recoveryIsOff
      ? Message(
        "Temporary and recovery codes are off in the support rules, so they aren’t accepted")
      : Message("Temporary codes are off in the support rules, so this user’s isn’t accepted")
  }

  private static func evidence(_ diagnosis: SignInDiagnosis, _ times: Times) -> Markup? {
    if let drift = diagnosis.drift {
      let evidence = CodeAttemptText.evidence(drift)
      let newest = drift.newest
      let sentence =
        newest.window.map { window in
          Message(
            "{evidence} (limit {limit})",
            ["evidence": .message(evidence), "limit": .number(window.adjacentIntervals)])
        } ?? evidence
      var html = HTML()
      html.add("\(sentence)")
      if let strip = WindowStrip.marked(newest.window, at: newest.distance, isAccepted: false) {
        html.add(" \(strip)")
      }
      if let lastOnTime = drift.lastOnTime {
        let label = Message("Last on time")
        html.add("<br>\(label) \(times.past(lastOnTime))")
      }
      return html.markup
    }
    return diagnosis.last.map { "\(CodeAttemptText.sentence($0)), \(times.past($0.at))" }
  }

  static let keys: Keys<Self> = [
    .text(\.about),
    .text(\.finding),
    .text("weight") { $0.weight.rawValue },
    .optional(\.severity),
    .flag(\.isFine),
    .list(\.facts),
    .flag("hasFacts") { !$0.facts.isEmpty || $0.remedy != nil },
    .optional(\.remedy),
    .text(\.occasion),
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
