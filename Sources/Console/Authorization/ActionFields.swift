import HTTP
import Identity
import Localization
import Templating

/// The form fields that an action requires: a reason, and a re-authentication if the last one is
/// older than the interval.
struct ActionFields: ViewModel {
  let eligibility: ActionEligibility
  let frame: FrameView
  /// The reason as entered.
  let reason: String

  static let blockedField = "reauthentication"

  /// What to do if re-authentication isn't possible: some actions accept a recent
  /// sign-in, others only a second factor.
  static func blockedSentence(_ action: ConsoleAction) -> Message {
    action.requirements.reauthentication == .secondFactor
      ? Message("authorization.blocked-without-factor") : Message("authorization.blocked")
  }

  /// Whether the action can't be performed now, because re-authentication isn't possible.
  var isBlocked: Bool { eligibility.isBlocked }

  private var reasonField: ReasonField? {
    guard eligibility.action.requirements.reason == .written, !isBlocked else { return nil }
    return ReasonField(value: reason, error: frame.error(at: "note"))
  }

  private var codeField: CodeField? {
    var field = CodeField(eligibility.needsReauthentication && !isBlocked, frame)
    // Buttons after the form's own keep what was entered, which links wouldn't.
    field?.passkey = nil
    field?.provider = nil
    return field
  }

  /// Whether a passkey or the provider can be used instead of the code.
  private var offersOthers: Bool {
    codeField != nil
      && (frame.passkeyReauthentication != nil || frame.providerReauthentication != nil)
  }

  static let keys: Keys<Self> = [
    .optional("reasonField") { $0.reasonField },
    .optional("codeField") { $0.codeField },
    .flag("isBlocked") { $0.isBlocked },
    .flag("requiresFactor") {
      $0.eligibility.action.requirements.reauthentication == .secondFactor
    },
    .text("passkey") {
      $0.frame.passkeyReauthentication == nil ? nil : ConsolePaths.passkeyForm()
    },
    .flag("offersOthers") { $0.offersOthers },
    .text("providerForm") { _ in ConsolePaths.providerForm() },
    .optional("provider") { $0.frame.providerReauthentication },
    .flag("mayAct") { !$0.isBlocked },
    .text("ownFactor") { _ in ConsolePaths.ownFactor() },
  ]
}

/// The reason for an action in the administrator's own words.
struct ReasonField: ViewModel {
  let value: String
  let error: Message?

  static let keys: Keys<Self> = [
    .text(\.value),
    .text(\.error),
    .text("longest") { _ in Message.value(.number(ActionRequest.longestNote)) },
  ]
}
