import Crypto
import HTTP
import Identity
import MailText
import Localization
import Templating
import WebAuthn

/// `/account/passkeys/new`: adds a passkey to the administrator's account.
struct NewPasskeyPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<NewPasskeyView>
  let codes: Template<RecoveryCodesView>
  let destinations: [Route]

  private func next(_ signedIn: SignedIn) -> String? { signedIn.next(among: destinations) }

  /// This page, which then leads on to the page that led here.
  private func again(_ signedIn: SignedIn) -> String {
    ReturnAddress.of(ConsolePaths.newPasskey(), backTo: next(signedIn))
  }

  func show(_ signedIn: SignedIn) async throws -> Response {
    let browser = BrowserText.known(signedIn.request.fields[.userAgent] ?? "")
    return try await page(signedIn, name: browser.map { frames.catalog.text($0) } ?? "")
  }

  func create(_ signedIn: SignedIn) async throws -> Response {
    let form = signedIn.form
    let name = form.trimmed("name")
    let password = form.text("password") ?? ""
    guard let party = publicURL.relyingParty,
      let registration = PasskeyAnswers.registration(form)
    else { return try await page(signedIn, name: name, errors: [PasskeyFault.missing]) }
    do {
      let new = try await identity.passkeys.create(
        registration, ticket: form.text("ticket") ?? "", name: name,
        transports: PasskeyAnswers.transports(form),
        password: password.isEmpty ? nil : Secret(password), in: signedIn.session, for: party,
        by: signedIn.author)
      let added = Message(
        "Passkey “{name}” added.", ["name": .name(Formatted.short(new.passkey.name))])
      let end = next(signedIn) ?? ConsolePaths.account()
      guard new.recoveryCodes.isEmpty else {
        var frame = await frames.frame(Message("Your recovery codes"), for: signedIn)
        frame.flash = Flash(text: added)
        return .html(
          codes.render(
            RecoveryCodesView(frame: FrameView(frame), codes: new.recoveryCodes, done: end)))
      }
      return frames.leave(added, for: signedIn, to: end)
    } catch let error as PasskeyError {
      return try await refused(error, signedIn, name: name)
    }
  }

  private func refused(
    _ error: PasskeyError, _ signedIn: SignedIn, name: String
  ) async throws -> Response {
    let fault: FieldError
    switch error {
    case .reauthenticationRequired:
      return .redirect(to: signedIn.factorReauthentication(backTo: again(signedIn)))
    case .wrongPassword:
      fault = FieldError(field: "password", text: Message("Incorrect password."))
    case .throttled(let until):
      fault = CodeFault.tooManyPasswords(until: until, at: frames.clock.now())
    case .exists:
      fault = PasskeyFault.error(Message("This device already has a passkey for your account."))
    case .tooMany:
      fault = PasskeyFault.error(
        Message(
          one: "You have {count} passkey, the maximum. Remove one first.",
          other: "You have {count} passkeys, the maximum. Remove one first.",
          ["count": .number(Passkey.most)]))
    case .ended: fault = PasskeyFault.ended
    case .refused, .usedCode, .mandatory: fault = PasskeyFault.refused
    case .nameRequired, .nameTooLong: fault = PasskeyPages.nameFault(error)
    case .sessionEnded: throw error
    }
    return try await page(signedIn, name: name, errors: [fault])
  }

  private func page(
    _ signedIn: SignedIn, name: String, errors: [FieldError] = []
  ) async throws -> Response {
    let session = signedIn.session
    let passkeys = identity.passkeys
    if try await passkeys.needsReauthentication(session) {
      return .redirect(to: signedIn.factorReauthentication(backTo: again(signedIn)))
    }
    // An administrator who signed in with the provider may have no password.
    if session.provider.isOrigin, identity.administratorFactors.asksForPassword(in: session),
      let provider = signedIn.providerReauthentication
    {
      return .redirect(to: provider.href)
    }
    let challenge = try await passkeys.begin(for: session)
    let frame = await frames.account(Message("Add passkey"), signedIn, errors: errors)
    let party = publicURL.relyingParty
    let model = NewPasskeyView(
      frame: FrameView(frame), signedIn: signedIn, next: next(signedIn), typedName: name,
      asksForPassword: identity.administratorFactors.asksForPassword(in: session),
      passkey: party.map {
        PasskeyFields(
          kind: .create, challenge: challenge, party: $0, script: frames.assets.passkeyScript,
          next: next(signedIn), administrator: signedIn.administrator)
      },
      unusable: publicURL.passkeyObstacle)
    return .html(view.render(model), errors: errors)
  }
}

struct NewPasskeyView: ViewModel {
  let frame: FrameView
  let signedIn: SignedIn
  /// The page that led here; nil for the account.
  let next: String?
  let typedName: String
  let asksForPassword: Bool
  let passkey: PasskeyFields?
  let unusable: Message?

  static let keys: Keys<Self> = [
    .object(\.frame),
    .flag("isDue") { $0.signedIn.session.secondFactor == .passkeyDue },
    .text("action") { _ in ConsolePaths.newPasskey() },
    .text("cancel") {
      $0.signedIn.session.secondFactor.isReady ? $0.next ?? ConsolePaths.account() : nil
    },
    .text(\.typedName),
    .text("nameError") { $0.frame.error(at: "name") },
    .flag(\.asksForPassword),
    .text("passwordError") { $0.frame.error(at: "password") },
    .optional(\.passkey),
    .text(\.unusable),
  ]
}
