/// Why a reCAPTCHA configuration is invalid.
public enum RecaptchaFault: Sendable {
  /// The end score of a rule isn't 0, 0.1, 0.2, and so on, up to 1.
  case endScore
  /// The start score of a toll fraud rule isn't 0, 0.1, 0.2, and so on, up to 1.
  case startScore
  case missingAction
  /// Text messages are scored while phone protection is off.
  case phoneState
  /// A site key is specified, but there are none here.
  case siteKey
}
