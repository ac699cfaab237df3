import HTTP
import Identity
import Localization
import Templating

/// `/projects/{p}/settings/keys`: creates an API key.
struct KeysPage: Sendable {
  let keys: APIKeys
  let actions: ActionForms

  func create(_ context: ProjectContext) async throws -> Response {
    let signedIn = context.signedIn
    let outcome: ActionOutcome<APIKey>
    do {
      outcome = try await keys.create(for: context.pool.project, actions.request(signedIn))
    } catch let refusal as ActionDenial {
      let errors = try ActionForms.faults(refusal, .createAPIKey, signedIn)
      return try await askForCreation(context, errors)
    }
    return actions.leave(
      Message("API key {label} created.", ["label": .text(outcome.value.label)]), signedIn,
      after: outcome,
      to: Self.list(context))
  }

  /// Asks for confirmation, because the list has only a button and no field for a code.
  private func askForCreation(
    _ context: ProjectContext, _ errors: [FieldError]
  ) async throws -> Response {
    let page = FormPage(
      title: Message("New API key · Settings"), crumbs: [.keys(context.pool)],
      heading: Message(
        "Create an API key for {project}?",
        ["project": .name(Formatted.short(context.pool.name))]),
      consequences: [
        Message(
          "Applications that use the key can connect to this project. The key isn’t a secret."),
        Message("Other keys stay valid."),
      ], isQuestion: true, button: Message("Create API key"), back: Self.list(context))
    // The button on the list had no fields, so the first request shows no errors.
    let isFirst = context.signedIn.form["confirmed"] == nil
    return try await actions.show(
      page, of: .createAPIKey, in: context, at: Self.list(context), errors: isFirst ? [] : errors)
  }

  private static func list(_ context: ProjectContext) -> String {
    ConsolePaths.keys(context.pool)
  }
}

/// `/projects/{p}/settings/keys/{id}/revocation`: revokes an API key.
struct RevokeAPIKey: FormAction {
  let keys: APIKeys
  let action = ConsoleAction.revokeAPIKey

  func page(_ target: FormTarget<ProjectContext>) async throws -> FormPage {
    let (pool, times) = (target.pool, target.times)
    let all = try await keys.list(pool.project)
    guard let key = all.first(where: { $0.id.text == target.object }) else {
      throw Refusal.notFound
    }
    return FormPage(
      title: Message("Revoke API key · Settings"), crumbs: [.keys(pool)],
      heading: Message(
        "Revoke API key <span class=\"mono\">{label}</span>?", ["label": .text(key.label)]),
      consequences: [
        Message(
          """
          Every call with this key is rejected immediately: applications that use it can’t sign \
          in users or refresh their tokens.
          """),
        all.count == 1
          ? Message(
            """
            It’s the only key of this project, so no application can connect until you create and \
            deploy another key.
            """)
          : Message("Applications that use another key of this project aren’t affected."),
        Message("This can’t be undone: a new key has a different value."),
      ], button: Message("Revoke API key"), isDestructive: true, back: ConsolePaths.keys(pool),
      factsHeading: Message("This key"),
      facts: [
        Fact(Message("Key"), ConnectView.copied(key.text)),
        Fact(Message("Created"), times.past(key.createdAt)),
        Fact(Message("Last used"), times.lastUse(key.lastUsedAt, since: key.createdAt)),
      ])
  }

  func perform(
    _ input: Void, _ target: FormTarget<ProjectContext>, _ request: ActionRequest
  ) async throws -> FormEnd {
    let outcome = try await keys.revoke(ID(target.object), of: target.pool.project, request)
    return FormEnd(
      Message("API key revoked. Calls with it are now rejected."),
      at: ConsolePaths.keys(target.pool), after: outcome)
  }
}
