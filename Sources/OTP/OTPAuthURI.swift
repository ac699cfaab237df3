public import Crypto

/// The `otpauth://` address that authenticator apps read, usually from a QR code.
///
/// Source: the Key URI format of Google Authenticator. Label and issuer are percent-encoded, the
/// secret is base32 without padding.
public struct OTPAuthURI: Sendable {
  /// The generator whose secret the address carries.
  public let password: OneTimePassword
  /// Who the account is with, as the app shows it.
  public let issuer: String
  /// The account's name, usually an email address.
  public let account: String

  /// Makes an address.
  public init(password: OneTimePassword, issuer: String, account: String) {
    self.password = password
    self.issuer = issuer
    self.account = account
  }

  /// The text of the address.
  ///
  /// It holds the secret.
  public var text: Secret {
    let issuer = URIComponent.encode(issuer)
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
