import HTTP
import Identity
import Localization
import Templating
import Text

/// `/administrators/session-limits`: how long sessions of administrators last, and whether all of
/// them need a second factor.
struct SessionLimitsPage: Sendable {
  let sessions: ConsoleSessions
  let actions: ActionForms
  let view: Template<SessionLimitsView>

  func show(_ signedIn: SignedIn) async throws -> Response {
    let limits = try await sessions.limits()
    return try await page(signedIn, SessionLimitsForm(limits))
  }

  func change(_ signedIn: SignedIn) async throws -> Response {
    var answers = SessionLimitsForm(signedIn.form)
    do {
      let outcome = try await sessions.setLimits(
        answers.limits, expecting: answers.version, actions.request(signedIn))
      return actions.leave(
        outcome.value
          ? Message("Settings changed.")
          : Message("No changes made."),
        signedIn, after: outcome, to: ConsolePaths.administrators())
    } catch InstanceSettingError.changedMeanwhile(let current) {
      answers.version = current.version
      return try await page(signedIn, answers, replacing: SessionLimitsForm(current))
    } catch {
      let errors = try await actions.faults(error, .changeSessionLimits, signedIn) {
        (error: InstanceSettingError) in
        switch error {
        case .idleOutOfRange:
          FieldError(field: "idle", text: Message("Enter 5 to 60 minutes."))
        case .hoursOutOfRange:
          FieldError(field: "hours", text: Message("Enter 1 to 24 hours."))
        case .changedMeanwhile, .retentionOutOfRange, .passkeyNotUsed: throw error
        }
      }
      return try await page(signedIn, answers, errors: errors)
    }
  }

  private func page(
    _ signedIn: SignedIn, _ answers: SessionLimitsForm, errors: [FieldError] = [],
    replacing current: SessionLimitsForm? = nil
  ) async throws -> Response {
    let title = Message("Sign-in and sessions")
    var frame = await actions.frames.frame(
      Message("{title} · Administrators", ["title": .message(title)]), for: signedIn)
    frame.errors = errors
    frame.crumbs = [
      Link(text: Message("Administrators"), href: ConsolePaths.administrators())
    ]
    let framed = FrameView(frame)
    let model = SessionLimitsView(
      frame: framed, csrf: signedIn.session.csrfToken, answers: answers, current: current,
      fields: try await actions.fields(.changeSessionLimits, signedIn, framed))
    let status: Status =
      current != nil ? .conflict : errors.isEmpty ? .ok : .unprocessableContent
    return .html(view.render(model), status: status)
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

struct SessionLimitsView: ViewModel {
  let frame: FrameView
  let csrf: String
  let answers: SessionLimitsForm
  /// The limits that someone else saved after the form was opened; nil if no one did.
  let current: SessionLimitsForm?
  let fields: ActionFields

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.csrf),
    .text("action") { _ in ConsolePaths.sessionLimits() },
    .text("back") { _ in ConsolePaths.administrators() },
    .text("settingsVersion") { $0.answers.version.text },
    .optional("conflict") { view in
      view.current.map { current in
        SettingsConflict(
          Message("These limits changed while you were editing."), current: current.facts,
          entered: view.answers.facts, discard: ConsolePaths.sessionLimits())
      }
    },
    .text("idle") { $0.answers.idle },
    .text("hours") { $0.answers.hours },
    .flag("requiresSecondFactor") { $0.answers.requiresSecondFactor },
    .text("idleError") { $0.frame.error(at: "idle") },
    .text("hoursError") { $0.frame.error(at: "hours") },
    .object("authorization") { $0.fields },
  ]
}
