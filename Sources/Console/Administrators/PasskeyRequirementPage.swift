import HTTP
import Identity
import Localization
import Templating

/// `/administrators/passkeys`: whether administrators who manage others must sign in with a passkey.
struct PasskeyRequirementPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<PasskeyRequirementView>

  private static let action = ConsoleAction.changePasskeyRequirement

  func change(_ signedIn: SignedIn) async throws -> Response {
    let isRequired: Bool
    switch signedIn.form.trimmed("required") {
    case PasskeyRequirementView.on: isRequired = true
    case PasskeyRequirementView.off: isRequired = false
    default: throw Refusal.unreadableForm
    }
    do {
      let outcome = try await identity.passkeys.setRequired(
        isRequired, by: .console(actions.request(signedIn)))
      let text =
        !outcome.value
        ? Message("No changes made.")
        : isRequired ? Message("Passkeys are now required.") : Message("Passkeys are now optional.")
      return actions.leave(text, signedIn, after: outcome, to: ConsolePaths.instanceSettings())
    } catch {
      let errors = try await actions.faults(error, Self.action, signedIn) {
        (error: InstanceSettingError) in
        guard case .passkeyNotUsed = error else { throw error }
        return FieldError(
          field: "required",
          text: Message(
            "Use your own passkey first: sign in with it, or confirm your identity with it."))
      }
      return try await page(signedIn, errors: errors)
    }
  }

  func page(
    _ signedIn: SignedIn, errors: [FieldError] = []
  ) async throws -> Response {
    let isOn = try await identity.passkeys.isRequired()
    let isPossible = isOn || publicURL.relyingParty != nil
    // Without the form, the page itself says what's missing.
    let framed = FrameView(
      await frames.frame(
        Message("Passkey requirement"), for: signedIn, crumbs: Link.crumbsOfInstance,
        errors: isPossible ? errors : []))
    let model = PasskeyRequirementView(
      frame: framed, isOn: isOn,
      unusable: isPossible ? nil : publicURL.passkeyObstacle,
      fields: try await actions.fields(Self.action, signedIn, framed))
    return .html(view.render(model), errors: errors)
  }
}

struct PasskeyRequirementView: ViewModel {
  static let (on, off) = ("yes", "no")

  let frame: FrameView
  let isOn: Bool
  let unusable: Message?
  let fields: ActionFields

  static func state(_ isOn: Bool) -> Message {
    let roles = Permission.manageAdministrators.roleNames
    return isOn
      ? Message("On. This role requires a passkey to sign in: {roles}.", ["roles": roles])
      : Message("Off. The {roles} role can sign in with a password and code.", ["roles": roles])
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("state") { state($0.isOn) },
    .texts("sentences") { view in
      view.isOn
        ? [Message("A password and code, which can be phished, are enough again.")]
        : [
          Message(
            """
            A password and code are no longer enough: a passkey is required, alone or after the \
            password.
            """),
          Message("Open sessions without a passkey can’t continue until one is added or used."),
          Message("If all passkeys are lost, the operator can turn this off on the command line."),
        ]
    },
    .text(\.unusable),
    .text("requirementError") { $0.frame.error(at: "required") },
    .text("action") { _ in ConsolePaths.passkeyRequirement() },
    .text("back") { _ in ConsolePaths.instanceSettings() },
    .text("account") { _ in ConsolePaths.account() },
    .text("value") { $0.isOn ? off : on },
    .text("button") {
      $0.isOn ? Message("Stop requiring passkeys") : Message("Require passkeys")
    },
    .text("look") { $0.isOn ? "destroy" : "primary" },
    .object("authorization") { $0.fields },
  ]
}

extension ConsolePaths {
  static let passkeyRequirement = Path("administrators", "passkeys")
}
