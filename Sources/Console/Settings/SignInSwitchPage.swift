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
    var frame = try await frames.frame(Message("Sign-in · Settings"), in: context)
    frame.crumbs = [
      Link(
        text: Message("Sign-in methods"),
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
    try await change(context, off: true, Message("Sign-in turned off. No users can sign in."))
  }

  func enable(_ context: ScopeContext) async throws(Refusal) -> Response {
    try await change(context, off: false, Message("Sign-in turned on."))
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
        Message(
          one: "{count} user can sign in again with the enabled methods.",
          other: "{count} users can sign in again with the enabled methods.",
          ["count": .number(users)]),
        Message("Nothing else changes: factors, policy, and passwords are kept."),
      ]
    }
    var lines = [
      Message(
        one: "No one can sign in or sign up. This affects {count} user.",
        other: "No one can sign in or sign up. This affects {count} users.",
        ["count": .number(users)]),
      Message(
        """
        Open sessions are rejected while sign-in is off: tokens can’t be refreshed, and calls \
        with an ID token fail. A backend that verifies ID tokens itself can accept them for up to \
        an hour. Sessions that weren’t ended work again when sign-in is turned back on.
        """),
      Message("Users, factors, and policy are kept. Turning sign-in back on restores access."),
    ]
    if context.scope.tenant == nil {
      lines.append(Message("Tenants of this project aren’t affected. Each has its own setting."))
    }
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
      $0.isOff ? Message("Turn on sign-in") : Message("Turn off sign-in")
    },
    .text("keep") { ConsolePaths.signInMethods($0.context.scope) },
  ]
}
