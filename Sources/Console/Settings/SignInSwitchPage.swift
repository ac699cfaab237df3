import HTTP
import Identity
import Localization

/// `S/settings/sign-in`: asks for confirmation and turns sign-in off or on for an entire pool.
struct SignInSwitchPage: Sendable {
  let identity: Identity
  let actions: ActionForms

  func ask(_ context: PoolContext) async throws -> Response {
    try await page(context, [])
  }

  private func page(
    _ context: PoolContext, _ errors: [FieldError]
  ) async throws -> Response {
    let pool = context.pool
    let users = try await identity.policies.read(pool).users
    let (isOff, name) = (pool.isDisabled, Message.Value.text(pool.name))
    let methods = ConsolePaths.signInMethods(pool)
    let page = FormPage(
      title: Message("Sign-in · Settings"),
      crumbs: [Link(text: Message("Sign-in methods"), href: methods)],
      heading: isOff
        ? Message("Turn on sign-in for <bdi>{poolName}</bdi>?", ["poolName": name])
        : Message("Turn off sign-in for <bdi>{poolName}</bdi>?", ["poolName": name]),
      consequences: Self.consequences(pool, users: users),
      button: isOff ? Message("Turn on sign-in") : Message("Turn off sign-in"),
      isDestructive: !isOff, back: methods)
    return try await actions.show(
      page, of: isOff ? .enableSignIn : .disableSignIn, in: context,
      at: (isOff ? ConsolePaths.signInEnabling : ConsolePaths.signInDisabling)(pool),
      errors: errors)
  }

  private static func consequences(_ pool: Pool, users: Int) -> [Message] {
    guard !pool.isDisabled else {
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
    if pool.tenant == nil {
      lines.append(Message("Tenants of this project aren’t affected. Each has its own setting."))
    }
    return lines
  }

  func disable(_ context: PoolContext) async throws -> Response {
    try await change(context, off: true, Message("Sign-in turned off. No users can sign in."))
  }

  func enable(_ context: PoolContext) async throws -> Response {
    try await change(context, off: false, Message("Sign-in turned on."))
  }

  private func change(
    _ context: PoolContext, off: Bool, _ text: Message
  ) async throws -> Response {
    let signedIn = context.signedIn
    let pool = context.pool
    do {
      let outcome = try await identity.pools.update(
        project: pool.project, tenant: pool.tenant, by: .console(actions.request(signedIn))
      ) { (edit) throws(PoolError) in edit.disableAuth = off }
      return actions.leave(text, signedIn, after: outcome, to: ConsolePaths.signInMethods(pool))
    } catch {
      return try await page(context, try ActionForms.settingsFaults(error, signedIn).errors)
    }
  }
}
