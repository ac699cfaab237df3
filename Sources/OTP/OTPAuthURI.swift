public import Crypto
import Text

/// The `otpauth://` URI that authenticator apps read, usually from a QR code.
///
/// Source: the Key URI format of Google Authenticator. Label and issuer are percent-encoded, and
/// the secret is base32 without padding.
public struct OTPAuthURI: Sendable {
  /// The TOTP parameters, including the secret.
  public let password: OneTimePassword
  /// The issuer shown in the app; in the URI, without colons, which the format reserves for the label.
  public let issuer: String
  /// The account's name, usually an email address.
  public let account: String

  /// Creates a URI.
  public init(password: OneTimePassword, issuer: String, account: String) {
    self.password = password
    self.issuer = issuer
    self.account = account
  }

  /// The URI, which contains the secret.
  public var text: Secret {
    let issuer = URIComponent.encode(
      issuer.replacing(": ", with: " ").replacing(":", with: " "))
    let label =
      issuer.isEmpty ? URIComponent.encode(account) : "\(issuer):\(URIComponent.encode(account))"
    let secret = Base32.encode(password.secret.revealedBytes)
    var text = "otpauth://totp/\(label)?secret=\(secret)"
    if !issuer.isEmpty { text += "&issuer=\(issuer)" }
    text += "&algorithm=\(password.function.rawValue)&digits=\(password.digits)"
    text += "&period=\(password.period)"
    return Secret(text)
  }
}
