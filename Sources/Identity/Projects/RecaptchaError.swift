/// Why a reCAPTCHA configuration isn't acceptable; nothing here asks for a reCAPTCHA, but what is
/// stored must be what production would store.
public enum RecaptchaError: Error, Sendable {
  /// The end score of a rule isn't 0, 0.1, 0.2, and so on, up to 1.
  case endScore
  /// The start score of a toll fraud rule isn't 0, 0.1, 0.2, and so on, up to 1.
  case startScore
  /// A rule has no action.
  case missingAction
  /// Text messages are scored while phones aren't protected.
  case phoneState
  /// A site key is named; there are none here.
  case siteKey
}
