import HTTP
import Identity
import Localization
import OpenIDConnect
import Templating

struct ProvidersView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let rows: [ProviderRow]
  let isEmulator: Bool

  init(
    frame: Frame, context: PoolContext, providers: [IdentityProvider], isEmulator: Bool
  ) {
    self.frame = FrameView(frame)
    self.context = context
    rows = providers.map { ProviderRow(provider: $0, pool: context.pool, times: frame.times) }
    self.isEmulator = isEmulator
  }

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
    .flag("hasRows") { !$0.rows.isEmpty },
    .list(\.rows),
    .object("empty") { view in
      EmptyView(
        heading: Message("No identity providers"),
        sentence: Message(
          """
          Users can sign in with the methods enabled in the settings. Add an OpenID Connect \
          provider to let them sign in with their company accounts.
          """),
        link: view.add.map {
          EmptyLink(text: Message("Add provider"), href: $0, isPrimary: true)
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
