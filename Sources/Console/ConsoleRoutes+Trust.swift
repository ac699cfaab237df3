import HTTP
import Identity
import Templating

extension ConsoleRoutes {
  /// Adds the pages of identity providers and custom token signing keys.
  static func addTrust(
    to table: inout RouteTable, _ identity: Identity, _ templates: TemplateLibrary,
    _ actions: ActionForms
  ) throws {
    let frames = actions.frames
    let providers = ProvidersPage(
      identity: identity, frames: frames,
      view: try templates.template("providers/providers", for: ProvidersView.self))
    table.inScope(.get, ConsolePaths.providers, .seeScope, providers.show)

    let provider = ProviderPage(
      identity: identity, actions: actions,
      view: try templates.template("providers/provider", for: ProviderView.self))
    table.inScope(.get, ConsolePaths.newProvider, .manageTrust, provider.new)
    table.inScope(
      ConsolePaths.newProvider, performing: [.addIdentityProvider], provider.create)
    table.inScope(.get, ConsolePaths.provider, .seeScope, provider.show)
    table.inScope(
      ConsolePaths.provider, performing: [.changeIdentityProvider], provider.change)

    let removal = ProviderRemovalPage(
      providers: identity.identityProviders, actions: actions,
      view: try templates.template("providers/removal", for: ProviderRemovalView.self))
    table.inScope(.get, ConsolePaths.providerRemoval, .manageTrust, removal.ask)
    table.inScope(
      ConsolePaths.providerRemoval, performing: [.removeIdentityProvider], removal.remove)

    let signers = TrustedTokenKeysPage(
      identity: identity, actions: actions,
      view: try templates.template("signers/signers", for: TrustedTokenKeysView.self),
      revocation: try templates.template(
        "signers/revocation", for: TrustedTokenKeyRevocationView.self))
    table.inProject(.get, ConsolePaths.signers, .readPolicy, signers.show)
    table.inProject(.get, ConsolePaths.signerRevocation, .manageTrust, signers.ask)
    table.inProject(
      ConsolePaths.signerRevocation, performing: [.revokeTokenSigningKey], signers.revoke)

    let newTrustedTokenKey = NewTrustedTokenKeyPage(
      signers: identity.signers, actions: actions,
      view: try templates.template("signers/new", for: NewTrustedTokenKeyView.self))
    table.inProject(.get, ConsolePaths.newTrustedTokenKey, .manageTrust, newTrustedTokenKey.show)
    table.inProject(
      ConsolePaths.newTrustedTokenKey, performing: [.registerTokenSigningKey],
      newTrustedTokenKey.register)
  }
}
