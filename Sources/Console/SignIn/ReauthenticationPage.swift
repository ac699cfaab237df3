import HTTP
import Identity
import Localization
import OTP
import Templating
import Text
import WebAuthn

/// `/account/reauthentication`: confirms the administrator's identity with a code, and
/// `/account/reauthentication/passkey` with a passkey.
struct ReauthenticationPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<ReauthenticationView>
  let passkeyView: Template<PasskeyUseView>
  let destinations: [Route]

  func show(_ signedIn: SignedIn) async throws -> Response {
    let next = ReturnAddress.checked(signedIn.query.text("next"), among: destinations)
    guard signedIn.session.factors.contains(.totp), signedIn.session.secondFactor != .passkeyUnused
    else {
      guard signedIn.session.factors.isEmpty else {
        return .redirect(to: ReturnAddress.of(ConsolePaths.passkeyReauthentication(), backTo: next))
      }
      return .redirect(
        to: signedIn.session.provider.name == nil
          ? ConsolePaths.account()
          : ReturnAddress.of(ConsolePaths.providerReauthentication(), backTo: next))
    }
    return await page(signedIn, next: next)
  }

  func verifyCode(_ signedIn: SignedIn) async throws -> Response {
    let next = signedIn.form.text("next")
    let code = signedIn.form.code("code")
    guard !code.isEmpty else {
      return await page(
        signedIn, next: next,
        errors: [Self.error(Message("Enter a code from your authenticator app."))])
    }
    do {
      let renewed = try await identity.passkeys.reauthenticate(
        code: code, in: signedIn.session, by: signedIn.author)
      return leave(renewed, signedIn, to: next)
    } catch let error as PasskeyError {
      let fault: FieldError
      switch error {
      case .refused:
        fault = Self.error(
          Message("The code is incorrect or was already used. Enter the current one."))
      case .usedCode: fault = Self.error(CodeFault.used)
      case .throttled(let until):
        fault = CodeFault.tooManyCodes(until: until, at: frames.clock.now())
      default: throw error
      }
      return await page(signedIn, next: next, errors: [fault])
    } catch CallError.notFound {
      return .redirect(to: ConsolePaths.account())
    }
  }

  func showPasskey(_ signedIn: SignedIn) async throws -> Response {
    try await passkeyPage(signedIn, next: signedIn.query.text("next"))
  }

  func verifyPasskey(_ signedIn: SignedIn) async throws -> Response {
    let next = signedIn.form.text("next")
    guard let party = authorizer.publicURL.relyingParty,
      let response = PasskeyAnswers.response(signedIn.form)
    else { return try await passkeyPage(signedIn, next: next, errors: [PasskeyFault.missing]) }
    do {
      let renewed = try await identity.passkeys.reauthenticate(
        response, ticket: signedIn.form.text("ticket") ?? "", in: signedIn.session, for: party,
        by: signedIn.author)
      return leave(renewed, signedIn, to: next)
    } catch let error as PasskeyError {
      let fault: FieldError
      switch error {
      case .refused: fault = PasskeyFault.refused
      case .ended: fault = PasskeyFault.ended
      case .throttled(let until):
        fault = PasskeyFault.throttled(until: until, at: frames.clock.now())
      default: throw error
      }
      return try await passkeyPage(signedIn, next: next, errors: [fault])
    }
  }

  private func leave(
    _ renewed: NewConsoleSession, _ signedIn: SignedIn, to next: String?
  ) -> Response {
    frames.leave(
      nil, signedIn, renewed: renewed,
      to: ReturnAddress.checked(next, among: destinations) ?? ConsolePaths.account())
  }

  private static func error(_ text: Message) -> FieldError { FieldError(field: "code", text: text) }

  private func page(
    _ signedIn: SignedIn, next: String?, errors: [FieldError] = []
  ) async -> Response {
    let next = ReturnAddress.checked(next, among: destinations)
    let frame = await frames.belowAccount(
      Message("Confirm your identity"), signedIn, errors: errors)
    let model = ReauthenticationView(
      frame: FrameView(frame), signedIn: signedIn, next: next)
    return .html(view.render(model), errors: errors)
  }

  private func passkeyPage(
    _ signedIn: SignedIn, next: String?, errors: [FieldError] = []
  ) async throws -> Response {
    let next = ReturnAddress.checked(next, among: destinations)
    let challenge: PasskeyChallenge
    do {
      challenge = try await identity.passkeys.beginReauthentication(signedIn.session)
    } catch CallError.notFound {
      return .redirect(to: ConsolePaths.account())
    }
    let frame = await frames.belowAccount(
      Message("Confirm your identity"), signedIn, errors: errors)
    let party = authorizer.publicURL.relyingParty
    let isUnused = signedIn.session.secondFactor == .passkeyUnused
    let model = PasskeyUseView(
      frame: FrameView(frame), heading: Message("Confirm your identity"),
      sentence: isUnused
        ? Message(
          """
          Your role requires a passkey, so you can’t open other pages yet. This page requires \
          JavaScript.
          """)
        : Message("Use your passkey to continue. This page requires JavaScript."),
      action: ConsolePaths.passkeyReauthentication(),
      passkey: party.map {
        PasskeyFields(
          kind: .get, challenge: challenge, party: $0, script: frames.assets.passkeyScript,
          next: next)
      },
      unusable: authorizer.publicURL.passkeyObstacle,
      other: isUnused
        ? Link(text: Message("Sign out"), href: ConsolePaths.signOut())
        : signedIn.session.factors.contains(.totp)
          ? Link(
            text: Message("Use a code instead"),
            href: ReturnAddress.of(ConsolePaths.reauthentication(), backTo: next))
          : Link(text: Message("Cancel"), href: next ?? ConsolePaths.account()))
    return .html(passkeyView.render(model), errors: errors)
  }
}

struct ReauthenticationView: ViewModel {
  let frame: FrameView
  let signedIn: SignedIn
  let next: String?

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("action") { _ in ConsolePaths.reauthentication() },
    .text(\.next),
    .text("codeError") { $0.frame.error(at: "code") },
    .text("passkey") { view in
      view.signedIn.session.factors.contains(.passkey)
        ? ReturnAddress.of(
          ConsolePaths.passkeyReauthentication(), backTo: view.next) : nil
    },
    .optional("provider") { view in
      view.signedIn.session.provider.name.map { name in
        ProviderConfirmation(
          name: name,
          href: ReturnAddress.of(
            ConsolePaths.providerReauthentication(), backTo: view.next))
      }
    },
    .text("cancel") { $0.next ?? ConsolePaths.account() },
  ]
}

extension SignedIn {
  /// The address that re-authenticates with a passkey, or with another method if there's none, and leads
  /// back to this page; where passkeys are required, a code isn't enough.
  var factorReauthentication: String {
    factorReauthentication(backTo: ReturnAddress.current(request))
  }

  func factorReauthentication(backTo next: String?) -> String {
    let usesPasskey = session.factors.contains(.passkey)
    return ReturnAddress.of(
      usesPasskey ? ConsolePaths.passkeyReauthentication() : ConsolePaths.reauthentication(),
      backTo: next)
  }

  /// The address that re-authenticates with a passkey and leads back to this page; nil without a
  /// passkey.
  var passkeyReauthentication: String? {
    guard session.factors.contains(.passkey) else { return nil }
    return ReturnAddress.of(
      ConsolePaths.passkeyReauthentication(), backTo: ReturnAddress.current(request))
  }
}

/// `/account/reauthentication/passkey/form` and `/account/reauthentication/provider/form`: keep a form
/// that can't be submitted yet while the administrator confirms their identity, which leads to it.
struct FormReauthentication: Sendable {
  let drafts: Drafts
  let destinations: [Route]

  func withPasskey(_ signedIn: SignedIn) async throws -> Response {
    try await keep(signedIn, continuingAt: ConsolePaths.passkeyReauthentication())
  }

  func withProvider(_ signedIn: SignedIn) async throws -> Response {
    try await keep(signedIn, continuingAt: ConsolePaths.providerReauthentication())
  }

  private func keep(
    _ signedIn: SignedIn, continuingAt path: String
  ) async throws -> Response {
    guard let target = signedIn.form.text(Drafts.addressField).flatMap({ Target($0) }),
      ReturnAddress.isLocal(target.rawPath),
      destinations.contains(where: { $0.method == .post && $0.fits(target) })
    else { throw Refusal.unreadableForm }
    let mark = try await drafts.keep(
      signedIn.form, sentTo: target, of: signedIn.request, by: signedIn.administrator.id)
    guard let mark else { throw Refusal.staleForm }
    return .redirect(
      to: ReturnAddress.of(path, backTo: Drafts.address(mark)))
  }
}

/// Re-authentication, which leads to the pages of all others.
enum ReauthenticationRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let page = ReauthenticationPage(
      parts: parts,
      view: try parts.template("passkeys/reauthentication"),
      passkeyView: try parts.template("passkeys/use"),
      destinations: table.destinations)
    table.settingUp(.get, ConsolePaths.reauthentication, at: .anyStage, page.show)
    table.settingUp(.post, ConsolePaths.reauthentication, at: .anyStage, page.verifyCode)
    table.settingUp(.get, ConsolePaths.passkeyReauthentication, at: .anyStage, page.showPasskey)
    table.settingUp(.post, ConsolePaths.passkeyReauthentication, at: .anyStage, page.verifyPasskey)
    let form = FormReauthentication(
      drafts: parts.authorizer.drafts, destinations: page.destinations)
    table.signedIn(.post, ConsolePaths.passkeyForm, form.withPasskey)
    table.signedIn(.post, ConsolePaths.providerForm, form.withProvider)
  }
}

extension ConsolePaths {
  static let reauthentication = Path("account", "reauthentication")
  static let passkeyReauthentication = Path("account", "reauthentication", "passkey")
  static let passkeyForm = Path("account", "reauthentication", "passkey", "form")
  static let providerForm = Path("account", "reauthentication", "provider", "form")
}
