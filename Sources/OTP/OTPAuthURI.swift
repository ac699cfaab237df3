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
  /// The account's name, usually an e-mail address.
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
    let issuer = Self.encoded(issuer)
    let label = issuer.isEmpty ? Self.encoded(account) : "\(issuer):\(Self.encoded(account))"
    let secret = Base32.encode(password.secret.revealedBytes)
    var text = "otpauth://totp/\(label)?secret=\(secret)"
    if !issuer.isEmpty { text += "&issuer=\(issuer)" }
    text += "&algorithm=\(password.function.rawValue)&digits=\(password.digits)"
    text += "&period=\(password.period)"
    return Secret(text)
  }

  private static func encoded(_ text: String) -> String {
    var result = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        result.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        result += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
      }
    }
    return result
  }
}
