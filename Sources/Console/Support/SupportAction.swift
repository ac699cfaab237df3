import HTTP
import Identity
import Localization
import Templating

/// An action on a user: what its page asks, what it does, and what it says afterwards.
///
/// Its page, which only `RouteTable.inScope(_:performing:)` creates, takes the permission from
/// ``action`` and hands it the submitted request, so that no action is without its guards.
protocol SupportAction: Sendable {
  var action: ConsoleAction { get }

  var pages: SupportPages { get }

  /// Returns the content of the confirmation page, with the action's own fields as entered.
  func question(_ target: SupportTarget) async throws -> SupportConfirmation

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws -> SupportResult

  /// Returns what to say on the user's page when there's nothing left to act on, by default that
  /// nothing changed; nil for a denial that belongs to the form.
  func closing(_ denial: ActionDenial) -> SupportClosing?

  /// What to say on the user's page to someone who opens the action's address when there's nothing
  /// left to act on, such as a link that a colleague sent; nil if there's no such page.
  var gone: SupportClosing? { get }
}

extension SupportAction {
  func closing(_ denial: ActionDenial) -> SupportClosing? {
    if case .nothingToDo = denial { .unchanged } else { nil }
  }

  var gone: SupportClosing? { nil }
}

/// The user and the object that an action's address names, and the submitted form.
struct SupportTarget: Sendable {
  let context: ScopeContext
  let uid: String
  /// The factor, removal, or note; empty for an action on the whole account.
  let object: String
  let address: String
  /// What was typed before a code was sent to the caller; nil if nothing was.
  var typed: Form?
  /// In the time zone that the submitted form named.
  var formTimes: Times

  init(_ context: ScopeContext, _ uid: String, _ object: String = "", at address: String) {
    self.context = context
    self.uid = uid
    self.object = object
    self.address = address
    formTimes = context.signedIn.times
  }

  var scope: Scope { context.scope }
  var user: ID<Account> { ID(uid) }
  var form: Form { typed ?? context.signedIn.form }
  var times: Times { context.signedIn.times }
  var userPage: String { ConsolePaths.user(scope, uid) }
}

struct SupportResult: Sendable {
  /// The message on the next page; nil if that page itself shows the result.
  var flash: Flash?
  /// The next page; nil for the user's page.
  var address: String?
  /// The file that the action downloads; nil if another page follows.
  private(set) var file: Response?
  let renewed: NewConsoleSession?

  init(file: Response, renewed: NewConsoleSession?) {
    self.file = file
    self.renewed = renewed
  }

  init(_ flash: Flash?, at address: String? = nil, renewed: NewConsoleSession?) {
    self.flash = flash
    self.address = address
    self.renewed = renewed
  }

  init<Value>(_ text: Message, link: Link? = nil, after outcome: ActionOutcome<Value>) {
    self.init(Flash(text: text, link: link), renewed: outcome.renewed)
  }
}

struct SupportClosing: Sendable {
  let text: Message
  /// Whether the user may be gone as well, which the address then says.
  var checksUser = false

  static let unchanged = SupportClosing(text: Message("No changes made."))
}

/// The confirmation page of an action on a user, and the one way back after it.
private struct SupportActionPage<Action: SupportAction>: Sendable {
  let action: Action

  private var pages: SupportPages { action.pages }

  func ask(_ target: SupportTarget) async throws -> Response {
    var target = target
    target.typed = await pages.typed(target)
    target.formTimes = try target.context.signedIn.times(of: target.form)
    do {
      return try await page(
        target, target.typed.map(ActionInput.init) ?? ActionInput(), errors: [])
    } catch {
      guard case .notFound? = Refusal(error), let gone = action.gone else { throw error }
      return try await pages.leave(gone, target)
    }
  }

  func perform(_ target: SupportTarget) async throws -> Response {
    let signedIn = target.context.signedIn
    var target = target
    target.formTimes = try signedIn.formTimes
    let input = ActionInput(signedIn.form)
    do {
      let result = try await action.perform(target, input.request(signedIn))
      return pages.leave(result, target)
    } catch let error as ActionDenial {
      if let closing = action.closing(error) { return try await pages.leave(closing, target) }
      let errors = try ActionErrorText.faults(
        error, target.times, action.action.requirements.permission)
      return try await page(target, input, errors: errors)
    }
  }

  private func page(
    _ target: SupportTarget, _ input: ActionInput, errors: [FieldError]
  ) async throws -> Response {
    let question = try await action.question(target)
    return try await pages.ask(
      question, of: action.action, target, input, errors: errors.map(question.placed))
  }
}

extension RouteTable {
  mutating func inScope<Action: SupportAction>(
    _ path: ScopePath1, performing action: Action
  ) {
    let page = SupportActionPage(action: action)
    let permission = action.action.requirements.permission
    inScope(.get, path, permission) { context, uid in
      try await page.ask(SupportTarget(context, uid, at: path(context.scope, uid)))
    }
    inScope(path, performing: [action.action]) { context, uid in
      try await page.perform(SupportTarget(context, uid, at: path(context.scope, uid)))
    }
  }

  mutating func inScope<Action: SupportAction>(
    _ path: ScopePath2, performing action: Action
  ) {
    let page = SupportActionPage(action: action)
    let permission = action.action.requirements.permission
    inScope(.get, path, permission) { context, uid, object in
      try await page.ask(
        SupportTarget(context, uid, object, at: path(context.scope, uid, object)))
    }
    inScope(path, performing: [action.action]) { context, uid, object in
      try await page.perform(
        SupportTarget(context, uid, object, at: path(context.scope, uid, object)))
    }
  }
}
