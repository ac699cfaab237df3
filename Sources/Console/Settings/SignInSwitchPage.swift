import HTTP
import Identity
import Localization
import Templating

/// `S/settings/sign-in`: asks for confirmation and turns sign-in off or on for an entire user pool.
struct SignInSwitchPage: Sendable {
  let identity: Identity
  let actions: ActionForms

  func ask(_ context: ScopeContext) async throws -> Response {
    try await page(context, [])
  }

  private func page(
    _ context: ScopeContext, _ errors: [FieldError]
  ) async throws -> Response {
    let scope = context.scope
    let users = try await identity.policies.read(scope).users
    let (isOff, name) = (scope.isDisabled, Message.Value.text(scope.name))
    let methods = ConsolePaths.signInMethods(scope)
    let page = FormPage(
      title: Message("Sign-in · Settings"),
      crumbs: [Link(text: Message("Sign-in methods"), href: methods)],
      heading: isOff
        ? Message("Turn on sign-in for <bdi>{scopeName}</bdi>?", ["scopeName": name])
        : Message("Turn off sign-in for <bdi>{scopeName}</bdi>?", ["scopeName": name]),
      consequences: Self.consequences(scope, users: users),
      button: isOff ? Message("Turn on sign-in") : Message("Turn off sign-in"),
      isDestructive: !isOff, back: methods)
    return try await actions.show(
      page, of: isOff ? .enableSignIn : .disableSignIn, in: context,
      at: (isOff ? ConsolePaths.signInEnabling : ConsolePaths.signInDisabling)(scope),
      errors: errors)
  }

  private static func consequences(_ scope: Scope, users: Int) -> [Message] {
    guard !scope.isDisabled else {
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
    if scope.tenant == nil {
      lines.append(Message("Tenants of this project aren’t affected. Each has its own setting."))
    }
    return lines
  }

  func disable(_ context: ScopeContext) async throws -> Response {
    try await change(context, off: true, Message("Sign-in turned off. No users can sign in."))
  }

  func enable(_ context: ScopeContext) async throws -> Response {
    try await change(context, off: false, Message("Sign-in turned on."))
  }

  private func change(
    _ context: ScopeContext, off: Bool, _ text: Message
  ) async throws -> Response {
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
