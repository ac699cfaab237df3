import HTTP
import Identity
import Localization
import Templating

/// `/administrators/password-sign-in`: whether administrators can sign in without the provider.
struct PasswordSignInPage: Sendable {
  let identity: Identity
  let actions: ActionForms
  let view: Template<PasswordSignInView>

  private static let action = ConsoleAction.changePasswordSignIn

  func show(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    try await page(signedIn)
  }

  func change(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let isOn: Bool
    switch signedIn.form.trimmed("state") {
    case PasswordSignInView.on: isOn = true
    case PasswordSignInView.off: isOn = false
    default: throw .unreadableForm
    }
    let account = signedIn.form.trimmed("account")
    guard isOn || !account.isEmpty else {
      let fault = FieldError(field: "account", text: Message("sign-in-provider.account-required"))
      return try await page(
        signedIn, errors: [fault] + (try await actions.unmet(Self.action, signedIn)))
    }
    do {
      let outcome = try await identity.consoleProviders.setBreakGlassAccount(
        isOn ? nil : ID(account), actions.request(signedIn))
      let text =
        !outcome.value
        ? Message("administrators.no-changes-made")
        : isOn ? Message("sign-in-provider.now-on") : Message("sign-in-provider.now-off")
      return actions.leave(text, signedIn, after: outcome, to: ConsolePaths.administrators())
    } catch {
      let errors = try await actions.faults(error, Self.action, signedIn) {
        error throws(Refusal) in
        let text: Message
        switch error {
        case .noProvider: text = Message("sign-in-provider.provider-required")
        case .providerNotUsed: text = Message("sign-in-provider.sign-in-with-it-first")
        case .notOwner: text = Message("sign-in-provider.not-eligible")
        case .noOwnSignIn: text = Message("sign-in-provider.no-own-sign-in")
        case .unavailable: throw Refusal.unavailable(error)
        }
        return FieldError(field: "account", text: text)
      }
      return try await page(signedIn, errors: errors)
    }
  }

  private func page(
    _ signedIn: SignedIn, errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let off = try await refusing { try await identity.consoleProviders.passwordSignInOff() }
    let records = try await refusing { try await identity.administrators.records() }
    let provider = try await refusing { try await identity.consoleProviders.name() }
    let isPossible = provider != nil || off != nil
    var frame = actions.frames.frame(Message("sign-in-provider.password-sign-in"), for: signedIn)
    // Without the form, the page itself says what's missing.
    frame.errors = isPossible ? errors : []
    frame.crumbs = [
      Link(text: Message("administrators.administrators"), href: ConsolePaths.administrators()),
      Link(text: Message("sign-in-provider.title"), href: ConsolePaths.signInProvider()),
    ]
    let framed = FrameView(frame)
    let accounts = records.map(\.administrator).filter {
      $0.may(.manageAdministrators, in: nil)
    }
    let model = PasswordSignInView(
      frame: framed, csrf: signedIn.session.csrfToken, off: off, accounts: accounts,
      isPossible: isPossible, carriesMail: identity.messages.carriesMail,
      chosen: signedIn.form.trimmed("account"),
      fields: try await actions.fields(Self.action, signedIn, framed))
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }
}

struct PasswordSignInView: ViewModel {
  static let (on, off) = ("on", "off")

  let frame: FrameView
  let csrf: String
  let off: PasswordSignInOff?
  let accounts: [Administrator]
  /// Whether there's a provider, without which everyone needs a password or passkey.
  let isPossible: Bool
  let carriesMail: Bool
  let chosen: String
  let fields: ActionFields

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.csrf),
    .text("action") { _ in ConsolePaths.passwordSignIn() },
    .text("back") { _ in ConsolePaths.administrators() },
    .text("sentence") { view in
      view.off.map {
        Message("sign-in-provider.is-off", ["name": .name(Formatted.short($0.name))])
      } ?? Message("sign-in-provider.is-on")
    },
    .flag("isOff") { $0.off != nil },
    .flag(\.isPossible),
    .text("alerts") {
      $0.carriesMail
        ? Message(
          "sign-in-provider.break-glass-alerts-and-email",
          ["most": .number(BreakGlassAlert.mostEmailed)])
        : Message("sign-in-provider.break-glass-alerts")
    },
    .text("provider") { _ in ConsolePaths.signInProvider() },
    .text("value") { $0.off == nil ? off : on },
    .list("accounts") { view in
      view.accounts.map {
        Choice(
          value: $0.id.text,
          text: Message.verbatim(
            "\(Isolation.isolated(Formatted.short($0.displayName))) (\($0.email))"),
          isChosen: $0.id.text == view.chosen)
      }
    },
    .text("accountError") { $0.frame.error(at: "account") },
    .text("button") {
      $0.off == nil
        ? Message("sign-in-provider.turn-off-passwords")
        : Message("sign-in-provider.turn-on-passwords")
    },
    .text("look") { $0.off == nil ? "destroy" : "primary" },
    .object("authorization") { $0.fields },
  ]
}
