import HTTP
import Identity

enum ProvidersRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let providers = ProvidersPage(
      identity: identity, frames: frames,
      view: try parts.template("providers/providers", for: ProvidersView.self))
    table.inScope(.get, ConsolePaths.providers, .seeScope, providers.show)

    let provider = ProviderPage(
      identity: identity, actions: parts.actions,
      view: try parts.template("providers/provider", for: ProviderView.self))
    table.inScope(.get, ConsolePaths.newProvider, .manageTrust, provider.new)
    table.inScope(
      ConsolePaths.newProvider, performing: [.addIdentityProvider], provider.create)
    table.inScope(.get, ConsolePaths.provider, .seeScope, provider.show)
    table.inScope(
      ConsolePaths.provider, performing: [.changeIdentityProvider], provider.change)

    table.inScope(
      ConsolePaths.providerRemoval,
      performing: RemoveProvider(providers: identity.identityProviders), parts.actions)
  }
}

extension ConsolePaths {
  static let providers = ScopePath0("settings", "providers")
  static let newProvider = ScopePath0("settings", "providers", "new")
  static let provider = ScopePath1("settings", "providers", nil)
  static let providerRemoval = ScopePath1("settings", "providers", nil, "removal")
}
