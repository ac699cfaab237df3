import HTTP
import Identity
import Localization
import OpenIDConnect
import Text

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

  /// The time of the provider's last change when the form was opened; for a form without it, a time
  /// at which no provider was changed.
  var expected: Instant { Instant(microseconds: Int64(seen) ?? .min) }

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
  init(_ error: ProviderError) throws {
    switch error {
    case .invalidID:
      self.init(
        field: "id",
        text: Message(
          "Enter “oidc.” followed by a name of letters, digits, dots, hyphens, and underscores."))
    case .exists:
      self.init(
        field: "id",
        text: Message("This provider ID is already in use. Enter another."))
    case .tooMany:
      self.init(
        field: "id",
        text: Message(
          one: "The limit is {count} provider. Remove one you don’t use.",
          other: "The limit is {count} providers. Remove one you don’t use.",
          ["count": .number(IdentityProviders.most)]))
    case .nameTooLong:
      self.init(
        field: "name",
        text: Message(
          one: "Enter a name of at most {count} character.",
          other: "Enter a name of at most {count} characters.",
          ["count": .number(Account.longestName)]))
    case .missingIssuer, .invalidIssuer:
      self.init(
        field: "issuer",
        text: Message(
          "Enter the issuer exactly as in the tokens, starting with https:// and without ? or #."))
    case .missingClientID, .invalidClientID:
      self.init(
        field: "client",
        text: Message("Enter the client ID that the provider assigned to your application."))
    case .missingClientSecret, .invalidResponseType, .severalResponseTypes, .missingRelyingParty,
      .invalidMember:
      self.init(
        field: "name",
        text: Message(
          """
          This provider’s settings, changed through the API, are invalid. Fix them with the API \
          first.
          """))
    case .invalidKeys(let fault): self.init(field: "keys", text: fault.words)
    case .changedMeanwhile:
      self.init(
        field: "name",
        text: Message(
          "This provider changed while you were editing. Reload the page and try again."))
    case .notFound: throw Refusal.notFound
    }
  }
}

extension KeySet.Fault {
  fileprivate var words: Message {
    switch self {
    case .unreadable: Message("Paste the provider’s JSON Web Key Set, or its public keys as PEM.")
    case .noKey:
      Message(
        """
        No RSA or P-256 signing key found. Paste the keys that the provider signs its ID tokens \
        with.
        """)
    case .isPrivate:
      Message(
        """
        This is a private key, which must not leave the provider. Paste the public key, and replace \
        the private key if others have seen it.
        """)
    case .unusable: Message("RSA keys must be 2048 to 8192 bits long.")
    case .tooMany:
      Message(
        one: "The limit is {count} key. Remove keys that the provider no longer uses.",
        other: "The limit is {count} keys. Remove keys that the provider no longer uses.",
        ["count": .number(KeySet.most)])
    }
  }
}
