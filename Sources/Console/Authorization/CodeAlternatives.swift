import HTTP
import Templating

/// What an administrator can use instead of an authenticator code: a passkey, the sign-in provider,
/// or both.
struct CodeAlternatives: ViewModel {
  private let hasPasskey: Bool
  let provider: ProviderConfirmation?

  /// Creates the alternatives; nil if there are none.
  init?(_ frame: FrameView) {
    (hasPasskey, provider) = (frame.passkeyReauthentication != nil, frame.providerReauthentication)
    guard hasPasskey || provider != nil else { return nil }
  }

  static let keys: Keys<Self> = [
    .text("passkey") { $0.hasPasskey ? ConsolePaths.passkeyForm() : nil },
    .text("providerForm") { _ in ConsolePaths.providerForm() },
    .optional(\.provider),
  ]
}
