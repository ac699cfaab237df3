import HTTP
import Identity
import Localization
import OpenIDConnect
import Templating

/// `S/settings/providers/new` and `S/settings/providers/{id}`: adds an OpenID Connect provider, and
/// shows and changes a provider.
struct ProviderPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<ProviderView>

  private static let historyLength = 10
  func new(_ context: PoolContext) async throws -> Response {
    try await page(context, nil, ProviderAnswers())
  }

  func create(_ context: PoolContext) async throws -> Response {
    let answers = ProviderAnswers(context.signedIn.form)
    let signedIn = context.signedIn
    do {
      let settings = try Self.settings(answers)
      let outcome = try await identity.identityProviders.create(
        in: context.pool, id: answers.id, settings, by: .console(actions.request(signedIn)))
      return actions.leave(
        Message("Provider {id} added.", ["id": .text(answers.id)]), signedIn, after: outcome,
        to: ConsolePaths.providers(context.pool))
    } catch {
      let errors = try await actions.faults(
        error, .addIdentityProvider, signedIn, FieldError.init(_:))
      return try await page(context, nil, answers, errors: errors)
    }
  }

  private static func settings(_ answers: ProviderAnswers) throws -> ProviderSettings {
    guard IdentityProviders.kind(of: answers.id) == .oidc else { throw ProviderError.invalidID }
    var settings = ProviderSettings()
    try answers.apply(to: &settings, .oidc)
    return settings
  }

  func show(_ context: PoolContext, _ id: String) async throws -> Response {
    let provider = try await find(context, id)
    return try await page(context, provider, ProviderAnswers(provider))
  }

  func change(_ context: PoolContext, _ id: String) async throws -> Response {
    let answers = ProviderAnswers(context.signedIn.form)
    let provider = try await find(context, id)
    let kind = provider.kind
    let signedIn = context.signedIn
    do {
      let outcome = try await identity.identityProviders.update(
        context.pool, id, expecting: answers.expected,
        by: .console(actions.request(signedIn))
      ) { (settings) throws(ProviderError) in try answers.apply(to: &settings, kind) }
      return actions.leave(
        Message("Provider saved."), signedIn, after: outcome,
        to: ConsolePaths.provider(context.pool, id))
    } catch {
      let errors = try await actions.faults(
        error, .changeIdentityProvider, signedIn, FieldError.init(_:))
      let outside =
        error is ActionDenial
        ? try await identity.identityProviders.leftOutside(of: context.pool, byChanging: id) {
          (settings) throws(ProviderError) in try answers.apply(to: &settings, kind)
        } : nil
      return try await page(context, provider, answers, outside: outside, errors: errors)
    }
  }

  private func find(_ context: PoolContext, _ id: String) async throws -> IdentityProvider {
    try await identity.identityProviders.find(context.pool, id)
  }

  private func page(
    _ context: PoolContext, _ provider: IdentityProvider?, _ answers: ProviderAnswers,
    outside: LeftOutside? = nil, errors: [FieldError] = []
  ) async throws -> Response {
    let pool = context.pool
    var history: [AuditRow]?
    if let provider, context.may(.readAudit) {
      let filter = AuditFilter(
        pool: pool, object: .provider, objectID: provider.id.text)
      history = try await identity.audit.list(filter, limit: Self.historyLength).items
    }
    let title =
      provider.map { Message("{id} · Identity providers", ["id": .text($0.id.text)]) }
      ?? Message("Add provider")
    let frame = try await frames.frame(
      title, in: context,
      crumbs: [
        Link(text: Message("Identity providers"), href: ConsolePaths.providers(pool))
      ], errors: errors)
    let change: ConsoleAction = outside == nil ? .changeIdentityProvider : .narrowProvider
    let action = provider == nil ? .addIdentityProvider : change
    let frameView = FrameView(frame)
    let model = ProviderView(
      frame: frameView, context: context, provider: provider, answers: answers, history: history,
      outside: outside, fields: try await actions.fields(action, context.signedIn, frameView))
    return .html(view.render(model), errors: errors)
  }
}

struct ProviderView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  /// Nil for a new provider.
  let provider: IdentityProvider?
  let answers: ProviderAnswers
  let history: [AuditRow]?
  /// The users with a second factor whom the change would leave without a way to sign in; nil if
  /// there are none.
  let outside: LeftOutside?
  let fields: ActionFields

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

  private var stored: ProviderAnswers { provider.map(ProviderAnswers.init) ?? ProviderAnswers() }

  private var sections: [SettingsSection] {
    [
      SettingsSection(
        id: "connection", heading: Message("Connection"),
        lead: provider == nil
          ? Message(
            """
            A provider is trusted as much as a password: anyone it identifies as the owner of an \
            email address can sign in to the account with that address. Second factors are still \
            required.
            """) : nil, fields: connection),
      SettingsSection(
        id: "sign-in", heading: Message("Sign-in"),
        fields: [
          .check(
            "enabled", Message("Allow sign-in with this provider"),
            hint: isOIDC
              ? Message(
                """
                Users whose email address the provider marks as verified sign in to the existing \
                account with that address.
                """)
              : Message(
                """
                Stored only so that programs can read it through the API. SAML sign-in isn’t \
                supported.
                """), isOn: answers.isEnabled
          ).over(stored.isEnabled)
        ]),
    ]
  }

  private var connection: [Field] {
    var fields: [Field] = [
      .line(
        "name", Message("Name <span class=\"soft\">(optional)</span>"),
        hint: Message("Shown in the console."), Field.Look.title, value: answers.name
      ).over(stored.name)
    ]
    if provider == nil {
      fields.insert(
        .line(
          "id", Message("Provider ID"),
          hint: Message(
            """
            “oidc.” followed by a name, such as oidc.acme. Applications use it to identify the \
            provider. It can’t be changed.
            """), Field.Look.exact, value: answers.id
        ).over(stored.id), at: 0)
    }
    guard isOIDC else { return fields }
    fields += [
      .line(
        "issuer", Message("Issuer"),
        hint: Message(
          "Exactly as in the “iss” claim of its tokens, such as https://login.example.com."),
        #" class="mono" inputmode="url" autocomplete="off" autocapitalize="off" spellcheck="false""#,
        value: answers.issuer
      ).over(stored.issuer).wide(),
      .line(
        "client", Message("Client ID"),
        hint: Message("Your application’s ID at the provider: the “aud” claim in its tokens."),
        Field.Look.code, value: answers.clientID
      ).over(stored.clientID).wide(),
      .area(
        "keys", Message("Public keys"),
        hint: Message(
          """
          The provider’s JSON Web Key Set (“jwks_uri” in its discovery document), or public keys \
          and certificates as PEM. Paste it again when the provider rotates its keys.
          """), #" class="mono" rows="8" autocapitalize="off" spellcheck="false""#,
        value: answers.keys
      ).over(stored.keys),
    ]
    return fields
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .object("authorization") { $0.fields },
    .text("outside") { $0.outside?.warning },
    .text("heading") { view in
      view.provider.map { Message.verbatim($0.id.text) } ?? Message("Add provider")
    },
    .flag("isNew") { $0.provider == nil },
    .text("roles") { _ in Message.value(Permission.manageTrust.roleNames) },
    .markup("state") { $0.provider.map(ProviderRow.state) },
    .flag("mayChange") { $0.mayChange },
    .text("action") { $0.action },
    .text("cancel") { ConsolePaths.providers($0.context.pool) },
    .text("seen") { $0.answers.seen },
    .list("sections") { view in view.sections.map { $0.shown(view.frame) } },
    .text("button") {
      $0.provider == nil ? Message("Add provider") : Message("Save provider")
    },
    .list("facts") { $0.facts },
    .text("removal") { view in
      view.mayChange
        ? view.provider.map { RemoveProvider.path(view.context.pool, $0.id.text) } : nil
    },
    .flag("showsHistory") { $0.history != nil },
    .list("history") { $0.frame.history($0.history) },
  ]
}

/// `S/settings/providers/{id}/removal`: removes a provider.
struct RemoveProvider: FormAction {
  static let action = ConsoleAction.removeIdentityProvider
  static let name = Message("Remove identity provider")
  static let path = PoolPath1("settings", "providers", nil, "removal")
  let providers: IdentityProviders
  static let stricterActions = [ConsoleAction.narrowProvider]

  func page(_ target: PoolTarget) async throws -> FormPage {
    let (pool, id) = (target.pool, target.object)
    let outside = try await providers.leftOutside(of: pool, byChanging: id, nil)
    var page = Self.page(pool, id)
    if let outside {
      page.consequences.insert(outside.sentence, at: 1)
      page.isStricter = true
    }
    return page
  }

  private static func page(_ pool: Pool, _ id: String) -> FormPage {
    FormPage(
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

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let outcome = try await providers.delete(
      target.pool, target.object, by: .console(target.request))
    return FormEnd(
      Message("Provider {id} removed.", ["id": .text(target.object)]),
      at: ConsolePaths.providers(target.pool), after: outcome)
  }

  func fault(_ error: ProviderError, _ target: PoolTarget) throws -> FieldError {
    throw error
  }
}
