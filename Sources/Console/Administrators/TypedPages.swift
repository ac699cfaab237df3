import HTTP
import Identity
import Localization
import Templating

/// `/administrators/{id}/factor-reset` and `/administrators/{id}/removal`: perform the action after
/// the administrator's email address is typed as confirmation.
struct TypedPage: Sendable {
  enum Action: Sendable {
    case reset, remove

    var action: ConsoleAction { self == .reset ? .resetAdministratorFactor : .removeAdministrator }

    var name: Message {
      self == .reset
        ? Message("Reset second factor") : Message("Remove administrator")
    }
  }

  let action: Action
  let identity: Identity
  let actions: ActionForms
  let view: Template<TypedView>

  private var frames: Frames { actions.frames }

  func ask(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    try await page(signedIn, id, typed: "", errors: [])
  }

  func act(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    let record = try await AdministratorPage.record(id, identity)
    let administrator = record.administrator
    let typed = signedIn.form.trimmed("confirmation")
    guard administrator.hasEmail(typed) else {
      let fault = FieldError(
        field: "confirmation",
        text: Message("The email address doesn’t match. Type it exactly as shown."))
      let errors = [fault] + (try await actions.unmet(action.action, signedIn))
      return try await page(signedIn, id, typed: typed, errors: errors)
    }
    let name = Message.Value.name(Formatted.short(administrator.displayName))
    let request = actions.request(signedIn)
    do {
      switch action {
      case .reset:
        let outcome = try await identity.administratorFactors.reset(administrator.id, request)
        return actions.leave(
          Message(
            "The second factor for {name} was reset, and their sessions were ended.", ["name": name]
          ), signedIn, after: outcome,
          to: ConsolePaths.administrator(id))
      case .remove:
        let outcome = try await identity.administrators.remove(administrator.id, request)
        let tokens = outcome.value
        return actions.leave(
          tokens == 0
            ? Message("{name} is no longer an administrator.", ["name": name])
            : Message(
              one: """
                {name} is no longer an administrator. {count} service token they created was \
                revoked.
                """,
              other: """
                {name} is no longer an administrator. {count} service tokens they created were \
                revoked.
                """, ["name": name, "count": .number(tokens)]),
          signedIn, after: outcome, to: ConsolePaths.administrators())
      }
    } catch {
      let errors = try await actions.faults(error, action.action, signedIn, fault)
      return try await page(signedIn, id, typed: typed, errors: errors)
    }
  }

  private func fault(_ error: ManagementError) throws(Refusal) -> FieldError {
    switch error {
    case .notAllowed: throw .notAllowed(.manageAdministrators)
    case .oneself:
      return FieldError(
        field: "confirmation",
        text: Message(
          """
          You can’t do this to your own account. Ask another administrator with this role: {roles}.
          """, ["roles": Permission.manageAdministrators.roleNames]))
    case .lastOwner:
      return FieldError(field: "confirmation", text: GrantText.lastOwner)
    case .breakGlassAccount:
      return FieldError(
        field: "confirmation",
        text: Message(
          """
          This is the break-glass account. Turn on password sign-in first. To turn it off again, \
          choose another break-glass account.
          """))
    case .notFound, .scopeNotFound, .invalidEmail, .invalidName, .emailTaken, .endInPast,
      .endTooLate, .roleFromGroup, .passwordSignInOff:
      throw .notFound
    case .unavailable: throw .unavailable(error)
    }
  }

  private func page(
    _ signedIn: SignedIn, _ id: String, typed: String, errors: [FieldError]
  ) async throws(Refusal) -> Response {
    let record = try await AdministratorPage.record(id, identity)
    let administrator = record.administrator
    guard administrator.id != signedIn.administrator.id,
      action == .remove || record.hasSecondFactor
    else { return .redirect(to: ConsolePaths.administrator(id)) }
    let tokens =
      action == .reset
      ? 0
      : try await refusing { try await identity.serviceTokens.count(madeBy: administrator.id) }
    let name = Message.Value.name(Formatted.short(administrator.displayName))
    var frame = await frames.frame(
      Message("{title} · {name} · Administrators", ["title": .message(action.name), "name": name]),
      for: signedIn)
    frame.errors = errors
    frame.crumbs = [
      Link(text: Message("Administrators"), href: ConsolePaths.administrators()),
      Link(text: Formatted.short(administrator.displayName), href: ConsolePaths.administrator(id)),
    ]
    let frameView = FrameView(frame)
    let model = TypedView(
      frame: frameView, csrf: signedIn.session.csrfToken, action: action,
      administrator: administrator, tokens: tokens, returns: !record.groupGrants.isEmpty,
      typed: typed,
      fields: try await actions.fields(action.action, signedIn, frameView))
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }
}

struct TypedView: ViewModel {
  let frame: FrameView
  let csrf: String
  let action: TypedPage.Action
  let administrator: Administrator
  /// The number of service tokens created by this administrator, which are revoked.
  let tokens: Int
  /// Whether groups give them roles again at the next sign-in with the provider.
  let returns: Bool
  let typed: String
  let fields: ActionFields

  private var consequences: [Message] {
    switch action {
    case .reset:
      return [
        Message(
          """
          Their authenticator, recovery codes, and passkeys stop working, and all their sessions \
          end.
          """),
        administrator.mustHaveSecondFactor
          ? Message(
            """
            At their next sign-in, they must set up a new second factor before they can do \
            anything else.
            """)
          : Message("At their next sign-in, the password alone is enough."),
        Message(
          """
          Verify that the request comes from them: anyone who can sign in as them can set up a \
          new second factor.
          """),
      ]
    case .remove:
      var consequences = [
        Message(
          """
          All their sessions end immediately, and their roles, second factor, and recovery codes \
          are deleted.
          """)
      ]
      if tokens > 0 {
        consequences.append(
          Message(
            one: "{count} service token they created is revoked. Programs that use it lose access.",
            other: """
              {count} service tokens they created are revoked. Programs that use them lose access.
              """, ["count": .number(tokens)]))
      }
      consequences.append(Message("Their actions stay in the audit log."))
      consequences.append(
        returns
          ? Message(
            """
            A group at the sign-in provider makes them an administrator again at their next \
            sign-in. To prevent that, remove them from the group, or change the group’s role.
            """)
          : Message("This can’t be undone. To restore their access, invite them again."))
      return consequences
    }
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .flag("isReset") { $0.action == .reset },
    .text("name") { Formatted.short($0.administrator.displayName) },
    .text("email") { $0.administrator.email },
    .text(\.csrf),
    .text("action") {
      $0.action == .reset
        ? ConsolePaths.factorReset($0.administrator.id.text)
        : ConsolePaths.administratorRemoval($0.administrator.id.text)
    },
    .text("keep") { ConsolePaths.administrator($0.administrator.id.text) },
    .texts("consequences") { $0.consequences },
    .object("authorization") { $0.fields },
    .text(\.typed),
    .text("error") { $0.frame.error(at: "confirmation") },
    .text("button") { $0.action.name },
  ]
}
