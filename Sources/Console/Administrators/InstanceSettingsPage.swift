import HTTP
import Identity
import Localization
import Templating

/// `/instance-settings`: the rules for administrators' sign-ins and sessions.
struct InstanceSettingsPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<InstanceSettingsView>

  func page(
    _ signedIn: SignedIn, status: Status = .ok, faults: [FieldError] = []
  ) async throws -> Response {
    let minutes = try await identity.support.stepUpMinutes()
    let limits = try await identity.consoleSessions.limits()
    let requiresPasskeys = try await identity.passkeys.isRequired()
    let frame = await actions.frames.frame(
      Message("Instance settings"), for: signedIn, errors: faults)
    let asksForCode = try await identity.support.asksForCode(signedIn.session)
    let model = InstanceSettingsView(
      frame: FrameView(frame), signedIn: signedIn, limits: limits, minutes: minutes,
      typedMinutes: faults.isEmpty ? nil : signedIn.form.trimmed("minutes"),
      asksForCode: asksForCode, requiresPasskeys: requiresPasskeys,
      hasProvider: try await identity.consoleProviders.find() != nil)
    return .html(view.render(model), status: status)
  }

  /// `/instance-settings/step-up`: changes the re-authentication interval for actions on users.
  func setStepUp(_ signedIn: SignedIn) async throws -> Response {
    let minutes = Int(signedIn.form.trimmed("minutes")) ?? 0
    let outcome: ActionOutcome<Bool>
    do {
      outcome = try await identity.support.setStepUp(
        minutes: minutes, by: .console(ActionInput(signedIn.form).request(signedIn)))
    } catch let denial as ActionDenial {
      let faults = try ActionErrorText.settingsFaults(denial, signedIn.times, .protectUsers)
      return try await page(signedIn, status: .unprocessableContent, faults: faults)
    }
    let text =
      outcome.value
      ? Message(
        one: "Re-authentication interval set to {count} minute.",
        other: "Re-authentication interval set to {count} minutes.", ["count": .number(minutes)])
      : Message("No changes made.")
    return actions.leave(text, signedIn, after: outcome, to: ConsolePaths.instanceSettings())
  }
}

struct InstanceSettingsView: ViewModel {
  let frame: FrameView
  let signedIn: SignedIn
  let limits: SessionLimits
  let minutes: Int
  let typedMinutes: String?
  let asksForCode: Bool
  let requiresPasskeys: Bool
  let hasProvider: Bool

  private var mayManage: Bool {
    signedIn.administrator.may(.manageAdministrators, in: nil)
  }
  private var maySetStepUp: Bool { signedIn.administrator.may(.protectUsers, in: nil) }

  private var refusal: Notice? {
    maySetStepUp ? Notice(lackingCode: asksForCode, signedIn) : nil
  }

  private var interval: Field {
    let (label, stored) = (Message("Re-authentication interval"), String(minutes))
    let hint = Message(
      """
      Before a sensitive action, such as removing a user’s second factor, administrators must \
      confirm their identity again if they haven’t in this time. 1 to 240.
      """)
    let unit = Message("minutes")
    guard maySetStepUp, refusal == nil else {
      return Field.fact("minutes", label, hint: hint, value: stored).counting(unit)
    }
    return Field.line(
      "minutes", label, hint: hint, Field.Look.figure, value: typedMinutes ?? stored
    ).over(stored).counting(unit).shown(nil, frame)
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .object("interval") { $0.interval },
    .text("cancel") { _ in ConsolePaths.home() },
    .text("stepUp") { $0.maySetStepUp && $0.refusal == nil ? ConsolePaths.stepUp() : nil },
    .optional("refusal") { $0.refusal },
    .optional("codeField") {
      CodeField($0.asksForCode, $0.frame, action: ConsolePaths.stepUp())
    },
    .text("passkeyState") { PasskeyRequirementView.state($0.requiresPasskeys) },
    .text("passkeyRequirement") { $0.mayManage ? ConsolePaths.passkeyRequirement() : nil },
    .flag(\.hasProvider),
    .text("signInProvider") { $0.mayManage ? ConsolePaths.signInProvider() : nil },
    .text("limits") { $0.limits.sentence },
    .text("sessionLimits") { $0.mayManage ? ChangeSessionLimits.path() : nil },
  ]
}

extension ConsolePaths {
  static let instanceSettings = Path("instance-settings")
  static let stepUp = Path("instance-settings", "step-up")
}

extension Link {
  static var crumbsOfInstance: [Link] {
    [Link(text: Message("Instance settings"), href: ConsolePaths.instanceSettings())]
  }
}
