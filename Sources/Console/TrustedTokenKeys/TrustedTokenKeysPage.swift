import HTTP
import Identity
import Localization
import Templating

/// `/projects/{p}/settings/custom-token-keys`: lists the custom token signing keys of a project, and revokes
/// one after confirmation.
struct TrustedTokenKeysPage: Sendable {
  let identity: Identity
  let actions: ActionForms
  let view: Template<TrustedTokenKeysView>
  let revocation: Template<KeyRevocationView>

  private var frames: Frames { actions.frames }

  private static let historyLength = 5

  func show(_ context: ProjectContext) async throws(Refusal) -> Response {
    let scope = context.scope
    let trustedTokenKeys = try await refusing {
      try await identity.trustedTokenKeys.list(scope.project)
    }
    let administrator = context.signedIn.administrator
    var history: [AuditRow]?
    if administrator.may(.readAudit, in: scope) {
      history = try await refusing {
        try await identity.audit.list(
          AuditFilter(scope: scope, object: .trustedTokenKey), limit: Self.historyLength
        ).items
      }
    }
    let frame = try await frames.frame(Message("Custom token signing keys"), in: context)
    return .html(
      view.render(
        TrustedTokenKeysView(
          frame: frame, scope: scope, trustedTokenKeys: trustedTokenKeys, history: history,
          mayChange: administrator.may(.manageTrust, in: scope),
          isEmulator: identity.profile == .emulator)))
  }

  func ask(_ context: ProjectContext, _ id: String) async throws(Refusal) -> Response {
    try await page(context, id, [])
  }

  private func page(
    _ context: ProjectContext, _ id: String, _ errors: [FieldError]
  ) async throws(Refusal) -> Response {
    let all = try await refusing { try await identity.trustedTokenKeys.list(context.scope.project) }
    guard let signer = all.first(where: { $0.id.text == id && $0.revokedAt == nil }) else {
      throw .notFound
    }
    var frame = try await frames.frame(
      Message("Revoke custom token signing key · Settings"), in: context)
    frame.errors = errors
    frame.crumbs = Self.crumbs(context)
    let project = context.scope.project.text
    let view = FrameView(frame)
    let model = KeyRevocationView(
      frame: view,
      heading: Markup(
        html: Message(
          "Revoke key <span class=\"mono\">{label}…</span>?", ["label": .text(signer.label)])),
      button: Message("Revoke key"),
      action: ConsolePaths.trustedTokenKeyRevocation(project, signer.id.text),
      csrf: context.signedIn.session.csrfToken,
      consequences: [
        Message(
          "Custom tokens signed with it are rejected immediately, including those already issued."),
        Message(
          """
          Sessions started with its tokens continue. If the private key may be compromised, also \
          end the sessions of the users it was used for.
          """),
        Message("Other keys of the same service account stay valid."),
      ],
      facts: Self.facts(signer, frame.times),
      fields: try await actions.fields(.revokeTokenSigningKey, context.signedIn, view),
      keep: ConsolePaths.trustedTokenKeys(project))
    return .html(revocation.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }

  private static func facts(_ signer: TrustedTokenKey, _ times: Times) -> [Fact] {
    [
      Fact(Message("Service account"), HTML.isolated(signer.issuer)),
      Fact(
        Message("Key ID"),
        signer.keyID.map(HTML.isolated) ?? Markup(escaping: Message("none"))
      ),
      Fact(Message.verbatim("SHA-256"), HTML.isolated(signer.fingerprint)),
      Fact(Message("Registered by"), HTML.isolated(signer.createdBy)),
      Fact(Message("Registered"), times.past(signer.createdAt)),
      Fact(Message("Last used"), times.lastUse(signer.lastUsedAt, since: signer.createdAt)),
    ]
  }

  func revoke(_ context: ProjectContext, _ id: String) async throws(Refusal) -> Response {
    let signedIn = context.signedIn
    do {
      let outcome = try await identity.trustedTokenKeys.revoke(
        ID(id), of: context.scope.project, actions.request(signedIn))
      return actions.leave(
        Message("Key revoked. Custom tokens signed with it are now rejected."), signedIn,
        after: outcome,
        to: ConsolePaths.trustedTokenKeys(context.scope.project.text))
    } catch {
      let errors = try await actions.faults(
        error, .revokeTokenSigningKey, signedIn, NewTrustedTokenKeyPage.fault)
      return try await page(context, id, errors)
    }
  }

  static func crumbs(_ context: ProjectContext) -> [Link] {
    [
      Link(
        text: Message("Custom token signing keys"),
        href: ConsolePaths.trustedTokenKeys(context.scope.project.text))
    ]
  }
}
