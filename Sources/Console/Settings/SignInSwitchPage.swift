import HTTP
import Identity
import Localization
import Templating

/// `S/settings/sign-in`: asks for confirmation and turns sign-in off or on for an entire user pool.
struct SignInSwitchPage: Sendable {
  let identity: Identity
  let actions: ActionForms
  let view: Template<SignInSwitchView>

  private var frames: Frames { actions.frames }

  func ask(_ context: ScopeContext) async throws(Refusal) -> Response {
    try await page(context, [])
  }

  private func page(
    _ context: ScopeContext, _ errors: [FieldError]
  ) async throws(Refusal) -> Response {
    let users: Int
    do {
      users = try await identity.policies.read(context.scope).users
    } catch {
      throw Refusal(error)
    }
    var frame = try await frames.frame(
      Message("settings.sign-in-title"), in: context)
    frame.crumbs = [
      Link(
        text: Message("settings.sign-in-methods"),
        href: ConsolePaths.signInMethods(context.scope))
    ]
    frame.errors = errors
    let frameView = FrameView(frame)
    let action: ConsoleAction = context.scope.isDisabled ? .enableSignIn : .disableSignIn
    let model = SignInSwitchView(
      frame: frameView, context: context, users: users,
      fields: try await actions.fields(action, context.signedIn, frameView))
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }

  func disable(_ context: ScopeContext) async throws(Refusal) -> Response {
    try await change(context, off: true, Message("settings.sign-in-turned-off"))
  }

  func enable(_ context: ScopeContext) async throws(Refusal) -> Response {
    try await change(context, off: false, Message("settings.sign-in-turned-on"))
  }

  private func change(
    _ context: ScopeContext, off: Bool, _ text: Message
  ) async throws(Refusal) -> Response {
    let signedIn = context.signedIn
    let scope = context.scope
    do {
      let outcome = try await identity.pools.update(
        project: scope.project, tenant: scope.tenant, actions.request(signedIn)
      ) { (edit) throws(UserPoolError) in edit.disableAuth = off }
      return actions.leave(text, signedIn, after: outcome, to: ConsolePaths.signInMethods(scope))
    } catch {
      return try await page(context, try ActionForms.settingsFaults(error, signedIn).errors)
    }
  }
}

struct SignInSwitchView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let users: Int
  let fields: ActionFields

  private var isOff: Bool { context.scope.isDisabled }

  private var consequences: [Message] {
    guard !isOff else {
      return [
        Message("settings.users-can-sign-in-again", ["count": .number(users)]),
        Message("settings.nothing-else-changes"),
      ]
    }
    var lines = [
      Message("settings.users-locked-out", ["count": .number(users)]),
      Message("settings.sessions-kept"),
      Message("settings.users-kept"),
    ]
    if context.scope.tenant == nil { lines.append(Message("settings.tenants-unaffected")) }
    return lines
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("scopeName") { $0.context.scope.name },
    .text("action") { view in
      (view.isOff ? ConsolePaths.signInEnabling : ConsolePaths.signInDisabling)(view.context.scope)
    },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .flag("isOff") { $0.isOff },
    .texts("consequences") { $0.consequences },
    .object("authorization") { $0.fields },
    .text("button") {
      $0.isOff ? Message("settings.turn-sign-in-on") : Message("settings.turn-sign-in-off")
    },
    .text("keep") { ConsolePaths.signInMethods($0.context.scope) },
  ]
}
