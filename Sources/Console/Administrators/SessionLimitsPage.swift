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

  func show(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let limits = try await refusing { try await sessions.limits() }
    return try await page(
      signedIn, idle: String(limits.idleMinutes), hours: String(limits.hours),
      requiresSecondFactor: limits.requiresSecondFactor, errors: [])
  }

  func change(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let (idle, hours) = (signedIn.form.trimmed("idle"), signedIn.form.trimmed("hours"))
    let isRequired = signedIn.form["second-factor"] == "on"
    // A number that can't be parsed is out of range.
    let limits = SessionLimits(
      idleMinutes: Int(idle) ?? 0, hours: Int(hours) ?? 0, requiresSecondFactor: isRequired)
    do {
      let outcome = try await sessions.setLimits(limits, actions.request(signedIn))
      return actions.leave(
        outcome.value
          ? Message("administrators.limits-changed")
          : Message("administrators.limits-unchanged"),
        signedIn, after: outcome, to: ConsolePaths.administrators())
    } catch {
      let errors = try await actions.faults(error, .changeSessionLimits, signedIn) {
        error throws(Refusal) in
        switch error {
        case .idleOutOfRange:
          FieldError(field: "idle", text: Message("administrators.idle-out-of-range"))
        case .hoursOutOfRange:
          FieldError(field: "hours", text: Message("administrators.hours-out-of-range"))
        case .unavailable: throw Refusal.unavailable(error)
        }
      }
      return try await page(
        signedIn, idle: idle, hours: hours, requiresSecondFactor: isRequired, errors: errors)
    }
  }

  private func page(
    _ signedIn: SignedIn, idle: String, hours: String, requiresSecondFactor: Bool,
    errors: [FieldError]
  ) async throws(Refusal) -> Response {
    let title = Message("administrators.session-limits")
    var frame = actions.frames.frame(
      Message("administrators.page-title", ["title": .message(title)]), for: signedIn)
    frame.errors = errors
    frame.crumbs = [
      Link(text: Message("administrators.administrators"), href: ConsolePaths.administrators())
    ]
    let framed = FrameView(frame)
    let model = SessionLimitsView(
      frame: framed, csrf: signedIn.session.csrfToken, idle: idle, hours: hours,
      requiresSecondFactor: requiresSecondFactor,
      fields: try await actions.fields(.changeSessionLimits, signedIn, framed))
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }
}

struct SessionLimitsView: ViewModel {
  let frame: FrameView
  let csrf: String
  /// The minutes without activity, as typed.
  let idle: String
  /// The hours in any case, as typed.
  let hours: String
  let requiresSecondFactor: Bool
  let fields: ActionFields

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.csrf),
    .text("action") { _ in ConsolePaths.sessionLimits() },
    .text("back") { _ in ConsolePaths.administrators() },
    .text(\.idle),
    .text(\.hours),
    .flag(\.requiresSecondFactor),
    .text("idleError") { $0.frame.error(at: "idle") },
    .text("hoursError") { $0.frame.error(at: "hours") },
    .object("authorization") { $0.fields },
  ]
}
