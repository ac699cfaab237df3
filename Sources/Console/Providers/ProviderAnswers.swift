import HTTP
import Identity
import Text

/// The values of the provider form.
struct ProviderAnswers: Sendable {
  var id = IdentityProvider.Kind.oidc.prefix
  var name = ""
  var issuer = ""
  var clientID = ""
  var keys = ""
  var isEnabled = true
  /// The time of the provider's last change when the form was opened, in microseconds.
  var seen = ""

  init() {}

  init(_ provider: IdentityProvider) {
    let settings = provider.settings
    id = provider.id.text
    name = settings.displayName
    issuer = settings.issuer
    clientID = settings.clientID
    keys = settings.keys.text
    isEnabled = settings.isEnabled
    seen = String(provider.changedAt.microseconds)
  }

  init(_ form: Form) {
    id = form.trimmed("id")
    name = form.trimmed("name")
    issuer = form.trimmed("issuer")
    clientID = form.trimmed("client")
    keys = form.text("keys", atMost: Form.longestText) ?? ""
    isEnabled = form["enabled"] == "on"
    seen = form.text("seen") ?? ""
  }

  /// Applies the form values to a provider's settings.
  func apply(
    to settings: inout ProviderSettings, _ kind: IdentityProvider.Kind
  ) throws(ProviderError) {
    settings.displayName = name
    settings.isEnabled = isEnabled
    guard kind == .oidc else { return }
    settings.issuer = issuer
    settings.clientID = clientID
    do throws(KeySet.Fault) { settings.keys = try KeySet(keys) } catch { throw .invalidKeys(error) }
  }
}

extension FieldError {
  /// Converts a validation error.
  init(_ error: ProviderError) throws(Refusal) {
    switch error {
    case .invalidID:
      self.init(
        field: "id",
        text:
          "Enter “oidc.” followed by a name of letters, digits, dots, hyphens, and underscores.")
    case .exists: self.init(field: "id", text: "This provider ID is already in use. Enter another.")
    case .tooMany:
      self.init(
        field: "id",
        text: "The limit is \(IdentityProviders.most) providers. Remove one you don’t use.")
    case .nameTooLong:
      self.init(field: "name", text: "Enter a name of at most \(Account.longestName) characters.")
    case .missingIssuer, .invalidIssuer:
      self.init(
        field: "issuer",
        text:
          "Enter the issuer exactly as in the tokens, starting with https:// and without ? or #.")
    case .missingClientID, .invalidClientID:
      self.init(
        field: "client",
        text: "Enter the client ID that the provider assigned to your application.")
    case .missingClientSecret, .invalidResponseType, .severalResponseTypes, .missingRelyingParty,
      .invalidMember:
      self.init(
        field: "name",
        text:
          "This provider’s settings, made through the API, are invalid. Fix them with the API first."
      )
    case .invalidKeys(let fault): self.init(field: "keys", text: fault.words)
    case .changedMeanwhile:
      self.init(
        field: "name",
        text: "This provider changed while you were editing. Reload the page and try again.")
    case .notFound: throw .notFound
    case .unavailable: throw .unavailable(error)
    }
  }
}

extension KeySet.Fault {
  /// The error message.
  fileprivate var words: String {
    switch self {
    case .unreadable: "Paste the provider’s JSON Web Key Set, or its public keys as PEM."
    case .noKey: "No RSA or P-256 signing key found."
    case .isPrivate:
      "This is a private key, which must not leave the provider. Paste the public key, and replace the private key if others have seen it."
    case .unusable: "RSA keys must have 2048 to 8192 bits."
    case .tooMany: "The limit is \(KeySet.most) keys."
    }
  }
}
