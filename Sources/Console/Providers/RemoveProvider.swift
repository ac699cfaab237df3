import HTTP
import Identity
import Localization

/// `S/settings/providers/{id}/removal`: removes a provider.
struct RemoveProvider: FormAction {
  let providers: IdentityProviders
  let action = ConsoleAction.removeIdentityProvider

  func page(_ target: FormTarget<PoolContext>) async throws -> FormPage {
    let (pool, id) = (target.pool, target.object)
    _ = try await providers.find(pool, id)
    return FormPage(
      title: Message("Remove provider · Settings"),
      crumbs: [Link(text: Message("Identity providers"), href: ConsolePaths.providers(pool))],
      heading: Message("Remove <bdi>{id}</bdi>?", ["id": .text(id)]),
      consequences: [
        Message(
          """
          Users can no longer sign in with it. Users without another sign-in method are locked out.
          """),
        Message("Signed-in users stay signed in. To end a session, go to the user’s page."),
        Message(
          """
          Users keep their linked identities: if you add a provider with the same ID again, they \
          can sign in as before.
          """),
        Message("Its keys, client ID, and client secret are deleted."),
      ], button: Message("Remove provider"), isDestructive: true,
      back: ConsolePaths.provider(pool, id))
  }

  func perform(
    _ input: Void, _ target: FormTarget<PoolContext>, _ request: ActionRequest
  ) async throws -> FormEnd {
    let outcome = try await providers.delete(target.pool, target.object, request)
    return FormEnd(
      Message("Provider {id} removed.", ["id": .text(target.object)]),
      at: ConsolePaths.providers(target.pool), after: outcome)
  }

  func fault(
    _ error: ProviderError, _ target: FormTarget<PoolContext>
  ) throws -> FieldError {
    throw error
  }
}
