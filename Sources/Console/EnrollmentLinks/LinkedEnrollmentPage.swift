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
/// Opening the page stores nothing, so it can be opened again; each time it shows a new secret.
struct LinkedEnrollmentPage: Sendable {
  let links: EnrollmentLinks
  let authorizer: RequestAuthorizer
  let frames: Frames
  let view: Template<LinkedEnrollmentView>

  func show(_ visitor: Visitor) async throws -> Response {
    let query = visitor.request.target.query
    let code = query.text("code") ?? ""
    let enrollment: LinkedEnrollment
    do { enrollment = try await links.open(code) } catch let error as EnrollmentLinkError {
      if case .used(let pool) = error, query["done"] != nil {
        return try page(visitor, .done(pool), code: code)
      }
      return try await refused(error, visitor, code: code)
    }
    return try page(visitor, .open(enrollment), code: code)
  }

  func finish(_ visitor: Visitor) async throws -> Response {
    let form = visitor.form
    let code = form.text("link") ?? ""
    let author = Author(
      actor: .visitor, address: visitor.request.peer, requestID: visitor.request.id.text)
    do {
      try await links.finish(
        code, ticket: form.text("ticket") ?? "", typed: form.trimmed("code"),
        displayName: form.trimmed("name"), endsSessions: endsSessions(form), by: author,
        userAgent: visitor.request.fields[.userAgent] ?? "")
    } catch let error as EnrollmentLinkError {
      return try await refused(error, visitor, code: code)
    }
    var query = Form()
    query.add("code", code)
    query.add("done", "1")
    return .redirect(to: query.query(of: ConsolePaths.linkedEnrollment()))
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
          automatically.
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
      do { enrollment = try await links.open(code) } catch is EnrollmentLinkError {
        return try page(visitor, .void, code: code)
      }
      return try page(visitor, .open(enrollment), code: code, errors: [fault])
    }
  }

  private func page(
    _ visitor: Visitor, _ state: LinkedEnrollmentState, code: String, errors: [FieldError] = []
  ) throws -> Response {
    var frame = frames.outside(
      state.title, path: ConsolePaths.linkedEnrollment(), of: state.pool)
    frame.errors = errors
    let view = FrameView(frame)
    var form: LinkedEnrollmentForm?
    if case .open(let enrollment) = state {
      let drawing = try QRCode(text: enrollment.uri.revealedText)
      form = LinkedEnrollmentForm(
        frame: view, csrf: visitor.formToken, link: code, enrollment: enrollment,
        name: visitor.form.text("name") ?? EnrollmentLinks.usualName,
        endsSessions: endsSessions(visitor.form),
        drawing: Markup(
          trusted: drawing.svg(
            label: frames.catalog.text(Message("QR code for your authenticator app")))))
    }
    let model = LinkedEnrollmentView(frame: view, state: state, form: form)
    var response = Response.html(
      self.view.render(model), status: errors.isEmpty ? state.status : .unprocessableContent)
    authorizer.cookies.keep(visitor, in: &response)
    return response
  }
}
