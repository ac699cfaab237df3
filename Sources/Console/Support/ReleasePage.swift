import HTTP
import Identity
import Templating

/// `S/support/release/{administrator}`: asks an owner, and lets an agent go on who was stopped.
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
      // The page says in the place of its form why somebody cannot.
      let isOfForm = if case .answers = error { true } else { false }
      let errors =
        isOfForm ? try ActionErrorText.faults(error, signedIn.times, .protectUsers) : []
      if case .unavailable = error { throw .unavailable(error) }
      return try await page(context, agent, status: .unprocessableContent, errors: errors)
    }
    guard outcome.value else { throw .notFound }
    return ending.response(
      Flash(text: "The agent is released and begins a new hour."), signedIn,
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
    var frame = try await ending.frames.frame("Release an agent", in: context, tab: .settings)
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
      return SupportRefusal("Nobody releases themselves. Ask another owner.")
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
    .markup("heading") { HTML.heading("Release", $0.held.name) },
    .optional("refusal") { $0.refusal },
    .flag("mayRelease") { $0.refusal == nil },
    .texts("consequences") { view in
      [
        "They may act at this support again, and begin a new hour of \(Words.count(view.actionsPerHour, "action", "actions")).",
        "So many actions in an hour may be a busy day, or somebody else at their place: look at what they did first, and speak to them.",
      ]
    },
    .list("facts") { view in
      [
        Fact("Agent", HTML.isolated(view.held.name)),
        Fact("At the support of", HTML.isolated(view.held.scope.name)),
        Fact("Stopped", view.frame.times.moment(view.held.since)),
        Fact("Allowed in an hour", Words.count(view.actionsPerHour, "action", "actions")),
      ]
    },
    .text("history") { $0.history },
    .optional("codeField") { CodeField($0.asksForCode, $0.frame) },
    .text("action") { ConsolePaths.release($0.held.scope, $0.held.agent.text) },
    .text("back") { _ in ConsolePaths.projects() },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
  ]
}
