import Crypto
import HTTP
import Identity
import Localization
import Templating

/// `/projects/{p}/settings/custom-token-keys/new`: registers the public key of a backend.
struct NewTrustedTokenKeyPage: Sendable {
  let trustedTokenKeys: TrustedTokenKeys
  let actions: ActionForms
  let view: Template<NewTrustedTokenKeyView>

  private var frames: Frames { actions.frames }

  func show(_ context: ProjectContext) async throws(Refusal) -> Response {
    try await page(context, issuer: "", keyID: "", key: "", errors: [])
  }

  func register(_ context: ProjectContext) async throws(Refusal) -> Response {
    let signedIn = context.signedIn
    let form = signedIn.form
    let (issuer, keyID) = (form.trimmed("issuer"), form.trimmed("key-id"))
    let key = form.text("key") ?? ""
    do {
      let outcome = try await trustedTokenKeys.add(
        to: context.scope.project, issuer: issuer, keyID: keyID, key: key, actions.request(signedIn)
      )
      return actions.leave(
        Message("Key for {issuer} registered.", ["issuer": .name(issuer)]), signedIn,
        after: outcome,
        to: ConsolePaths.trustedTokenKeys(context.scope.project.text))
    } catch {
      let errors = try await actions.faults(
        error, .registerTokenSigningKey, signedIn, Self.fault)
      // Don't echo a private key into the page.
      let isPrivate = key.contains("PRIVATE KEY")
      return try await page(
        context, issuer: issuer, keyID: keyID, key: isPrivate ? "" : key, errors: errors)
    }
  }

  private func page(
    _ context: ProjectContext, issuer: String, keyID: String, key: String, errors: [FieldError]
  ) async throws(Refusal) -> Response {
    var frame = try await frames.frame(Message("Register key"), in: context)
    frame.errors = errors
    frame.crumbs = TrustedTokenKeysPage.crumbs(context)
    let frameView = FrameView(frame)
    let model = NewTrustedTokenKeyView(
      frame: frameView, context: context, issuer: issuer, keyID: keyID, key: key,
      fields: try await actions.fields(.registerTokenSigningKey, context.signedIn, frameView))
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }

  static func fault(_ error: TrustedTokenKeyError) throws(Refusal) -> FieldError {
    switch error {
    case .invalidIssuer:
      FieldError(
        field: "issuer",
        text: Message("Enter the email address of the service account, as in the tokens."))
    case .invalidKeyID:
      FieldError(
        field: "key-id",
        text: Message("Enter a key ID of at most 128 characters without spaces."))
    case .invalidKey(let fault): FieldError(field: "key", text: words(fault))
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
    case .projectNotFound, .notFound: throw .notFound
    case .unavailable: throw .unavailable(error)
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

struct NewTrustedTokenKeyView: ViewModel {
  let frame: FrameView
  let context: ProjectContext
  let issuer: String
  let keyID: String
  let key: String
  let fields: ActionFields

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("action") { ConsolePaths.newTrustedTokenKey($0.context.scope.project.text) },
    .text("cancel") { ConsolePaths.trustedTokenKeys($0.context.scope.project.text) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .text(\.issuer),
    .text("issuerError") { $0.frame.error(at: "issuer") },
    .text(\.keyID),
    .text("keyIDError") { $0.frame.error(at: "key-id") },
    .text(\.key),
    .text("keyError") { $0.frame.error(at: "key") },
    .object("authorization") { $0.fields },
  ]
}
