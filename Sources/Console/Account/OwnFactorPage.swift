import Crypto
import HTTP
import Identity
import Localization
import OTP
import QRCode
import Templating

/// `/account/totp`: sets up or replaces the administrator's own second factor.
struct OwnFactorPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<OwnFactorView>
  let codes: Template<RecoveryCodesView>
  let destinations: [Route]

  private var factors: AdministratorFactors { identity.administratorFactors }

  func show(_ signedIn: SignedIn) async throws -> Response {
    let proof = try await factors.proof(in: signedIn.session)
    guard proof != .passkey else { return .redirect(to: signedIn.factorReauthentication) }
    if let address = providerFirst(signedIn) { return .redirect(to: address) }
    let known = authorizer.cookies.enrollment(of: signedIn.request)
    let enrollment =
      try await factors.resume(known ?? "", for: signedIn.administrator)
      ?? factors.begin(for: signedIn.administrator)
    return try await page(signedIn, enrollment, proof, errors: [])
  }

  /// Where an administrator who signed in with the provider confirms their identity, because they may
  /// have no password; nil if that isn't needed.
  private func providerFirst(_ signedIn: SignedIn) -> String? {
    guard signedIn.session.provider.isOrigin, factors.asksForPassword(in: signedIn.session) else {
      return nil
    }
    return signedIn.providerReauthentication?.href
  }

  func finish(_ signedIn: SignedIn) async throws -> Response {
    let ticket = signedIn.form.text("ticket") ?? ""
    let resumed = try await factors.resume(ticket, for: signedIn.administrator)
    guard let resumed else { return try await ended(signedIn) }
    let proof = try await factors.proof(in: signedIn.session)
    var errors: [FieldError] = []
    let code = signedIn.form.code("code")
    let current = signedIn.form.code("current-code")
    if proof == .totp, current.isEmpty {
      errors.append(CurrentCode.missing)
    }
    let password = signedIn.form.text("password") ?? ""
    if factors.asksForPassword(in: signedIn.session), password.isEmpty {
      errors.append(FieldError(field: "password", text: Message("Enter your password.")))
    }
    if code.isEmpty {
      errors.append(FieldError(field: "code", text: Message("Enter the code from the app.")))
    }
    guard errors.isEmpty else { return try await page(signedIn, resumed, proof, errors: errors) }
    let done: ActionOutcome<[Secret]>
    do {
      done = try await factors.finish(
        ticket, code: code, currentCode: current, password: Secret(password),
        for: signedIn.administrator.id, in: signedIn.session, by: signedIn.author)
    } catch let error as AdministratorFactorError {
      return try await refused(error, signedIn, resumed, proof)
    }
    var frame = await frames.frame(Message("Your recovery codes"), for: signedIn)
    frame.flash = Flash(
      text: signedIn.session.factors.isEmpty
        ? Message("Your second factor is on. From now on, you also enter a code when you sign in.")
        : Message("Your authenticator app is set up. Your earlier recovery codes no longer work."))
    var response = frames.renewing(
      done.renewed,
      in: .html(
        codes.render(
          RecoveryCodesView(
            frame: FrameView(frame), codes: done.value,
            done: await end(signedIn)))))
    response.set(authorizer.cookies.enrollment(Secret(""), on: ConsolePaths.ownFactor()).ended)
    return response
  }

  /// The page with a form that was submitted after the previous session expired, or else the page
  /// that led here, or the account.
  private func end(_ signedIn: SignedIn) async -> String {
    await authorizer.drafts.find(for: signedIn.administrator.id, signedIn.request) != nil
      ? ConsolePaths.keptAnswers() : next(signedIn) ?? ConsolePaths.account()
  }

  private func next(_ signedIn: SignedIn) -> String? { signedIn.next(among: destinations) }

  /// This page, which then leads on to the page that led here.
  private func again(_ signedIn: SignedIn) -> String {
    ReturnAddress.of(ConsolePaths.ownFactor(), backTo: next(signedIn))
  }

  private func refused(
    _ error: AdministratorFactorError, _ signedIn: SignedIn,
    _ enrollment: AdministratorEnrollment, _ proof: ReauthenticationMethod?
  ) async throws -> Response {
    let fault: FieldError
    switch error {
    case .ended: return try await ended(signedIn)
    case .sessionEnded: throw Refusal.sessionEnded
    case .passkeyRequired:
      return .redirect(to: signedIn.factorReauthentication(backTo: again(signedIn)))
    case .wrongCode:
      fault = FieldError(
        field: "code",
        text: Message(
          """
          Incorrect code. Check that the clock on your device is correct. If you scanned a \
          different QR code before, remove that account from the app, then scan this one.
          """))
    case .wrongCurrentCode, .noFactor, .mandatory:
      fault = FieldError(field: "current-code", text: CurrentCode.wrong)
    case .usedCurrentCode: fault = FieldError(field: "current-code", text: CodeFault.used)
    case .wrongPassword:
      fault = FieldError(field: "password", text: Message("Incorrect password."))
    case .throttled(let until) where proof != .totp:
      fault = CodeFault.tooManyPasswords(until: until, at: frames.clock.now())
    case .throttled(let until):
      fault = CodeFault.tooManyCodes(in: "current-code", until: until, at: frames.clock.now())
    }
    return try await page(signedIn, enrollment, proof, errors: [fault])
  }

  private func ended(_ signedIn: SignedIn) async throws -> Response {
    let ticket = signedIn.form.text("ticket") ?? ""
    let isFinished = try await factors.isFinished(ticket, for: signedIn.administrator)
    guard !isFinished else {
      // The page with the recovery codes, reloaded.
      return frames.leave(
        Message(
          """
          Your authenticator app is already set up. Recovery codes are shown only once. If you \
          didn’t save them, generate new ones.
          """), for: signedIn,
        to: await end(signedIn))
    }
    return frames.leave(
      Message("Setup expired. Scan the new QR code."), for: signedIn,
      to: again(signedIn))
  }

  private func page(
    _ signedIn: SignedIn, _ enrollment: AdministratorEnrollment,
    _ proof: ReauthenticationMethod?, errors: [FieldError]
  ) async throws -> Response {
    let code = try QRCode(text: enrollment.uri.revealedText)
    let frame = await frames.account(Message("Second factor"), signedIn, errors: errors)
    let label = frames.catalog.text(Message("QR code for your authenticator app"))
    let model = OwnFactorView(
      frame: FrameView(frame), signedIn: signedIn, next: next(signedIn), enrollment: enrollment,
      proof: proof,
      asksForPassword: factors.asksForPassword(in: signedIn.session),
      canUsePasskeys: authorizer.publicURL.relyingParty != nil,
      drawing: Markup(trusted: code.svg(label: label)))
    var response = Response.html(view.render(model), errors: errors)
    response.set(authorizer.cookies.enrollment(enrollment.ticket, on: ConsolePaths.ownFactor()))
    return response
  }
}

struct OwnFactorView: ViewModel {
  let frame: FrameView
  let signedIn: SignedIn
  /// The page that led here; nil for the account.
  let next: String?
  let enrollment: AdministratorEnrollment
  let proof: ReauthenticationMethod?
  let asksForPassword: Bool
  let canUsePasskeys: Bool
  let drawing: Markup

  private var state: SecondFactorState { signedIn.session.secondFactor }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("heading") {
      $0.signedIn.session.factors.contains(.totp)
        ? Message("Replace your authenticator")
        : Message("Set up a second factor")
    },
    .flag("isDue") { $0.state == .due },
    .flag("isReplacing") { $0.proof == .totp },
    .flag("isProving") { $0.proof == .totp || $0.asksForPassword },
    .text("passkey") { $0.frame.passkeyReauthentication },
    .text("newPasskey") {
      $0.state == .due && $0.canUsePasskeys
        ? ReturnAddress.of(ConsolePaths.newPasskey(), backTo: $0.next) : nil
    },
    .flag(\.asksForPassword),
    .text("action") { _ in ConsolePaths.ownFactor() },
    .text(\.next),
    .text("cancel") { $0.state.isReady ? $0.next ?? ConsolePaths.account() : nil },
    .text("ticket") { $0.enrollment.ticket.revealedText },
    .text("key") { Formatted.inFours($0.enrollment.key) },
    .text("uri") { $0.enrollment.uri.revealedText },
    .text("account") { $0.signedIn.administrator.email },
    .markup(\.drawing),
    .text("codeError") { $0.frame.error(at: "code") },
    .text("passwordError") { $0.frame.error(at: "password") },
    .text("currentError") { $0.frame.error(at: "current-code") },
  ]
}

/// The page of the own second factor, which leads to the pages of all others.
enum OwnFactorRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let factor = OwnFactorPage(
      parts: parts, view: try parts.template("account/totp"),
      codes: try parts.template("account/codes", for: RecoveryCodesView.self),
      destinations: table.destinations)
    table.settingUp(.get, ConsolePaths.ownFactor, factor.show)
    table.settingUp(.post, ConsolePaths.ownFactor, factor.finish)
  }
}
