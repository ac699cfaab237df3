import HTTP
import Identity
import Localization
import Templating

/// A form: its page, and what submitting it does.
///
/// Its routes, which only `RouteTable` adds, take the permission from ``action`` and hand it the
/// submitted request, so that no action is without its guards.
protocol FormAction<Place>: Sendable {
  associatedtype Place: FormPlace
  /// The valid input.
  associatedtype Input: Sendable = Void
  /// Why the action can fail; nothing that the form shows if it's `Never`.
  associatedtype Reason: Error = Never

  var action: ConsoleAction { get }

  func page(_ target: FormTarget<Place>) async throws -> FormPage

  func input(_ target: FormTarget<Place>) async throws -> Input

  func perform(
    _ input: Input, _ target: FormTarget<Place>, _ request: ActionRequest
  ) async throws -> FormEnd

  /// Returns where the form shows a failure.
  func fault(_ reason: Reason, _ target: FormTarget<Place>) throws -> FieldError
}

extension FormAction where Input == Void {
  func input(_ target: FormTarget<Place>) {}
}

extension FormAction where Reason == Never {
  func fault(_ reason: Never, _ target: FormTarget<Place>) -> FieldError {}
}

/// What's wrong with the input, found before the action is tried.
enum InvalidInput: Error {
  case fields([FieldError])

  static func field(_ name: String, _ text: Message) -> InvalidInput {
    .fields([FieldError(field: name, text: text)])
  }
}

/// Where a form is: on the instance, in a project, or in a user pool.
protocol FormPlace: Sendable {
  var signedIn: SignedIn { get }

  func frame(_ title: Message, _ frames: Frames) async throws -> Frame
}

extension SignedIn: FormPlace {
  var signedIn: SignedIn { self }

  func frame(_ title: Message, _ frames: Frames) async -> Frame {
    await frames.frame(title, for: self)
  }
}

extension ProjectContext: FormPlace {
  func frame(_ title: Message, _ frames: Frames) async throws -> Frame {
    try await frames.frame(title, in: self)
  }
}

extension ScopeContext: FormPlace {
  func frame(_ title: Message, _ frames: Frames) async throws -> Frame {
    try await frames.frame(title, in: self)
  }
}

/// What the address of a form names, and the submitted fields.
struct FormTarget<Place: FormPlace>: Sendable {
  let place: Place
  /// The ID of the object that the form is about; empty if it creates one.
  let object: String
  let address: String

  var signedIn: SignedIn { place.signedIn }
  var form: Form { signedIn.form }
  var times: Times { signedIn.times }

  func elsewhere(_ path: String, saying text: Message? = nil) -> Refusal {
    .elsewhere(path, text, signedIn.session)
  }
}

extension FormTarget<ProjectContext> {
  var scope: Scope { place.scope }
}

extension FormTarget<ScopeContext> {
  var scope: Scope { place.scope }
}

/// Where an action ends.
struct FormEnd: Sendable {
  fileprivate enum Next: Sendable {
    case redirect(Flash, to: String)
    /// The only page that can show something, such as a secret of which only a hash is stored.
    case page(Message, [Link], @Sendable (FrameView) -> [UInt8])
  }

  fileprivate let next: Next
  fileprivate let renewed: NewConsoleSession?

  init(_ text: Message, at address: String) {
    next = .redirect(Flash(text: text), to: address)
    renewed = nil
  }

  init<Value>(_ text: Message, at address: String, after outcome: ActionOutcome<Value>) {
    next = .redirect(Flash(text: text), to: address)
    renewed = outcome.renewed
  }

  init<Value>(
    title: Message, crumbs: [Link], after outcome: ActionOutcome<Value>,
    _ render: @escaping @Sendable (FrameView) -> [UInt8]
  ) {
    next = .page(title, crumbs, render)
    renewed = outcome.renewed
  }
}

/// The page of a form, and the one way back after its action.
private struct FormRoutes<Action: FormAction>: Sendable {
  let action: Action
  let forms: ActionForms

  var permission: Permission { action.action.requirements.permission }

  func ask(
    _ place: Action.Place, _ object: String = "", at address: String
  ) async throws -> Response {
    try await show(FormTarget(place: place, object: object, address: address), errors: [])
  }

  func perform(
    _ place: Action.Place, _ object: String = "", at address: String
  ) async throws -> Response {
    let target = FormTarget(place: place, object: object, address: address)
    let signedIn = target.signedIn
    let input: Action.Input
    do {
      input = try await action.input(target)
    } catch InvalidInput.fields(let errors) {
      return try await show(
        target, errors: errors + (try await forms.unmet(action.action, signedIn)))
    }
    let end: FormEnd
    do {
      end = try await action.perform(input, target, forms.request(signedIn))
    } catch {
      let errors = try await forms.faults(error, action.action, signedIn) {
        try action.fault($0, target)
      }
      return try await show(target, errors: errors)
    }
    switch end.next {
    case .redirect(let flash, let address):
      return forms.ending.response(flash, signedIn, renewed: end.renewed, to: address)
    case .page(let title, let crumbs, let render):
      var frame = try await target.place.frame(title, forms.frames)
      frame.crumbs = crumbs
      var response = Response.html(render(FrameView(frame)))
      if let renewed = end.renewed { forms.ending.keep(renewed, in: &response) }
      return response
    }
  }

  private func show(
    _ target: FormTarget<Action.Place>, errors: [FieldError]
  ) async throws -> Response {
    try await forms.show(
      try await action.page(target), of: action.action, in: target.place, at: target.address,
      errors: errors)
  }
}

extension RouteTable {
  mutating func signedIn<Action: FormAction<SignedIn>>(
    _ path: Path<>, performing action: Action, _ forms: ActionForms
  ) {
    let form = FormRoutes(action: action, forms: forms)
    signedIn(.get, path, form.permission) { signedIn in
      try await form.ask(signedIn, at: path())
    }
    signedIn(path, performing: [action.action]) { signedIn in
      try await form.perform(signedIn, at: path())
    }
  }

  mutating func signedIn<Action: FormAction<SignedIn>>(
    _ path: Path<String>, performing action: Action, _ forms: ActionForms
  ) {
    let form = FormRoutes(action: action, forms: forms)
    signedIn(.get, path, form.permission) { signedIn, id in
      try await form.ask(signedIn, id, at: path(id))
    }
    signedIn(path, performing: [action.action]) { signedIn, id in
      try await form.perform(signedIn, id, at: path(id))
    }
  }

  mutating func inProject<Action: FormAction<ProjectContext>>(
    _ path: Path<String>, performing action: Action, _ forms: ActionForms
  ) {
    let form = FormRoutes(action: action, forms: forms)
    inProject(.get, path, form.permission) { context in
      try await form.ask(context, at: path(context.project))
    }
    inProject(path, performing: [action.action]) { context in
      try await form.perform(context, at: path(context.project))
    }
  }

  mutating func inProject<Action: FormAction<ProjectContext>>(
    _ path: Path<String, String>, performing action: Action, _ forms: ActionForms
  ) {
    let form = FormRoutes(action: action, forms: forms)
    inProject(.get, path, form.permission) { context, id in
      try await form.ask(context, id, at: path(context.project, id))
    }
    inProject(path, performing: [action.action]) { context, id in
      try await form.perform(context, id, at: path(context.project, id))
    }
  }

  mutating func inScope<Action: FormAction<ScopeContext>>(
    _ path: ScopePath0, performing action: Action, _ forms: ActionForms
  ) {
    let form = FormRoutes(action: action, forms: forms)
    inScope(.get, path, form.permission) { context in
      try await form.ask(context, at: path(context.scope))
    }
    inScope(path, performing: [action.action]) { context in
      try await form.perform(context, at: path(context.scope))
    }
  }

  mutating func inScope<Action: FormAction<ScopeContext>>(
    _ path: ScopePath1, performing action: Action, _ forms: ActionForms
  ) {
    let form = FormRoutes(action: action, forms: forms)
    inScope(.get, path, form.permission) { context, id in
      try await form.ask(context, id, at: path(context.scope, id))
    }
    inScope(path, performing: [action.action]) { context, id in
      try await form.perform(context, id, at: path(context.scope, id))
    }
  }
}

extension ProjectContext {
  fileprivate var project: String { scope.project.text }
}
