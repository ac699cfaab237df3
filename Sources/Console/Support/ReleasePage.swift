import HTTP
import Identity
import Templating

/// `S/support/release/{administrator}`: lets an owner unblock an agent who hit the hourly action
/// limit.
struct ReleasePage: Sendable {
  let support: Support
  let ending: SupportRedirect
  let view: Template<ReleaseView>

  func ask(_ context: ScopeContext, _ agent: String) async throws(Refusal) -> Response {
    try await page(context, agent)
  }

  func release(_ context: ScopeContext, _ agent: String) async throws(Refusal) -> Response {
    let signedIn = context.signedIn
    let outcome: ActionOutcome<Bool>
    do {
      outcome = try await support.release(
        ID(agent), in: context.scope, ActionInput(signedIn.form).request(signedIn))
    } catch {
      // Other errors are shown by the page in place of its form.
      let isOfForm = if case .answers = error { true } else { false }
      let errors =
        isOfForm ? try ActionErrorText.faults(error, signedIn.times, .protectUsers) : []
      if case .unavailable = error { throw .unavailable(error) }
      return try await page(context, agent, status: .unprocessableContent, errors: errors)
    }
    guard outcome.value else { throw .notFound }
    return ending.response(
      Flash(text: "Agent unblocked. Their hourly action count starts over."), signedIn,
      renewed: outcome.renewed, to: ConsolePaths.projects())
  }

  private func page(
    _ context: ScopeContext, _ agent: String, status: Status = .ok, errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let (scope, session) = (context.scope, context.signedIn.session)
    let found = try await refusing { try await support.held(ID(agent), in: scope) }
    guard let held = found else { throw .notFound }
    let settings = try await refusing { try await support.settings(scope) }
    let asksForCode = try await refusing { try await support.asksForCode(session) }
    var frame = try await ending.frames.frame("Unblock agent", in: context, tab: .settings)
    frame.errors = errors
    let model = ReleaseView(
      frame: FrameView(frame), context: context, held: held,
      actionsPerHour: settings.actionsPerHour, asksForCode: asksForCode)
    return .html(view.render(model), status: status)
  }
}

struct ReleaseView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let held: HeldAgent
  let actionsPerHour: Int
  let asksForCode: Bool

  private var refusal: SupportRefusal? {
    if held.agent == context.signedIn.administrator.id {
      return SupportRefusal(
        "You can’t unblock yourself. Ask \(Permission.protectUsers.otherHolder).")
    }
    return SupportRefusal(lackingCode: asksForCode, context.signedIn.session)
  }

  private var history: String? {
    guard context.may(.readAudit) else { return nil }
    let query: Form = ["actor": "administrator:\(held.agent.text)"]
    return query.query(of: ConsolePaths.audit(held.scope))
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .markup("heading") { HTML.heading("Unblock", $0.held.name) },
    .optional("refusal") { $0.refusal },
    .flag("mayRelease") { $0.refusal == nil },
    .texts("consequences") { view in
      [
        "The agent can act on users again, with a new limit of \(Words.count(view.actionsPerHour, "action", "actions")) per hour.",
        "Reaching the limit can mean a busy day or a compromised account. Review what the agent did and talk to them first.",
      ]
    },
    .list("facts") { view in
      [
        Fact("Agent", HTML.isolated(view.held.name)),
        Fact("Project or tenant", HTML.isolated(view.held.scope.name)),
        Fact("Blocked", view.frame.times.moment(view.held.since)),
        Fact("Limit per hour", Words.count(view.actionsPerHour, "action", "actions")),
      ]
    },
    .text("history") { $0.history },
    .optional("codeField") { CodeField($0.asksForCode, $0.frame) },
    .text("action") { ConsolePaths.release($0.held.scope, $0.held.agent.text) },
    .text("back") { _ in ConsolePaths.projects() },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
  ]
}
