import Crypto
import HTTP
import Identity
import Localization
import Templating

/// `/projects/{p}/settings/custom-token-keys`: lists the custom token signing keys of a project.
struct TrustedTokenKeysPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<TrustedTokenKeysView>

  private static let historyLength = 5

  func show(_ context: ProjectContext) async throws -> Response {
    let pool = context.pool
    let trustedTokenKeys = try await identity.trustedTokenKeys.list(pool.project)
    let administrator = context.signedIn.administrator
    var history: [AuditRow]?
    if administrator.may(.readAudit, in: pool) {
      history = try await identity.audit.list(
        AuditFilter(pool: pool, object: .trustedTokenKey), limit: Self.historyLength
      ).items
    }
    let frame = try await frames.frame(Message("Custom token signing keys"), in: context)
    return .html(
      view.render(
        TrustedTokenKeysView(
          frame: FrameView(frame), pool: pool, trustedTokenKeys: trustedTokenKeys, history: history,
          mayChange: administrator.may(.manageTrust, in: pool),
          isEmulator: identity.profile == .emulator)))
  }
}

struct TrustedTokenKeysView: ViewModel {
  let frame: FrameView
  let pool: Pool
  let trustedTokenKeys: [TrustedTokenKey]
  let history: [AuditRow]?
  let mayChange: Bool
  let isEmulator: Bool

  private var rows: [TrustedTokenKeyRow] { all { $0.revokedAt == nil } }
  private var revoked: [TrustedTokenKeyRow] { Array(all { $0.revokedAt != nil }.prefix(20)) }

  private func all(where isShown: (TrustedTokenKey) -> Bool) -> [TrustedTokenKeyRow] {
    trustedTokenKeys.filter(isShown).map {
      TrustedTokenKeyRow(
        signer: $0, project: pool.project, mayChange: mayChange, times: frame.times)
    }
  }

  private var add: String? { mayChange ? RegisterTrustedTokenKey.path(pool.project.text) : nil }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("projectName") { $0.pool.name },
    .flag(\.isEmulator),
    .text("add") { $0.add },
    .list("rows") { $0.rows },
    .object("empty") { view in
      EmptyView(
        heading: Message("No custom token signing keys"),
        sentence: Message(
          """
          A backend that already authenticates its users can sign them in here with custom \
          tokens. Register its public key to allow this.
          """),
        link: view.add.map {
          Link(text: Message("Add key"), href: $0, isPrimary: true)
        })
    },
    .number("count") { $0.revoked.count },
    .list("revoked") { $0.revoked },
    .flag("showsHistory") { $0.history != nil },
    .list("history") { $0.frame.history($0.history) },
  ]
}

struct TrustedTokenKeyRow: ViewModel {
  let signer: TrustedTokenKey
  let project: ID<Project>
  let mayChange: Bool
  let times: Times

  static let keys: Keys<Self> = [
    .text("issuer") { $0.signer.issuer },
    .text("label") { $0.signer.label },
    .text("keyID") { $0.signer.keyID },
    .text("maker") { $0.signer.createdBy },
    .markup("created") { $0.times.day($0.signer.createdAt) },
    .markup("lastUsed") { $0.times.lastUse($0.signer.lastUsedAt, since: $0.signer.createdAt) },
    .markup("revoked") { $0.signer.revokedAt.map($0.times.past) },
    .text("revocation") { row in
      row.mayChange
        ? RevokeTrustedTokenKey.path(row.project.text, row.signer.id.text) : nil
    },
  ]
}

/// `/projects/{p}/settings/custom-token-keys/new`: registers the public key of a backend.
struct RegisterTrustedTokenKey: FormAction {
  static let action = ConsoleAction.registerTokenSigningKey
  static let name = Message("Add custom token signing key")
  static let path = ProjectPath0("settings", "custom-token-keys", "new")
  let keys: TrustedTokenKeys

  func page(_ target: FormTarget<ProjectContext>) -> FormPage {
    let code: StaticString = #" class="mono" rows="10" autocapitalize="off" spellcheck="false""#
    var key = Field.area(
      "key", Message("Public key"),
      hint: Message(
        """
        An RSA public key or certificate of 2048 bits or more, as PEM. To extract it from a \
        private key, use openssl rsa -pubout.
        """), code)
    // Don't echo a private key into the page.
    key.isKept = target.form.text("key")?.contains("PRIVATE KEY") != true
    return FormPage(
      title: Message("Add key"), crumbs: [.trustedTokenKeys(target.pool)],
      lead: Message(
        """
        After you register a public key, the server accepts custom tokens signed with its private \
        key.
        """),
      fields: [
        .line(
          "issuer", Message("Service account"),
          hint: Message("Its email address: the “iss” and “sub” claims in the tokens."),
          Field.Look.email),
        key,
        .line(
          "key-id", Message("Key ID <span class=\"soft\">(optional)</span>"),
          hint: Message("The “kid” header in the tokens"), Field.Look.code),
      ], button: Message("Add key"),
      back: ConsolePaths.trustedTokenKeys(target.pool.project.text))
  }

  func perform(_ input: Void, _ target: FormTarget<ProjectContext>) async throws -> FormEnd {
    let (form, project) = (target.form, target.pool.project)
    let issuer = form.trimmed("issuer")
    let outcome = try await keys.add(
      to: project, issuer: issuer, keyID: form.trimmed("key-id"), key: form.text("key") ?? "",
      by: .console(target.request))
    return FormEnd(
      Message("Key for {issuer} registered.", ["issuer": .name(issuer)]),
      at: ConsolePaths.trustedTokenKeys(project.text), after: outcome)
  }

  func fault(
    _ error: TrustedTokenKeyError, _ target: FormTarget<ProjectContext>
  ) throws -> FieldError {
    switch error {
    case .invalidIssuer:
      FieldError(
        field: "issuer",
        text: Message("Enter the email address of the service account, as in the tokens."))
    case .invalidKeyID:
      FieldError(
        field: "key-id",
        text: Message("Enter a key ID of at most 128 characters without spaces."))
    case .invalidKey(let fault): FieldError(field: "key", text: Self.words(fault))
    case .exists:
      FieldError(
        field: "key",
        text: Message("This key is already registered for this service account."))
    case .tooMany:
      FieldError(
        field: "key",
        text: Message(
          one: "The limit is {count} active key. Revoke one you don’t use.",
          other: "The limit is {count} active keys. Revoke one you don’t use.",
          ["count": .number(TrustedTokenKeys.most)])
      )
    }
  }

  private static func words(_ fault: PublicKey.Fault) -> Message {
    switch fault {
    case .isPrivate:
      Message("This is a private key. Keep it on the backend that signs, and paste its public key.")
    case .unreadable:
      Message("Paste one public key or certificate as PEM, including the first and last lines.")
    case .unusable: Message("The RSA key must be 2048 to 8192 bits long.")
    case .otherKind: Message("Custom tokens are signed with RS256, which requires an RSA key.")
    }
  }
}

/// `/projects/{p}/settings/custom-token-keys/{id}/revocation`: revokes a key.
struct RevokeTrustedTokenKey: FormAction {
  static let action = ConsoleAction.revokeTokenSigningKey
  static let name = Message("Revoke custom token signing key")
  static let path = ProjectPath1(
    "settings", "custom-token-keys", nil, "revocation")
  let keys: TrustedTokenKeys

  func page(_ target: FormTarget<ProjectContext>) async throws -> FormPage {
    let all = try await keys.list(target.pool.project)
    guard let key = all.first(where: { $0.id.text == target.object && $0.revokedAt == nil })
    else { throw Refusal.notFound }
    let times = target.times
    return FormPage(
      title: Message("Revoke custom token signing key · Settings"),
      crumbs: [.trustedTokenKeys(target.pool)],
      heading: Message(
        "Revoke key <span class=\"mono\">{label}…</span>?", ["label": .text(key.label)]),
      consequences: [
        Message(
          "Custom tokens signed with it are rejected immediately, including those already issued."),
        Message(
          """
          Sessions started with its tokens continue. If the private key may be compromised, also \
          end the sessions of the users it was used for.
          """),
        Message("Other keys of the same service account stay valid."),
      ], button: Message("Revoke key"), isDestructive: true,
      back: ConsolePaths.trustedTokenKeys(target.pool.project.text),
      factsHeading: Message("This key"),
      facts: [
        Fact(Message("Service account"), HTML.isolated(key.issuer)),
        Fact(
          Message("Key ID"), key.keyID.map(HTML.isolated) ?? Markup(escaping: Message("none"))),
        Fact(Message.verbatim("SHA-256"), HTML.isolated(key.fingerprint)),
        Fact(Message("Registered by"), HTML.isolated(key.createdBy)),
        Fact(Message("Registered"), times.past(key.createdAt)),
        Fact(Message("Last used"), times.lastUse(key.lastUsedAt, since: key.createdAt)),
      ])
  }

  func perform(_ input: Void, _ target: FormTarget<ProjectContext>) async throws -> FormEnd {
    let project = target.pool.project
    let outcome = try await keys.revoke(
      ID(target.object), of: project, by: .console(target.request))
    return FormEnd(
      Message("Key revoked. Custom tokens signed with it are now rejected."),
      at: ConsolePaths.trustedTokenKeys(project.text), after: outcome)
  }
}

extension Link {
  fileprivate static func trustedTokenKeys(_ pool: Pool) -> Link {
    Link(
      text: Message("Custom token signing keys"),
      href: ConsolePaths.trustedTokenKeys(pool.project.text))
  }
}

enum TrustedTokenKeysRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let identity = parts.identity
    let list = try parts.page("trusted-token-keys/trusted-token-keys", TrustedTokenKeysPage.init)
    table.inside(
      ConsolePaths.trustedTokenKeys, .get(.readPolicy, needs: .hosting), list.show)
    let keys = identity.trustedTokenKeys
    table.add(RevokeTrustedTokenKey(keys: keys), parts.actions)
    table.add(RegisterTrustedTokenKey(keys: keys), parts.actions)
  }
}

extension ConsolePaths {
  static let trustedTokenKeys = ProjectPath0("settings", "custom-token-keys")
}
