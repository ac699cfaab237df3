import HTTP
import Identity
import Localization
import Text

/// `/administrators/session-limits`: how long sessions of administrators last, and whether all of
/// them need a second factor.
struct ChangeSessionLimits: FormAction {
  static let action = ConsoleAction.changeSessionLimits
  static let name = Message("Change session limits")
  static let path = Path("administrators", "session-limits")
  let sessions: ConsoleSessions

  private static let look: StaticString = #" class="short" inputmode="numeric" autocomplete="off""#

  func page(_ target: FormTarget<SignedIn>) async throws -> FormPage {
    let answers =
      target.signedIn.request.isReading
      ? SessionLimitsForm(try await sessions.limits()) : SessionLimitsForm(target.form)
    let (title, list) = (Message("Sign-in and sessions"), ConsolePaths.instanceSettings())
    return FormPage(
      title: Message("{title} · Instance settings", ["title": .message(title)]),
      crumbs: Link.crumbsOfInstance, heading: title,
      lead: Message(
        """
        These settings apply to all administrators and take effect immediately, including in open \
        sessions. Your own session may end.
        """),
      version: answers.version,
      fields: [
        .line(
          "idle", Message("Idle timeout (minutes)"),
          hint: Message(
            """
            5 to 60. Opening or submitting a page resets the timeout. A warning is shown two \
            minutes before the session ends.
            """), Self.look, value: answers.idle),
        .line(
          "hours", Message("Maximum session length (hours)"),
          hint: Message("1 to 24. Activity doesn’t extend this."), Self.look, value: answers.hours),
        .check(
          "second-factor", Message("Require a second factor from the first sign-in"),
          hint: Message(
            """
            Applies to every role. Until administrators set one up, they can’t open other pages. \
            If off, only roles that can make changes need one, starting with the second sign-in.
            """), isOn: answers.requiresSecondFactor),
      ], button: Message("Save settings"), back: list)
  }

  func perform(_ input: Void, _ target: FormTarget<SignedIn>) async throws -> FormEnd {
    let answers = SessionLimitsForm(target.form)
    let outcome = try await sessions.setLimits(
      answers.limits, expecting: answers.version, target.request)
    return FormEnd(
      outcome.value ? Message("Settings changed.") : Message("No changes made."),
      at: ConsolePaths.instanceSettings(), after: outcome)
  }

  func conflict(_ error: InstanceSettingError, _ target: FormTarget<SignedIn>) -> FormConflict? {
    guard case .changedMeanwhile(let current) = error else { return nil }
    return FormConflict(
      version: current.version,
      changes: SettingsConflict(
        Message("These limits changed while you were editing."),
        current: SessionLimitsForm(current).facts,
        entered: SessionLimitsForm(target.form).facts, discard: target.address))
  }

  func fault(_ error: InstanceSettingError, _ target: FormTarget<SignedIn>) throws -> FieldError {
    switch error {
    case .idleOutOfRange: FieldError(field: "idle", text: Message("Enter 5 to 60 minutes."))
    case .hoursOutOfRange: FieldError(field: "hours", text: Message("Enter 1 to 24 hours."))
    case .changedMeanwhile, .retentionOutOfRange, .passkeyNotUsed: throw error
    }
  }
}

/// The input of the form; numbers are kept as typed.
struct SessionLimitsForm: Sendable {
  var version: SettingsVersion
  /// The minutes without activity.
  let idle: String
  /// The hours in any case.
  let hours: String
  let requiresSecondFactor: Bool

  init(_ limits: SessionLimits) {
    version = limits.version
    (idle, hours) = (String(limits.idleMinutes), String(limits.hours))
    requiresSecondFactor = limits.requiresSecondFactor
  }

  init(_ form: Form) {
    version = form.settingsVersion
    (idle, hours) = (form.trimmed("idle"), form.trimmed("hours"))
    requiresSecondFactor = form["second-factor"] == "on"
  }

  /// The input as limits; text that isn't a number becomes 0, which is outside every range.
  var limits: SessionLimits {
    SessionLimits(
      idleMinutes: Int(idle) ?? 0, hours: Int(hours) ?? 0,
      requiresSecondFactor: requiresSecondFactor)
  }

  fileprivate var facts: [Fact] {
    [
      Fact(Message("Idle timeout (minutes)"), Message.verbatim(idle)),
      Fact(Message("Maximum session length (hours)"), Message.verbatim(hours)),
      Fact(
        Message("Require a second factor from the first sign-in"),
        requiresSecondFactor ? Message("on") : Message("off")),
    ]
  }
}
