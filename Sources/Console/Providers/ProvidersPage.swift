import HTTP
import Identity
import Localization
import OpenIDConnect
import Templating

/// `S/settings/providers`: lists the identity providers of a pool.
struct ProvidersPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<ProvidersView>

  func show(_ context: PoolContext) async throws -> Response {
    let pool = context.pool
    let providers = try await identity.identityProviders.list(pool).items
    let frame = try await frames.frame(Message("Identity providers"), in: context)
    return .html(
      view.render(
        ProvidersView(
          frame: FrameView(frame), context: context, providers: providers,
          isEmulator: identity.profile == .emulator)))
  }
}

struct ProvidersView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let providers: [IdentityProvider]
  let isEmulator: Bool

  private var add: String? {
    context.may(.manageTrust) ? ConsolePaths.newProvider(context.pool) : nil
  }

  /// The link to the audit log of providers, including removed ones.
  private var history: String? {
    let query: Form = ["action": "provider"]
    return context.may(.readAudit) ? query.query(of: ConsolePaths.audit(context.pool)) : nil
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("poolName") { $0.context.pool.name },
    .flag(\.isEmulator),
    .text("add") { $0.add },
    .list("rows") { view in
      view.providers.map {
        ProviderRow(provider: $0, pool: view.context.pool, times: view.frame.times)
      }
    },
    .object("empty") { view in
      EmptyView(
        heading: Message("No identity providers"),
        sentence: view.add == nil
          ? Message("Users can sign in with the methods enabled in the settings.")
          : Message(
            """
            Users can sign in with the methods enabled in the settings. Add an OpenID Connect \
            provider to let them sign in with their company accounts.
            """),
        link: view.add.map {
          Link(text: Message("Add provider"), href: $0, isPrimary: true)
        })
    },
    .text("history") { $0.history },
  ]
}

struct ProviderRow: ViewModel {
  let provider: IdentityProvider
  let pool: Pool
  let times: Times

  static func state(_ provider: IdentityProvider) -> Markup {
    guard provider.kind == .oidc else { return Chip.off(Message("stored only")) }
    guard provider.settings.isEnabled else { return Chip.off(Message("off")) }
    return provider.settings.keys.count > 0
      ? Chip.on(Message("on")) : Chip.look(Message("on, no keys"))
  }

  static let keys: Keys<Self> = [
    .text("name") { $0.provider.settings.visibleName ?? $0.provider.id.text },
    .text("id") { $0.provider.id.text },
    .text("protocol") { $0.provider.kind.name },
    .markup("state") { state($0.provider) },
    .markup("changed") { $0.times.day($0.provider.changedAt) },
    .text("href") { ConsolePaths.provider($0.pool, $0.provider.id.text) },
  ]
}

extension IdentityProvider.Kind {
  var name: Message {
    switch self {
    case .oidc: .verbatim("OpenID Connect")
    case .saml: .verbatim("SAML")
    }
  }
}

enum ProvidersRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let identity = parts.identity
    let providers = try parts.page("providers/providers", ProvidersPage.init)
    table.inside(ConsolePaths.providers, .get(.seePool, needs: .hosting), providers.show)

    let provider = try parts.page("providers/provider", ProviderPage.init)
    table.inside(ConsolePaths.newProvider, .get(.manageTrust, needs: .hosting), provider.new)
    table.inside(ConsolePaths.newProvider, .performing(.addIdentityProvider), provider.create)
    table.inside(ConsolePaths.provider, .get(.seePool, needs: .hosting), provider.show)
    table.inside(
      ConsolePaths.provider, .performing(.changeIdentityProvider, .narrowProvider),
      provider.change)

    table.add(RemoveProvider(providers: identity.identityProviders), parts.actions)
  }
}

extension ConsolePaths {
  static let providers = PoolPath0("settings", "providers")
  static let newProvider = PoolPath0("settings", "providers", "new")
  static let provider = PoolPath1("settings", "providers", nil)
}
