import HTTP
import Identity
import Templating

extension ActionError {
  /// Why the action itself failed, for an action that requires a permission alone.
  func failure(of action: ConsoleAction) throws(Refusal) -> Reason {
    switch self {
    case .failed(let reason): return reason
    case .refused(.notAllowed): throw .notAllowed(action.requirements.permission)
    case .refused(let error): throw .unavailable(error)
    }
  }
}

extension SignedIn {
  /// What the administrator sends with an action that requires a permission alone.
  var plainRequest: ActionRequest { ActionRequest(agent: session, author: author) }
}

/// Puts what an action requires into the forms of the console, and reads it from them.
struct ActionForms: Sendable {
  let authorization: ActionAuthorization
  let ending: SupportRedirect
  let question: Template<ActionQuestionView>

  var frames: Frames { ending.frames }

  init(_ identity: Identity, _ ending: SupportRedirect, _ templates: TemplateLibrary) throws {
    authorization = identity.authorization
    self.ending = ending
    question = try templates.template("authorization/question", for: ActionQuestionView.self)
  }

  /// What an administrator has sent with an action.
  func request(_ signedIn: SignedIn) -> ActionRequest {
    ActionInput(signedIn.form).request(signedIn)
  }

  /// The fields that an action requires, for its form.
  func fields(
    _ action: ConsoleAction, _ signedIn: SignedIn, _ frame: FrameView
  ) async throws(Refusal) -> ActionFields {
    let standing = try await refusing {
      try await authorization.standing(action, signedIn.session)
    }
    return ActionFields(
      standing: standing, frame: frame, reason: ActionInput(signedIn.form).note)
  }

  /// What an action would still require, for a form in which something else is wrong.
  func unmet(_ action: ConsoleAction, _ signedIn: SignedIn) async throws(Refusal) -> [FieldError] {
    let request = request(signedIn)
    do {
      return try await authorization.unmet(action, request).map {
        ActionErrorText.field($0, signedIn.times)
      }
    } catch {
      guard case .noSecondFactor = error else { throw .unavailable(error) }
      return [Self.blocked]
    }
  }

  /// Why an action wasn't performed, as errors beside fields.
  ///
  /// `fault` is what is wrong with the action's own fields.
  func faults<Reason>(
    _ error: ActionError<Reason>, _ action: ConsoleAction, _ signedIn: SignedIn,
    _ fault: (Reason) throws(Refusal) -> FieldError
  ) async throws(Refusal) -> [FieldError] {
    switch error {
    case .failed(let reason):
      let fault = try fault(reason)
      return [fault] + (try await unmet(action, signedIn))
    case .refused(let refusal):
      return try Self.faults(refusal, action, signedIn)
    }
  }

  /// Why an administrator isn't authorized, as errors beside fields.
  static func faults(
    _ refusal: ActionDenial, _ action: ConsoleAction, _ signedIn: SignedIn
  ) throws(Refusal) -> [FieldError] {
    if case .noSecondFactor = refusal { return [blocked] }
    return try ActionErrorText.faults(refusal, signedIn.times, action.requirements.permission)
  }

  private static let blocked = FieldError(
    field: ActionFields.blockedField, text: ActionFields.blockedSentence)

  /// Leads on after an action, and gives the browser its session's new token.
  func leave<Value>(
    _ text: String, _ signedIn: SignedIn, after outcome: ActionOutcome<Value>, to path: String
  ) -> Response {
    ending.response(Flash(text: text), signedIn, renewed: outcome.renewed, to: path)
  }

  /// A page that follows an action, with the session's new token.
  func page<Value>(_ html: Response, after outcome: ActionOutcome<Value>) -> Response {
    var response = html
    if let renewed = outcome.renewed { ending.keep(renewed, in: &response) }
    return response
  }

  /// The page that asks before an action whose form is a single button elsewhere.
  func ask(
    _ asked: ActionQuestion, _ signedIn: SignedIn, _ frame: Frame, errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    var frame = frame
    frame.errors = errors
    let view = FrameView(frame)
    let model = ActionQuestionView(
      frame: view, question: asked, csrf: signedIn.session.csrfToken,
      fields: try await fields(asked.performs, signedIn, view))
    return .html(question.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }
}
