import Crypto
import HTTP
import Identity
import Localization
import Templating

/// `/sign-in`: starts a console session.
struct SignInPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<SignInView>
  let destinations: [Route]

  func show(_ visitor: Visitor) async throws -> Response {
    let query = visitor.request.target.query
    let next = query.text("next")
    if let session = try await authorizer.session(of: visitor.request) {
      return await goOn(to: next, session, visitor.request)
    }
    if try await identity.setup.isOpen() {
      return .redirect(to: ConsolePaths.setup())
    }
    var flash: Flash?
    if query["signed-out"] != nil { flash = Flash(text: Message("You’re signed out.")) }
    if next != nil {
      flash = Flash(text: Message("Sign in to continue to the page you requested."))
    }
    if query["kept"] != nil {
      flash = Flash(
        text: Message(
          "Your session expired. Sign in within 10 minutes to recover what you entered."))
    }
    if query["lost"] != nil {
      flash = Flash(
        text: Message(
          """
          Your session ended before you submitted the form, and the form wasn’t kept. Sign in and \
          submit it again.
          """))
    }
    if query["ended"] != nil { flash = Flash(text: Message("The sign-in timed out. Start over.")) }
    return try await page(visitor, email: "", next: next, flash: flash)
  }

  func signIn(_ visitor: Visitor) async throws -> Response {
    let request = visitor.request
    let email = visitor.form.trimmed("email")
    let password = visitor.form.text("password") ?? ""
    let next = visitor.form.text("next")
    var errors: [FieldError] = []
    if email.isEmpty {
      errors.append(FieldError(field: "email", text: Message("Enter your email address.")))
    }
    if password.isEmpty {
      errors.append(FieldError(field: "password", text: Message("Enter your password.")))
    }
    guard errors.isEmpty else {
      return try await page(visitor, email: email, next: next, errors: errors)
    }
    let outcome: ConsoleSignIn
    do {
      outcome = try await identity.consoleSessions.signIn(
        email: email, password: Secret(password), address: request.peer,
        userAgent: request.fields[.userAgent] ?? "",
        devices: authorizer.cookies.devices(of: request),
        requestID: request.id.text)
    } catch let error as ConsoleSignInError {
      return try await refused(error, visitor, email: email, next: next)
    }
    let destination = ReturnAddress.checked(next, among: destinations)
    switch outcome {
    case .signedIn(let new):
      return await SignInCompletion(authorizer: authorizer, frames: frames).response(
        new, visitor, to: destination, among: destinations)
    case .secondFactorDue(let pending, let methods):
      return authorizer.cookies.askForFactor(pending, methods, thenTo: destination)
    }
  }

  private func refused(
    _ error: ConsoleSignInError, _ visitor: Visitor, email: String, next: String?
  ) async throws -> Response {
    switch error {
    case .refused:
      // An incorrect password and an unknown email get the same error, so accounts can't be probed.
      let isOff =
        try await identity.consoleProviders.breakGlassAccount() != nil
      let fault = FieldError(
        field: "email",
        text: isOff
          ? Message("Incorrect email or password, or you must sign in with the provider.")
          : Message("Incorrect email or password."))
      return try await page(visitor, email: email, next: next, errors: [fault])
    case .throttled(let until):
      let fault = CodeFault.tooManyPasswords(in: "email", until: until, at: frames.clock.now())
      return try await page(visitor, email: email, next: next, errors: [fault])
    case .wrongCode, .usedCode, .passkeyRefused, .passkeyRequired, .ended:
      throw error
    }
  }

  /// Continues after a sign-in in another tab, to the form that was kept when this one's session
  /// expired, if there's one.
  private func goOn(
    to next: String?, _ session: ConsoleSession, _ request: Request
  ) async -> Response {
    let page = ReturnAddress.checked(next, among: destinations)
    if request.target.query["kept"] != nil,
      let draft = await authorizer.drafts.find(
        continuingTo: page, among: destinations, for: session.administrator.id, request)
    {
      return .redirect(to: Drafts.address(draft.mark))
    }
    return .redirect(to: page ?? ConsolePaths.home())
  }

  private func page(
    _ visitor: Visitor, email: String, next: String?, flash: Flash? = nil,
    errors: [FieldError] = []
  ) async throws -> Response {
    let provider = try await identity.consoleProviders.name()
    let isOff =
      try await identity.consoleProviders.breakGlassAccount() != nil
    var frame = frames.bare(Message("Sign in"), for: visitor, path: ConsolePaths.signIn())
    frame.flash = flash
    frame.errors = errors
    let destination = ReturnAddress.checked(next, among: destinations)
    let model = SignInView(
      frame: FrameView(frame), host: authorizer.publicURL.host,
      email: email, next: destination,
      passkey: authorizer.publicURL.relyingParty.map { _ in
        ReturnAddress.of(ConsolePaths.signInPasskey(), backTo: destination)
      },
      provider: provider.map { name in
        ProviderConfirmation(
          name: name,
          href: ReturnAddress.of(ConsolePaths.providerSignIn(), backTo: destination))
      }, isPasswordOff: isOff)
    return authorizer.cookies.keeping(
      visitor, in: .html(view.render(model), errors: errors))
  }
}

struct SignInView: ViewModel {
  let frame: FrameView
  let host: String
  let email: String
  let next: String?
  let passkey: String?
  let provider: ProviderConfirmation?
  /// Whether only the break-glass account can use the form.
  let isPasswordOff: Bool

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.host),
    .text("roles") { _ in Message.value(Permission.manageAdministrators.roleNames) },
    .text("action") { _ in ConsolePaths.signIn() },
    .text(\.next),
    .text(\.email),
    .text(\.passkey),
    .optional(\.provider),
    .flag(\.isPasswordOff),
    .text("emailError") { $0.frame.error(at: "email") },
    .text("passwordError") { $0.frame.error(at: "password") },
  ]
}

/// Signing in.
///
/// Added last, because a sign-in leads on to the pages of all others.
enum SignInRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let closed = table.all.filter { $0.access != .open }
    let destinations = table.destinations

    let signIn = SignInPage(
      parts: parts, view: try parts.template("sign-in/sign-in"), destinations: destinations)
    table.open(.get, ConsolePaths.signIn, signIn.show)
    table.open(.post, ConsolePaths.signIn, signIn.signIn)

    let answers = KeptAnswersPage(
      parts: parts, view: try parts.template("sign-in/answers"), routes: KeptFormRoutes(closed))
    table.signedIn(.get, ConsolePaths.keptAnswers, answers.show)

    let code = SignInCodePage(
      parts: parts, view: try parts.template("sign-in/code"), destinations: destinations)
    table.open(.get, ConsolePaths.signInCode, code.show)
    table.open(.post, ConsolePaths.signInCode, code.signIn)

    let use = try parts.template("passkeys/use", for: PasskeyUseView.self)
    func page(isSecondFactor: Bool) -> SignInPasskeyPage {
      SignInPasskeyPage(
        parts: parts, view: use, isSecondFactor: isSecondFactor, destinations: destinations)
    }
    let (alone, second) = (page(isSecondFactor: false), page(isSecondFactor: true))
    table.open(.get, ConsolePaths.signInPasskey, alone.show)
    table.open(.post, ConsolePaths.signInPasskey, alone.signIn)
    table.open(.get, ConsolePaths.signInCodePasskey, second.show)
    table.open(.post, ConsolePaths.signInCodePasskey, second.signIn)
  }
}

extension ConsolePaths {
  static let signIn = Path("sign-in")
  static let signInCode = Path("sign-in", "code")
  static let signInPasskey = Path("sign-in", "passkey")
  static let signInCodePasskey = Path("sign-in", "code", "passkey")
  static let keptAnswers = Path("sign-in", "answers")
}
