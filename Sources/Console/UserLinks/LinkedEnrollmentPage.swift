import Crypto
import HTTP
import Identity
import Localization
import QRCode
import Templating
import Text

/// `/__/auth/enroll`: the page on which a user sets up an authenticator app, opened by the link
/// that a support agent sent.
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
      if case .used(let pool) = error, query["done"] != nil {
        return try page(visitor, .done(pool), code: code)
      }
      return try await refused(error, visitor, code: code)
    }
    return try page(visitor, .open(enrollment), code: code)
  }

  private func open(_ code: String, _ visitor: Visitor) async throws -> LinkedEnrollment {
    try await links.open(code, resuming: authorizer.cookies.enrollment(of: visitor.request))
  }

  func finish(_ visitor: Visitor) async throws -> Response {
    let form = visitor.form
    let code = form.text("link") ?? ""
    do {
      try await links.finish(
        code, ticket: form.text("ticket") ?? "", typed: form.code("code"),
        displayName: form.trimmed("name"), endsSessions: endsSessions(form), by: visitor.author,
        userAgent: visitor.request.fields[.userAgent] ?? "")
    } catch let error as EnrollmentLinkError {
      return try await refused(error, visitor, code: code)
    }
    let query: Form = ["code": code, "done": "1"]
    var response = Response.redirect(to: query.query(of: ConsolePaths.linkedEnrollment()))
    response.set(
      authorizer.cookies.enrollment(Secret(""), on: ConsolePaths.linkedEnrollment()).ended)
    return response
  }

  private func endsSessions(_ form: Form) -> Bool { form["end-sessions"] == "on" }

  private func refused(
    _ error: EnrollmentLinkError, _ visitor: Visitor, code: String
  ) async throws -> Response {
    switch error {
    case .unknown: return try page(visitor, .void, code: code)
    case .used(let pool): return try page(visitor, .used(pool), code: code)
    case .expired(let pool): return try page(visitor, .late(pool), code: code)
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
      do { enrollment = try await open(code, visitor) } catch is EnrollmentLinkError {
        return try page(visitor, .void, code: code)
      }
      return try page(visitor, .open(enrollment), code: code, errors: [fault])
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
        frame: view, link: code, enrollment: enrollment,
        name: visitor.form.text("name") ?? EnrollmentLinks.usualName,
        endsSessions: endsSessions(visitor.form),
        drawing: Markup(
          trusted: drawing.svg(
            label: frames.catalog.text(Message("QR code for your authenticator app")))))
    }
    let model = LinkedEnrollmentView(frame: view, state: state, form: form)
    var response = authorizer.cookies.keeping(
      visitor,
      in: .html(
        self.view.render(model), status: errors.isEmpty ? state.status : .unprocessableContent))
    if let form {
      response.set(
        authorizer.cookies.enrollment(
          form.enrollment.ticket, on: ConsolePaths.linkedEnrollment()))
    }
    return response
  }
}

struct LinkedEnrollmentView: ViewModel {
  let frame: FrameView
  let state: LinkedEnrollmentState
  let form: LinkedEnrollmentForm?

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("title") { $0.state.title },
    .text("sentence") { $0.state.sentence },
    .optional(\.form),
  ]
}

struct LinkedEnrollmentForm: ViewModel {
  let frame: FrameView
  let link: String
  let enrollment: LinkedEnrollment
  let name: String
  let endsSessions: Bool
  let drawing: Markup

  static let keys: Keys<Self> = [
    .text("action") { _ in ConsolePaths.linkedEnrollment() },
    .text(\.link),
    .text("ticket") { $0.enrollment.ticket.revealedText },
    .text("application") { Formatted.short($0.enrollment.pool.projectName) },
    .text("email") { Formatted.short($0.enrollment.email, 200) },
    .markup(\.drawing),
    .text("uri") { $0.enrollment.uri.revealedText },
    .text("key") { Formatted.inFours($0.enrollment.key) },
    .text(\.name),
    .flag(\.endsSessions),
    .text("nameError") { $0.frame.error(at: "name") },
    .text("codeError") { $0.frame.error(at: "code") },
    .markup("until") { $0.frame.times.moment($0.enrollment.finishBy) },
  ]
}

enum LinkedEnrollmentState {
  case open(LinkedEnrollment)
  case done(Pool)
  /// The link was already used or replaced by a newer one.
  case used(Pool)
  case late(Pool)
  case tooManyCodes(Pool)
  case disabled(Pool)
  case refused(Pool, EnrollmentError)
  /// The link is unknown, or the account has changed since it was sent.
  case void

  var pool: Pool? {
    switch self {
    case .open(let enrollment): enrollment.pool
    case .done(let pool), .used(let pool), .late(let pool), .tooManyCodes(let pool),
      .disabled(let pool), .refused(let pool, _):
      pool
    case .void: nil
    }
  }

  var status: Status {
    switch self {
    case .open, .done: .ok
    case .used, .late, .tooManyCodes: .gone
    case .disabled, .refused: .forbidden
    case .void: .notFound
    }
  }

  var title: Message {
    switch self {
    case .open: Message("Set up your authenticator app")
    case .done: Message("Your authenticator app is set up")
    case .used: Message("This link was already used")
    case .late: Message("This link has expired")
    case .tooManyCodes: Message("Too many incorrect codes")
    case .disabled: Message("This account is disabled")
    case .refused(_, .alreadyEnrolled): Message("You already have an authenticator app")
    case .refused: Message("You can’t set up an authenticator app right now")
    case .void: Message("This link is invalid")
    }
  }

  var sentence: Message? {
    switch self {
    case .open: nil
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
    table.open(.post, ConsolePaths.linkedEnrollment, enrollment.finish)
  }
}

extension ConsolePaths {
  /// The page that authenticator setup links in emails to users open.
  static let linkedEnrollment = Path("__", "auth", "enroll")
}
