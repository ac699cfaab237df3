import HTTP
import Identity

enum ProvidersRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let providers = ProvidersPage(
      identity: identity, frames: frames,
      view: try parts.template("providers/providers", for: ProvidersView.self))
    table.inPool(.get, ConsolePaths.providers, .seePool, providers.show)

    let provider = ProviderPage(
      identity: identity, actions: parts.actions,
      view: try parts.template("providers/provider", for: ProviderView.self))
    table.inPool(.get, ConsolePaths.newProvider, .manageTrust, provider.new)
    table.inPool(
      ConsolePaths.newProvider, performing: [.addIdentityProvider], provider.create)
    table.inPool(.get, ConsolePaths.provider, .seePool, provider.show)
    table.inPool(
      ConsolePaths.provider, performing: [.changeIdentityProvider], provider.change)

    table.inPool(
      ConsolePaths.providerRemoval,
      performing: RemoveProvider(providers: identity.identityProviders), parts.actions)
  }
}

extension ConsolePaths {
  static let providers = PoolPath0("settings", "providers")
  static let newProvider = PoolPath0("settings", "providers", "new")
  static let provider = PoolPath1("settings", "providers", nil)
  static let providerRemoval = PoolPath1("settings", "providers", nil, "removal")
}
