public import Crypto

/// The signature of a webhook's request, with which its receiver checks the sender and the age.
///
/// The value of the header field `Countersign-Signature` is `t=SECONDS,v1=HEX`: the time in seconds
/// since 1970, and HMAC-SHA-256 of `SECONDS.BODY` with the shared secret.
public enum WebhookSignature {
  /// The name of the header field.
  public static let field = "Countersign-Signature"

  /// Returns the value of the field.
  ///
  /// - Parameters:
  ///   - body: The request's body.
  ///   - seconds: The time, in seconds since 1970.
  ///   - secret: The secret that the receiver knows.
  /// - Returns: The time and the signature.
  /// - Throws: `CryptoError` if libcrypto fails.
  public static func value(
    for body: [UInt8], at seconds: Int64, with secret: Secret
  ) throws(CryptoError) -> String {
    let code = try HMAC.code(
      .sha256, key: secret, message: Array("\(seconds).".utf8) + body)
    return "t=\(seconds),v1=\(Hex.encode(code))"
  }
}
