import HTTP
import Identity
import Localization
import OpenIDConnect
import Templating

struct ProviderView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  /// Nil for a new provider.
  let provider: IdentityProvider?
  let answers: ProviderAnswers
  let history: [HistoryRow]?
  let fields: ActionFields

  init(
    frame: FrameView, context: PoolContext, provider: IdentityProvider?,
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
    provider.map { ConsolePaths.provider(context.pool, $0.id.text) }
      ?? ConsolePaths.newProvider(context.pool)
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

  private var settings: [Field] {
    var fields: [Field] = [
      .line(
        "name", Message("Name"), hint: Message("Shown in the console. Optional."),
        value: answers.name)
    ]
    if provider == nil {
      fields.insert(
        .line(
          "id", Message("Provider ID"),
          hint: Message(
            """
            “oidc.” followed by a name, such as oidc.acme. Applications use it to identify the \
            provider. It can’t be changed.
            """), Field.Look.code, value: answers.id), at: 0)
    }
    if isOIDC {
      fields += [
        .line(
          "issuer", Message("Issuer"),
          hint: Message(
            "Exactly as in the “iss” claim of its tokens, such as https://login.example.com."),
          #" class="mono" inputmode="url" autocomplete="off" autocapitalize="off" spellcheck="false""#,
          value: answers.issuer),
        .line(
          "client", Message("Client ID"),
          hint: Message(
            "Your application’s ID at the provider: the “aud” claim in its tokens."),
          Field.Look.code, value: answers.clientID),
        .area(
          "keys", Message("Public keys"),
          hint: Message(
            """
            The provider’s JSON Web Key Set (“jwks_uri” in its discovery document), or public keys \
            and certificates as PEM. Paste it again when the provider rotates its keys.
            """), #" class="mono" rows="8" autocapitalize="off" spellcheck="false""#,
          value: answers.keys),
      ]
    }
    return fields.map { $0.shown(nil, frame) }
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
    .text("cancel") { ConsolePaths.providers($0.context.pool) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .text("seen") { $0.answers.seen },
    .list("settings") { $0.settings },
    .flag("isEnabled") { $0.answers.isEnabled },
    .text("button") {
      $0.provider == nil ? Message("Add provider") : Message("Save provider")
    },
    .list("facts") { $0.facts },
    .text("removal") { view in
      view.mayChange
        ? view.provider.map { ConsolePaths.providerRemoval(view.context.pool, $0.id.text) } : nil
    },
    .flag("showsHistory") { $0.history != nil },
    .flag("hasHistory") { !($0.history ?? []).isEmpty },
    .list("history") { $0.history ?? [] },
  ]
}
