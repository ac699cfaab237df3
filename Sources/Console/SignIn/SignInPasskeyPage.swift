import HTTP
import Identity
import Localization
import Templating
import WebAuthn

/// `/sign-in/passkey` and `/sign-in/code/passkey`: starts a console session with a passkey, alone or
/// after the password.
struct SignInPasskeyPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<PasskeyUseView>
  let isSecondFactor: Bool
  let destinations: [Route]

  private var path: String {
    isSecondFactor ? ConsolePaths.signInCodePasskey() : ConsolePaths.signInPasskey()
  }

  func show(_ visitor: Visitor) async throws -> Response {
    try await page(visitor, next: visitor.request.target.query.text("next"))
  }

  func signIn(_ visitor: Visitor) async throws -> Response {
    let (request, form) = (visitor.request, visitor.form)
    let next = form.text("next")
    guard let party = authorizer.publicURL.relyingParty,
      let response = PasskeyAnswers.response(form)
    else { return try await page(visitor, next: next, errors: [PasskeyFault.missing]) }
    let ticket = form.text("ticket") ?? ""
    let origin = SignInOrigin(
      address: request.peer, userAgent: request.fields[.userAgent] ?? "",
      devices: authorizer.cookies.devices(of: request), requestID: request.id.text)
    let new: NewConsoleSession
    do {
      if isSecondFactor {
        guard let pending = authorizer.cookies.pending(of: request) else {
          return authorizer.cookies.endPending()
        }
        new = try await identity.passkeys.finish(
          pending, response, ticket: ticket, in: visitor.formToken, for: party, from: origin)
      } else {
        new = try await identity.passkeys.signIn(
          response, ticket: ticket, in: visitor.formToken, for: party, from: origin)
      }
    } catch let error as ConsoleSignInError {
      return try await refused(error, visitor, next: next)
    }
    return await SignInCompletion(authorizer: authorizer, frames: frames).response(
      new, visitor, to: ReturnAddress.checked(next, among: destinations), among: destinations)
  }

  private func refused(
    _ error: ConsoleSignInError, _ visitor: Visitor, next: String?
  ) async throws -> Response {
    switch error {
    case .ended: return try await page(visitor, next: next, errors: [PasskeyFault.ended])
    // An unknown passkey and an invalid response get the same error.
    case .passkeyRefused, .refused, .wrongCode, .usedCode, .passkeyRequired:
      return try await page(visitor, next: next, errors: [PasskeyFault.refused])
    case .throttled(let until):
      let fault = PasskeyFault.throttled(until: until, at: frames.clock.now())
      return try await page(visitor, next: next, errors: [fault])
    }
  }

  private func page(
    _ visitor: Visitor, next: String?, errors: [FieldError] = []
  ) async throws -> Response {
    let challenge: PasskeyChallenge
    var acceptsRecoveryCode = false
    if isSecondFactor {
      guard let pending = authorizer.cookies.pending(of: visitor.request) else {
        return .redirect(to: ConsolePaths.signIn())
      }
      let begun = try await identity.passkeys.beginSecondFactor(pending, in: visitor.formToken)
      guard let begun else { return authorizer.cookies.endPending() }
      challenge = begun
      acceptsRecoveryCode = try await identity.consoleSessions.acceptsRecoveryCode(pending)
    } else {
      challenge = try identity.passkeys.beginSignIn(in: visitor.formToken)
    }
    let heading =
      isSecondFactor ? Message("Use your passkey") : Message("Sign in with a passkey")
    let frame = frames.bare(heading, for: visitor, path: path, errors: errors)
    let destination = ReturnAddress.checked(next, among: destinations)
    var query = Form()
    if let destination { query.add("next", destination) }
    let party = authorizer.publicURL.relyingParty
    var recovery = query
    recovery.add("recovery", "yes")
    let model = PasskeyUseView(
      frame: FrameView(frame), heading: heading,
      sentence: isSecondFactor
        ? Message(
          """
          Your password was accepted. Now use one of your passkeys. This page requires \
          JavaScript.
          """)
        : Message("No email address or password needed. This page requires JavaScript."),
      action: path,
      passkey: party.map {
        PasskeyFields(
          kind: .get, challenge: challenge, party: $0, script: frames.assets.passkeyScript,
          next: destination)
      },
      unusable: authorizer.publicURL.passkeyObstacle,
      other: Link(
        text: isSecondFactor
          ? Message("Start over") : Message("Sign in with password"),
        href: query.query(of: ConsolePaths.signIn())),
      recovery: acceptsRecoveryCode ? recovery.query(of: ConsolePaths.signInCode()) : nil)
    return authorizer.cookies.keeping(
      visitor, in: .html(view.render(model), errors: errors))
  }
}
