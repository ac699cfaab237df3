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
  init(_ error: ProviderError) throws(Refusal) {
    switch error {
    case .invalidID:
      self.init(field: "id", text: Message("providers.id-invalid"))
    case .exists: self.init(field: "id", text: Message("providers.id-taken"))
    case .tooMany:
      self.init(
        field: "id",
        text: Message("providers.too-many", ["count": .number(IdentityProviders.most)]))
    case .nameTooLong:
      self.init(
        field: "name",
        text: Message("providers.name-too-long", ["count": .number(Account.longestName)]))
    case .missingIssuer, .invalidIssuer:
      self.init(field: "issuer", text: Message("providers.issuer-invalid"))
    case .missingClientID, .invalidClientID:
      self.init(field: "client", text: Message("providers.client-id-invalid"))
    case .missingClientSecret, .invalidResponseType, .severalResponseTypes, .missingRelyingParty,
      .invalidMember:
      self.init(field: "name", text: Message("providers.settings-invalid"))
    case .invalidKeys(let fault): self.init(field: "keys", text: fault.words)
    case .changedMeanwhile:
      self.init(field: "name", text: Message("providers.changed-meanwhile"))
    case .notFound: throw .notFound
    case .unavailable: throw .unavailable(error)
    }
  }
}

extension KeySet.Fault {
  fileprivate var words: Message {
    switch self {
    case .unreadable: Message("providers.keys-unreadable")
    case .noKey: Message("providers.keys-not-found")
    case .isPrivate: Message("providers.key-is-private")
    case .unusable: Message("providers.key-unusable")
    case .tooMany: Message("providers.too-many-keys", ["count": .number(KeySet.most)])
    }
  }
}
