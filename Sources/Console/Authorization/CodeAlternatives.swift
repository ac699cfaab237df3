import HTTP
import Templating

struct CodeAlternatives: ViewModel {
  private let hasPasskey: Bool
  let provider: ProviderConfirmation?

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
