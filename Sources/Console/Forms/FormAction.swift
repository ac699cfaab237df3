import HTTP
import Identity
import Localization

/// A form: its page, and what submitting it does.
///
/// Its routes, which only `RouteTable` adds, take the permission from ``action``.
protocol FormAction<Place>: Sendable {
  associatedtype Place: FormPlace
  associatedtype Address: FormPath<Place>
  associatedtype Input: Sendable = Void
  /// Why the action can fail; nothing that the form shows if it's `Never`.
  associatedtype Reason: Error = Never

  static var action: ConsoleAction { get }

  /// What submitting the form does, like the title of its page.
  static var name: Message { get }

  /// What the action is instead where its page is stricter (``FormPage/isStricter``); empty if it
  /// never is.
  static var stricterActions: [ConsoleAction] { get }

  static var path: Address { get }

  func page(_ target: FormTarget<Place>) async throws -> FormPage

  func input(_ target: FormTarget<Place>) async throws -> Input

  func perform(_ input: Input, _ target: FormTarget<Place>) async throws -> FormEnd

  /// Returns where the form shows a failure.
  func fault(_ reason: Reason, _ target: FormTarget<Place>) throws -> FieldError

  /// Returns what someone else saved after the form was opened; nil for another failure.
  func conflict(_ reason: Reason, _ target: FormTarget<Place>) -> FormConflict?

  /// Returns where the form shows a denial, or nil for the field of what it required; throws where a
  /// denial leads if there's nothing left to act on.
  func denied(_ denial: ActionDenial, _ target: FormTarget<Place>) async throws -> FieldError?

  /// Returns the error of a requirement with the field and the text that this form has for it.
  func placed(_ error: FieldError, _ target: FormTarget<Place>) -> FieldError
}

extension FormAction {
  static var stricterActions: [ConsoleAction] { [] }

  func conflict(_ reason: Reason, _ target: FormTarget<Place>) -> FormConflict? { nil }

  func denied(_ denial: ActionDenial, _ target: FormTarget<Place>) -> FieldError? { nil }

  func placed(_ error: FieldError, _ target: FormTarget<Place>) -> FieldError { error }
}

extension FormAction where Input == Void {
  func input(_ target: FormTarget<Place>) {}
}

extension FormAction where Reason == Never {
  func fault(_ reason: Never, _ target: FormTarget<Place>) -> FieldError {}
}

/// What someone else saved after a form was opened.
struct FormConflict {
  /// Its version, with which the form replaces it.
  let version: SettingsVersion
  let changes: SettingsConflict
}

/// What's wrong with the input, found before the action is tried.
enum InvalidInput: Error {
  case fields([FieldError])

  static func field(_ name: String, _ text: Message) -> InvalidInput {
    .fields([FieldError(field: name, text: text)])
  }
}

/// A path of a form, below the address of its place.
protocol FormPath<Place>: Sendable {
  associatedtype Place: FormPlace

  var components: [PathComponent] { get }

  /// Returns what follows the address of the place for the objects that the path names.
  func link(_ objects: [String]) -> String
}

extension Path: FormPath {
  typealias Place = SignedIn
}

/// Where a form is: on the instance, in a project, or in a pool.
protocol FormPlace: Sendable {
  /// The addresses that lead to such a place; the IDs in them are what ``enter`` takes.
  static var addresses: [[PathComponent]] { get }

  var signedIn: SignedIn { get }
  var address: String { get }

  static func access(_ permission: Permission) -> ConsoleRoute.Access

  /// Authorizes an administrator to be there; a place that they can't see isn't found.
  static func enter(
    _ ids: [String], _ signedIn: SignedIn, needing permission: Permission,
    of capability: Capability, _ authorizer: RequestAuthorizer
  ) async throws -> Self

  func frame(_ title: Message, _ frames: Frames) async throws -> Frame
}

protocol PoolPlace: FormPlace {
  var pool: Pool { get }
}

extension PoolPlace {
  var address: String { pool.address }
}

extension SignedIn: FormPlace {
  static let addresses: [[PathComponent]] = [[]]

  var signedIn: SignedIn { self }
  var address: String { "" }

  static func access(_ permission: Permission) -> ConsoleRoute.Access { .signedIn(permission) }

  static func enter(
    _ ids: [String], _ signedIn: SignedIn, needing permission: Permission,
    of capability: Capability, _ authorizer: RequestAuthorizer
  ) async throws -> SignedIn {
    guard signedIn.administrator.may(permission, in: nil) else {
      throw await authorizer.lacking(permission, signedIn, in: nil)
    }
    return signedIn
  }

  func frame(_ title: Message, _ frames: Frames) async -> Frame {
    await frames.frame(title, for: self)
  }
}

extension ProjectContext: PoolPlace {
  static let addresses = [PoolContext.ofProject]

  static func access(_ permission: Permission) -> ConsoleRoute.Access { .project(permission) }

  static func enter(
    _ ids: [String], _ signedIn: SignedIn, needing permission: Permission,
    of capability: Capability, _ authorizer: RequestAuthorizer
  ) async throws -> ProjectContext {
    try await authorizer.project(signedIn, ids[0], needing: permission, of: capability)
  }

  func frame(_ title: Message, _ frames: Frames) async throws -> Frame {
    try await frames.frame(title, in: self)
  }
}

extension PoolContext: PoolPlace {
  static let ofProject: [PathComponent] = ["projects", nil]
  static let ofTenant: [PathComponent] = ["projects", nil, "tenants", nil]
  static let addresses = [ofProject, ofTenant]

  static func access(_ permission: Permission) -> ConsoleRoute.Access { .pool(permission) }

  static func enter(
    _ ids: [String], _ signedIn: SignedIn, needing permission: Permission,
    of capability: Capability, _ authorizer: RequestAuthorizer
  ) async throws -> PoolContext {
    try await authorizer.pool(
      signedIn, ids[0], ids.count > 1 ? ids[1] : nil, needing: permission, of: capability)
  }

  func frame(_ title: Message, _ frames: Frames) async throws -> Frame {
    try await frames.frame(title, in: self)
  }
}

/// A visible tenant, in whose project the administrator has the permission that the route requires.
struct TenantContext: PoolPlace {
  static let addresses = [PoolContext.ofTenant]

  let context: PoolContext

  var signedIn: SignedIn { context.signedIn }
  var pool: Pool { context.pool }

  static func access(_ permission: Permission) -> ConsoleRoute.Access {
    .projectOfTenant(permission)
  }

  static func enter(
    _ ids: [String], _ signedIn: SignedIn, needing permission: Permission,
    of capability: Capability, _ authorizer: RequestAuthorizer
  ) async throws -> TenantContext {
    let context = try await authorizer.pool(
      signedIn, ids[0], ids[1], needing: .seePool, of: capability)
    _ = try await authorizer.project(signedIn, ids[0], needing: permission)
    return TenantContext(context: context)
  }

  func frame(_ title: Message, _ frames: Frames) async throws -> Frame {
    try await frames.frame(title, in: context)
  }
}

/// What the address of a form names, and the submitted fields.
struct FormTarget<Place: FormPlace>: Sendable {
  let place: Place
  /// The IDs in the address; the form is about the object of the last one.
  let objects: [String]
  let address: String
  /// That of the console's URL.
  let origin: String
  /// What was typed before a code was sent to the caller; nil if nothing was.
  var kept: Form?

  /// The ID of the object that the form is about; empty if it creates one.
  var object: String { objects.last ?? "" }
  var signedIn: SignedIn { place.signedIn }
  var form: Form { kept ?? signedIn.form }
  var times: Times { signedIn.times }
  /// The submitted reason and code, which every action is performed with.
  var request: ActionRequest { ActionInput(signedIn.form).request(signedIn) }

  func elsewhere(_ path: String, saying text: Message? = nil) -> Refusal {
    .elsewhere(path, text, signedIn.session)
  }
}

extension FormTarget where Place: PoolPlace {
  var pool: Pool { place.pool }
}

struct FormEnd: Sendable {
  fileprivate enum Next: Sendable {
    case redirect(Flash?, to: String)
    /// The only page that can show something, such as a secret of which only a hash is stored.
    case page(Message, [Link], @Sendable (FrameView) -> [UInt8])
    case file(Response)
    /// The form, with what was typed in it except codes, after a try that was recorded and failed.
    case again(Message)
  }

  fileprivate let next: Next
  fileprivate let renewed: NewConsoleSession?

  init(_ text: Message, at address: String) {
    next = .redirect(Flash(text: text), to: address)
    renewed = nil
  }

  /// `text` is nil if the next page itself shows the result.
  init<Value>(
    _ text: Message?, link: Link? = nil, at address: String, after outcome: ActionOutcome<Value>
  ) {
    next = .redirect(text.map { Flash(text: $0, link: link) }, to: address)
    renewed = outcome.renewed
  }

  init<Value>(
    title: Message, crumbs: [Link], after outcome: ActionOutcome<Value>,
    _ render: @escaping @Sendable (FrameView) -> [UInt8]
  ) {
    next = .page(title, crumbs, render)
    renewed = outcome.renewed
  }

  init<Value>(file: Response, after outcome: ActionOutcome<Value>) {
    next = .file(file)
    renewed = outcome.renewed
  }

  init<Value>(again text: Message, after outcome: ActionOutcome<Value>) {
    next = .again(text)
    renewed = outcome.renewed
  }
}

/// The page of a form, and the one way back after its action.
struct FormRoutes<Action: FormAction>: Sendable {
  let action: Action
  let forms: ActionForms

  func respond(
    _ place: Action.Place, _ objects: [String], at address: String
  ) async throws -> Response {
    var target = FormTarget(
      place: place, objects: objects, address: address, origin: forms.frames.publicURL.origin)
    guard place.signedIn.request.isReading else { return try await perform(target) }
    if Action.action.requirements.reason == .chosen {
      target.kept = await forms.frames.flashes.form(
        of: address, from: place.signedIn.request, for: place.signedIn.session)
    }
    return try await show(target, errors: [])
  }

  private func perform(_ target: FormTarget<Action.Place>) async throws -> Response {
    let signedIn = target.signedIn
    let input: Action.Input
    do {
      input = try await action.input(target)
    } catch InvalidInput.fields(let errors) {
      return try await show(
        target, errors: errors + (try await forms.unmet(Action.action, signedIn)))
    }
    let end: FormEnd
    do {
      end = try await action.perform(input, target)
    } catch {
      if let reason = error as? Action.Reason, let conflict = action.conflict(reason, target) {
        return try await show(target, errors: [], conflict)
      }
      return try await show(target, errors: try await errors(error, target))
    }
    switch end.next {
    case .redirect(let flash, let address):
      return forms.frames.leave(flash, signedIn, renewed: end.renewed, to: address)
    case .page(let title, let crumbs, let render):
      var frame = try await target.place.frame(title, forms.frames)
      frame.crumbs = crumbs
      return forms.frames.renewing(end.renewed, in: .html(render(FrameView(frame))))
    case .file(let file): return forms.frames.renewing(end.renewed, in: file)
    case .again(let text):
      let response = forms.frames.leave(
        Flash(text: text, isAlert: true), signedIn, renewed: end.renewed, to: target.address)
      await forms.frames.flashes.keep(
        target.form, of: target.address, for: end.renewed?.session ?? signedIn.session)
      return response
    }
  }

  private func errors(
    _ error: any Error, _ target: FormTarget<Action.Place>
  ) async throws -> [FieldError] {
    if let denial = error as? ActionDenial, let fault = try await action.denied(denial, target) {
      return [fault] + (try await forms.unmet(Action.action, target.signedIn))
    }
    return try await forms.faults(error, Action.action, target.signedIn) {
      try action.fault($0, target)
    }.map { action.placed($0, target) }
  }

  private func show(
    _ target: FormTarget<Action.Place>, errors: [FieldError], _ conflict: FormConflict? = nil
  ) async throws -> Response {
    var page = try await action.page(target)
    if let conflict { (page.version, page.conflict) = (conflict.version, conflict.changes) }
    let strictest = page.isStricter ? Action.stricterActions.first : nil
    return try await forms.show(
      page, of: strictest ?? Action.action, in: target.place, at: target.address, errors: errors,
      kept: target.kept)
  }
}
