import Crypto
import HTTP
import Identity
import Localization
import QRCode
import Templating
import Text

/// `/__/auth/enroll`: the page on which a user sets up an authenticator app, opened by the link
/// that a support agent sent; that of a campaign asks for a first factor before.
///
/// Opening the page stores nothing on the server. The browser keeps the encrypted secret, so that the
/// page shows it the same one again, and another one to a scanner of mails.
struct LinkedEnrollmentPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<LinkedEnrollmentView>

  private var links: EnrollmentLinks { identity.enrollmentLinks }

  func show(_ visitor: Visitor) async throws -> Response {
    let query = visitor.request.target.query
    let code = query.text("code") ?? ""
    let enrollment: LinkedEnrollment
    do { enrollment = try await open(code, visitor) } catch let error as EnrollmentLinkError {
      if case .used(let pool) = error, let done = query.text("done") {
        let renewed = LinkedEnrollmentState.renewed(pool, isRecent: false)
        return try page(visitor, done == "renewed" ? renewed : .done(pool), code: code)
      }
      return try await refused(error, visitor, code: code)
    }
    return try page(visitor, .open(enrollment), code: code)
  }

  private func open(_ code: String, _ visitor: Visitor) async throws -> LinkedEnrollment {
    try await links.open(code, resuming: authorizer.cookies.enrollment(of: visitor.request))
  }

  func submit(_ visitor: Visitor) async throws -> Response {
    let (form, author) = (visitor.form, visitor.author)
    let (code, typed) = (form.text("link") ?? "", form.code("code"))
    var query: Form = ["code": code]
    var cookie: Cookie?
    do {
      switch form.text("step") {
      case "password":
        let password = Secret(form.text("password") ?? "")
        cookie = kept(try await links.prove(code, password: password, by: author).ticket)
      case "send-code": try await links.sendCode(code, by: author)
      case "code": cookie = kept(try await links.prove(code, typed: typed, by: author).ticket)
      case "renew":
        try await links.renew(code, by: author)
        query.add("done", "renewed")
      default:
        try await links.finish(
          code, ticket: form.text("ticket") ?? "", typed: typed,
          displayName: form.trimmed("name"), endsSessions: endsSessions(form), by: author,
          userAgent: visitor.request.fields[.userAgent] ?? "")
        query.add("done", "1")
        cookie = kept(Secret("")).ended
      }
    } catch let error as EnrollmentLinkError {
      return try await refused(error, visitor, code: code)
    }
    var response = Response.redirect(to: query.query(of: ConsolePaths.linkedEnrollment()))
    if let cookie { response.set(cookie) }
    return response
  }

  private func kept(_ ticket: Secret) -> Cookie {
    authorizer.cookies.enrollment(ticket, on: ConsolePaths.linkedEnrollment())
  }

  private func endsSessions(_ form: Form) -> Bool { form["end-sessions"] == "on" }

  private func refused(
    _ error: EnrollmentLinkError, _ visitor: Visitor, code: String
  ) async throws -> Response {
    switch error {
    case .unknown: return try page(visitor, .void, code: code)
    case .used(let pool): return try page(visitor, .used(pool), code: code)
    case .expired(let pool, let isRenewable):
      return try page(visitor, .late(pool, isRenewable: isRenewable), code: code)
    case .renewedRecently(let pool):
      return try page(visitor, .renewed(pool, isRecent: true), code: code)
    case .firstFactorRequired(let factor, let refusal):
      let faults = refusal.map { [fault($0, of: factor)] } ?? []
      return try page(visitor, .proof(factor), code: code, errors: faults)
    case .tooManyCodes(let pool): return try page(visitor, .tooManyCodes(pool), code: code)
    case .disabled(let pool): return try page(visitor, .disabled(pool), code: code)
    case .refused(let pool, let why): return try page(visitor, .refused(pool, why), code: code)
    case .malformedCode(let enrollment):
      let fault = FieldError(
        field: "code",
        text: Message("Enter the six-digit code from your authenticator app."))
      return try page(visitor, .open(enrollment), code: code, errors: [fault])
    case .wrongCode(let enrollment):
      let fault = FieldError(
        field: "code",
        text: Message(
          """
          Incorrect code. Wait for the next one, and make sure the phone sets its time \
          automatically. If you scanned a different QR code before, remove that account from the \
          app, then scan this one.
          """))
      return try page(visitor, .open(enrollment), code: code, errors: [fault])
    case .nameTooLong(let enrollment):
      let fault = FieldError(
        field: "name",
        text: Message(
          one: "Shorten the name to {count} character.",
          other: "Shorten the name to {count} characters.", ["count": .number(Factor.longestName)]))
      return try page(visitor, .open(enrollment), code: code, errors: [fault])
    case .ended:
      let fault = FieldError(
        field: "code",
        text: Message(
          """
          This page was open for too long. Remove the account from the app, then scan the new QR \
          code.
          """))
      let enrollment: LinkedEnrollment
      do { enrollment = try await open(code, visitor) } catch let error as EnrollmentLinkError {
        guard case .firstFactorRequired(let factor, _) = error, factor.kind == .password else {
          return try await refused(error, visitor, code: code)
        }
        let fault = FieldError(field: "password", text: fault.text)
        return try page(visitor, .proof(factor), code: code, errors: [fault])
      }
      return try page(visitor, .open(enrollment), code: code, errors: [fault])
    }
  }

  private func fault(_ refusal: SignInError, of factor: LinkFirstFactor) -> FieldError {
    let field = factor.kind == .password ? "password" : "code"
    switch refusal {
    case .tooManyAttempts(let until), .quotaExceeded(let until):
      return PasskeyFault.throttled(in: field, until: until, at: frames.clock.now())
    case .passwordRequirements:
      let text = Message(
        """
        Your password doesn’t meet the application’s requirements. Change it in the application, \
        then ask support for a new link.
        """)
      return FieldError(field: field, text: text)
    case .invalidCode:
      let text = Message("Incorrect or expired code. Enter the eight digits of the newest email.")
      return FieldError(field: field, text: text)
    default: return FieldError(field: field, text: Message("Incorrect password."))
    }
  }

  private func page(
    _ visitor: Visitor, _ state: LinkedEnrollmentState, code: String, errors: [FieldError] = []
  ) throws -> Response {
    let frame = frames.outside(
      state.title, for: visitor, path: ConsolePaths.linkedEnrollment(), of: state.pool,
      errors: errors)
    let view = FrameView(frame)
    var form: LinkedEnrollmentForm?
    if case .open(let enrollment) = state {
      let drawing = try QRCode(text: enrollment.uri.revealedText)
      form = LinkedEnrollmentForm(
        frame: view, enrollment: enrollment,
        name: visitor.form.text("name") ?? EnrollmentLinks.usualName,
        endsSessions: endsSessions(visitor.form),
        drawing: Markup(
          trusted: drawing.svg(
            label: frames.catalog.text(Message("QR code for your authenticator app")))))
    }
    let model = LinkedEnrollmentView(frame: view, state: state, link: code, form: form)
    var response = authorizer.cookies.keeping(
      visitor,
      in: .html(
        self.view.render(model), status: errors.isEmpty ? state.status : .unprocessableContent))
    if let form { response.set(kept(form.enrollment.ticket)) }
    return response
  }
}

struct LinkedEnrollmentView: ViewModel {
  let frame: FrameView
  let state: LinkedEnrollmentState
  let link: String
  let form: LinkedEnrollmentForm?

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("action") { _ in ConsolePaths.linkedEnrollment() },
    .text(\.link),
    .optional("proof") { view -> LinkFirstFactorForm? in
      guard case .proof(let factor) = view.state else { return nil }
      return LinkFirstFactorForm(frame: view.frame, factor: factor)
    },
    .flag("isRenewable") { if case .late(_, isRenewable: true) = $0.state { true } else { false } },
    .text("title") { $0.state.title },
    .text("sentence") { $0.state.sentence },
    .optional(\.form),
  ]
}

struct LinkFirstFactorForm: ViewModel {
  let frame: FrameView
  let factor: LinkFirstFactor

  static let keys: Keys<Self> = [
    .text("application") { Formatted.short($0.factor.pool.projectName) },
    .text("email") { Formatted.short($0.factor.email, 200) },
    .flag("asksForPassword") { $0.factor.kind == .password },
    .flag("asksForCode") {
      $0.factor.kind == .emailCode(isSent: true) || $0.frame.error(at: "code") != nil
    },
    .text("passwordError") { $0.frame.error(at: "password") },
    .text("codeError") { $0.frame.error(at: "code") },
  ]
}

struct LinkedEnrollmentForm: ViewModel {
  let frame: FrameView
  let enrollment: LinkedEnrollment
  let name: String
  let endsSessions: Bool
  let drawing: Markup

  static let keys: Keys<Self> = [
    .text("ticket") { $0.enrollment.ticket.revealedText },
    .text("application") { Formatted.short($0.enrollment.pool.projectName) },
    .text("email") { Formatted.short($0.enrollment.email, 200) },
    .markup(\.drawing),
    .text("uri") { $0.enrollment.uri.revealedText },
    .text("key") { Formatted.inFours($0.enrollment.key) },
    .text(\.name),
    .flag(\.endsSessions),
    .flag("alwaysEndsSessions") { $0.enrollment.endsSessions },
    .text("nameError") { $0.frame.error(at: "name") },
    .text("codeError") { $0.frame.error(at: "code") },
    .markup("until") { $0.frame.times.moment($0.enrollment.finishBy) },
  ]
}

enum LinkedEnrollmentState {
  /// A campaign's link asks for a first factor.
  case proof(LinkFirstFactor)
  case open(LinkedEnrollment)
  case done(Pool)
  /// The link was already used or replaced by a newer one.
  case used(Pool)
  case late(Pool, isRenewable: Bool)
  case renewed(Pool, isRecent: Bool)
  case tooManyCodes(Pool)
  case disabled(Pool)
  case refused(Pool, EnrollmentError)
  /// The link is unknown, or the account has changed since it was sent.
  case void

  var pool: Pool? {
    switch self {
    case .proof(let factor): factor.pool
    case .open(let enrollment): enrollment.pool
    case .done(let pool), .used(let pool), .late(let pool, _), .renewed(let pool, _),
      .tooManyCodes(let pool), .disabled(let pool),
      .refused(let pool, _):
      pool
    case .void: nil
    }
  }

  var status: Status {
    switch self {
    case .proof, .open, .done, .renewed: .ok
    case .used, .late, .tooManyCodes: .gone
    case .disabled, .refused: .forbidden
    case .void: .notFound
    }
  }

  var title: Message {
    switch self {
    case .proof, .open: Message("Set up your authenticator app")
    case .done: Message("Your authenticator app is set up")
    case .used: Message("This link was already used")
    case .late: Message("This link has expired")
    case .renewed: Message("Check your email")
    case .tooManyCodes: Message("Too many incorrect codes")
    case .disabled: Message("This account is disabled")
    case .refused(_, .alreadyEnrolled): Message("You already have an authenticator app")
    case .refused: Message("You can’t set up an authenticator app right now")
    case .void: Message("This link is invalid")
    }
  }

  var sentence: Message? {
    switch self {
    case .proof, .open: nil
    case .done:
      Message(
        """
        The next time you sign in, you’ll be asked for a code from the app. Keep the app on your \
        phone. You can now close this page and return to the application.
        """)
    case .used:
      Message(
        """
        Each link can be used once, and a newer link replaces it. If you haven’t set up an app, \
        sign in again or ask support for a new link.
        """)
    case .late(_, isRenewable: true):
      Message("You can have a new link sent to your email address.")
    case .renewed(_, isRecent: false): Message("A new link is on its way to your email address.")
    case .renewed:
      Message("A link was sent to your email address less than an hour ago. Open that one.")
    case .late:
      Message("Links are valid for 30 minutes. Sign in again or ask support for a new one.")
    case .tooManyCodes:
      Message("This link is no longer valid. Sign in again or ask support for a new one.")
    case .disabled: Message("No changes made. Contact the application’s support team.")
    case .refused(_, .alreadyEnrolled):
      Message(
        """
        Sign in with a code from the app. If you no longer have the device, ask support to remove \
        it first.
        """)
    case .refused(_, .tooManyFactors):
      Message(
        "You’ve reached the maximum number of second factors. Remove one in the application first.")
    case .refused(_, .changesLocked):
      Message(
        """
        You reported a change you didn’t make. Your account is locked until the application’s \
        support team reviews your report.
        """)
    case .refused(_, .quotaExceeded):
      Message(
        """
        Too many notification emails were sent to your address. Changes that require a notification \
        are blocked for an hour. Ask support for a new link after that.
        """)
    case .refused(_, .unverifiedEmail):
      Message("Your email address is no longer verified. Verify it in the application first.")
    case .refused:
      Message("The application doesn’t currently allow authenticator apps. No changes made.")
    case .void:
      Message(
        """
        Part of the link may be missing, it may have been replaced, or your account has changed \
        since it was sent. Ask support for a new one.
        """)
    }
  }
}

enum EnrollmentLinksRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let enrollment = try parts.page("enrollment-links/enroll", LinkedEnrollmentPage.init)
    table.open(.get, ConsolePaths.linkedEnrollment, enrollment.show)
    table.open(.post, ConsolePaths.linkedEnrollment, enrollment.submit)
  }
}

extension ConsolePaths {
  /// The page that authenticator setup links in emails to users open.
  static let linkedEnrollment = Path("__", "auth", "enroll")
}
