import HTTP
import Identity
import Localization
import Templating

/// The form fields that an action requires: a reason, and a re-authentication if the last one is
/// older than the interval.
struct ActionFields: ViewModel {
  let action: ConsoleAction
  let needsReauthentication: Bool
  let isBlocked: Bool
  let frame: FrameView
  let reason: String

  static let blockedField = "reauthentication"

  static func blockedSentence(_ action: ConsoleAction) -> Message {
    action.requirements.reauthentication == .secondFactor
      ? Message("Set up a second factor in your account. Then try again.")
      : Message("Set up a second factor in your account or sign in again. Then try again.")
  }

  private var reasonField: Field? {
    guard action.requirements.reason == .written, !isBlocked else { return nil }
    return Field.area(
      "note", Message("Reason"),
      hint: Message(
        """
        Saved to the audit log. Up to {longest} characters. Don’t include codes or passwords.
        """, ["longest": .number(ActionRequest.longestNote)]),
      #" rows="2""#, value: reason, detectsDirection: true
    ).shown(nil, frame)
  }

  private var codeField: CodeField? {
    CodeField(needsReauthentication && !isBlocked, frame, action: nil)
  }

  static let keys: Keys<Self> = [
    .optional("reasonField") { $0.reasonField },
    .optional("codeField") { $0.codeField },
    .flag(\.isBlocked),
    .optional("ways") { $0.isBlocked ? CodeAlternatives($0.frame) : nil },
    .flag("requiresFactor") {
      $0.action.requirements.reauthentication == .secondFactor
    },
    .optional("alternatives") { $0.codeField == nil ? nil : CodeAlternatives($0.frame) },
    .flag("mayAct") { !$0.isBlocked },
    .text("ownFactor") { _ in ConsolePaths.ownFactor() },
  ]
}
