import HTTP
import Identity
import Localization
import OpenIDConnect
import Templating

struct ProviderView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  /// Nil for a new provider.
  let provider: IdentityProvider?
  let answers: ProviderAnswers
  let history: [HistoryRow]?
  let fields: ActionFields

  init(
    frame: FrameView, context: ScopeContext, provider: IdentityProvider?,
    answers: ProviderAnswers, history: [AuditRow]?, fields: ActionFields
  ) {
    self.frame = frame
    self.fields = fields
    self.context = context
    self.provider = provider
    self.answers = answers
    self.history = history?.map { HistoryRow($0, frame.times, frame.catalog) }
  }

  private var isOIDC: Bool { provider?.kind != .saml }
  private var mayChange: Bool { context.may(.manageTrust) }

  private var action: String {
    provider.map { ConsolePaths.provider(context.scope, $0.id.text) }
      ?? ConsolePaths.newProvider(context.scope)
  }

  /// What identifies the provider; for those who can't see the form, also what it contains.
  private var facts: [Fact] {
    guard let provider else { return [] }
    let settings = provider.settings
    var facts = [
      Fact(Message("Provider ID"), HTML.isolated(provider.id.text)),
      Fact(Message("Protocol"), provider.kind.name),
    ]
    if !mayChange, let name = settings.visibleName {
      facts.append(Fact(Message("Name"), HTML.isolated(name)))
    }
    if isOIDC {
      if !mayChange {
        facts.append(Fact(Message("Issuer"), HTML.isolated(settings.issuer)))
        facts.append(Fact(Message("Client ID"), HTML.isolated(settings.clientID)))
      }
      let names = settings.keys.names.map { Message.value(.name($0)) }
      facts.append(
        Fact(
          Message("Keys"),
          names.isEmpty
            ? Markup(escaping: Message("none"))
            : Markup(html: .value(.sequence(names)))))
      facts.append(
        Fact(
          Message("Client secret"),
          settings.clientSecret == nil
            ? Message("none") : Message("stored encrypted")))
    }
    facts.append(Fact(Message("Added"), frame.times.past(provider.createdAt)))
    facts.append(Fact(Message("Changed"), frame.times.past(provider.changedAt)))
    return facts
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .object("authorization") { $0.fields },
    .text("heading") { view in
      view.provider.map { Message.verbatim($0.id.text) } ?? Message("Add provider")
    },
    .flag("isNew") { $0.provider == nil },
    .text("roles") { _ in Message.value(Permission.manageTrust.roleNames) },
    .markup("state") { $0.provider.map(ProviderRow.state) },
    .flag("mayChange") { $0.mayChange },
    .flag("isOIDC") { $0.isOIDC },
    .text("action") { $0.action },
    .text("cancel") { ConsolePaths.providers($0.context.scope) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .text("seen") { $0.answers.seen },
    .text("id") { $0.answers.id },
    .text("idError") { $0.frame.error(at: "id") },
    .text("name") { $0.answers.name },
    .text("nameError") { $0.frame.error(at: "name") },
    .text("issuer") { $0.answers.issuer },
    .text("issuerError") { $0.frame.error(at: "issuer") },
    .text("client") { $0.answers.clientID },
    .text("clientError") { $0.frame.error(at: "client") },
    .text("jwks") { $0.answers.keys },
    .text("keysError") { $0.frame.error(at: "keys") },
    .flag("isEnabled") { $0.answers.isEnabled },
    .text("button") {
      $0.provider == nil ? Message("Add provider") : Message("Save provider")
    },
    .list("facts") { $0.facts },
    .text("removal") { view in
      view.mayChange
        ? view.provider.map { ConsolePaths.providerRemoval(view.context.scope, $0.id.text) } : nil
    },
    .flag("showsHistory") { $0.history != nil },
    .flag("hasHistory") { !($0.history ?? []).isEmpty },
    .list("history") { $0.history ?? [] },
  ]
}
