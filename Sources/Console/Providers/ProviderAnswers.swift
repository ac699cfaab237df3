import HTTP
import Identity

/// What stands in the form of a provider.
struct ProviderAnswers: Sendable {
  var id = IdentityProvider.Kind.oidc.prefix
  var name = ""
  var issuer = ""
  var clientID = ""
  var keys = ""
  var isEnabled = true
  /// When the provider that stood in the form was changed last, in microseconds.
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

  /// Puts the answers into a provider's settings.
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
  /// What is wrong with the answers.
  init(_ error: ProviderError) throws(Refusal) {
    switch error {
    case .invalidID:
      self.init(
        field: "id",
        text:
          "Write oidc. and a name behind it, of letters, digits, dots, hyphens and underscores.")
    case .exists: self.init(field: "id", text: "There is a provider of this id. Choose another.")
    case .tooMany:
      self.init(
        field: "id",
        text: "There can be \(IdentityProviders.most) providers. Remove one that is not used.")
    case .nameTooLong:
      self.init(field: "name", text: "Write a name of at most \(Account.longestName) characters.")
    case .missingIssuer, .invalidIssuer:
      self.init(
        field: "issuer",
        text:
          "Write the issuer as it stands in the tokens, beginning with https://, without ? and #.")
    case .missingClientID, .invalidClientID:
      self.init(
        field: "client", text: "Write the client id that the provider gave to the application.")
    case .missingClientSecret, .invalidResponseType, .severalResponseTypes, .missingRelyingParty,
      .invalidMember:
      self.init(
        field: "name",
        text: "What a program has set up here does not fit together; mend it with the API first.")
    case .invalidKeys(let fault): self.init(field: "keys", text: fault.words)
    case .changedMeanwhile:
      self.init(
        field: "name",
        text: "Somebody has changed this provider meanwhile. Open it anew and look again.")
    case .notFound: throw .notFound
    case .unavailable: throw .unavailable(error)
    }
  }
}

extension KeySet.Fault {
  /// What to do about it.
  fileprivate var words: String {
    switch self {
    case .unreadable: "Paste the provider’s JSON Web Key Set, or its public keys as PEM."
    case .noKey: "Nothing here is an RSA key or a key on the curve P-256 for signatures."
    case .isPrivate:
      "That is a private key, which must not leave the provider. Paste the public one, and replace the private one if others have seen it."
    case .unusable: "RSA keys must have 2048 to 8192 bits."
    case .tooMany: "At most \(KeySet.most) keys can be kept."
    }
  }
}
