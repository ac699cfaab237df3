import HTTP
import Identity
import Localization
import Templating

/// `/administrators/{id}/sessions`: the sessions of another administrator.
struct AdministratorSessionsPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<AdministratorSessionsView>

  func show(_ signedIn: SignedIn, _ id: String) async throws -> Response {
    let record = try await identity.administrators.record(ID(id))
    let administrator = record.administrator
    guard administrator.id != signedIn.administrator.id else {
      return .redirect(to: ConsolePaths.account())
    }
    let (sessions, limits) = try await (
      identity.consoleSessions.list(of: administrator.id),
      identity.consoleSessions.limits()
    )
    let frame = await frames.frame(
      administrator.title(Message("Sessions")), for: signedIn, crumbs: administrator.crumbs)
    return .html(
      view.render(
        AdministratorSessionsView(
          frame: FrameView(frame),
          administrator: administrator, sessions: sessions, limits: limits)))
  }

  func end(_ signedIn: SignedIn, _ id: String) async throws -> Response {
    try await end(signedIn.form.trimmed("session"), signedIn, id)
  }

  func endAll(_ signedIn: SignedIn, _ id: String) async throws -> Response {
    try await end(nil, signedIn, id)
  }

  private func end(
    _ session: String?, _ signedIn: SignedIn, _ id: String
  ) async throws -> Response {
    let outcome: ActionOutcome<Int>
    do {
      outcome = try await identity.consoleSessions.end(
        session, of: ID(id), actions.request(signedIn))
    } catch let error as ManagementError {
      switch error {
      case .notAllowed: throw Refusal.notAllowed(.manageAdministrators)
      case .oneself: return .redirect(to: ConsolePaths.account())
      default: throw Refusal.notFound
      }
    } catch let denial as ActionDenial {
      throw Refusal.of(denial, ConsoleAction.endAdministratorSessions.requirements.permission)
    }
    let text = SessionText.ended(
      outcome.value, none: Message("No changes made. The session had already ended."))
    return actions.leave(
      text, signedIn, after: outcome, to: ConsolePaths.administratorSessions(id))
  }
}

struct AdministratorSessionsView: ViewModel {
  let frame: FrameView
  let administrator: Administrator
  let sessions: [OpenConsoleSession]
  let limits: SessionLimits

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("name") { Formatted.short($0.administrator.displayName) },
    .text("limits") { $0.limits.sentence },
    .text("endAction") { ConsolePaths.administratorSessions($0.administrator.id.text) },
    .text("endAllAction") {
      ConsolePaths.administratorSessionsRemoval($0.administrator.id.text)
    },
    .list("sessions") { view in
      view.sessions.map {
        SessionRow(session: $0, isCurrent: false, times: view.frame.times)
      }
    },
    .object("empty") { _ in
      EmptyView(
        heading: Message("No open sessions"),
        sentence: Message("This administrator isn’t signed in."))
    },
  ]
}
