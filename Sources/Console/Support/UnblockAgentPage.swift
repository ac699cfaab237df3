import HTTP
import Identity
import Localization
import Templating

/// `S/support/blocked-agents/{administrator}`: lets an owner unblock an agent who hit the hourly action
/// limit.
struct UnblockAgentPage: Sendable {
  let support: Support
  let frames: Frames
  let view: Template<UnblockAgentView>

  func ask(_ context: PoolContext, _ agent: String) async throws -> Response {
    try await page(context, agent)
  }

  func unblock(_ context: PoolContext, _ agent: String) async throws -> Response {
    let signedIn = context.signedIn
    let outcome: ActionOutcome<Bool>
    do {
      outcome = try await support.unblock(
        ID(agent), in: context.pool, by: .console(ActionInput(signedIn.form).request(signedIn)))
    } catch let error as ActionDenial {
      // Other errors are shown by the page in place of its form.
      let isOfForm = if case .answers = error { true } else { false }
      let errors =
        isOfForm ? try ActionErrorText.faults(error, signedIn.times, .protectUsers) : []
      return try await page(context, agent, status: .unprocessableContent, errors: errors)
    }
    guard outcome.value else { throw Refusal.notFound }
    return frames.leave(
      Flash(text: Message("Agent unblocked. Their hourly action count starts over.")), signedIn,
      renewed: outcome.renewed,
      to: ConsolePaths.projects())
  }

  private func page(
    _ context: PoolContext, _ agent: String, status: Status = .ok, errors: [FieldError] = []
  ) async throws -> Response {
    let (pool, session) = (context.pool, context.signedIn.session)
    let found = try await support.held(ID(agent), in: pool)
    guard let held = found else { throw Refusal.notFound }
    let settings = try await support.settings(pool)
    let asksForCode = try await support.asksForCode(session)
    var frame = try await frames.frame(Message("Unblock agent"), in: context)
    frame.errors = errors
    frame.crumbs = [
      Link(text: Message("Support rules"), href: ConsolePaths.supportRules(pool))
    ]
    let model = UnblockAgentView(
      frame: FrameView(frame), context: context, held: held,
      actionsPerHour: settings.actionsPerHour, asksForCode: asksForCode)
    return .html(view.render(model), status: status)
  }
}

struct UnblockAgentView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let held: HeldAgent
  let actionsPerHour: Int
  let asksForCode: Bool

  private var refusal: SupportRefusal? {
    if held.agent == context.signedIn.administrator.id {
      return SupportRefusal(
        Message(
          "You can’t unblock yourself. Ask another administrator with the {roles} role.",
          ["roles": Permission.protectUsers.roleNames]))
    }
    return SupportRefusal(lackingCode: asksForCode, context.signedIn)
  }

  private var action: String { ConsolePaths.unblockAgent(held.pool, held.agent.text) }

  private var history: String? {
    guard context.may(.readAudit) else { return nil }
    let query: Form = ["actor": "administrator:\(held.agent.text)"]
    return query.query(of: ConsolePaths.audit(held.pool))
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .markup("heading") {
      Message("Unblock {agent}?", ["agent": .name(Formatted.short($0.held.name))])
    },
    .optional("refusal") { $0.refusal },
    .texts("consequences") { view in
      [
        Message(
          one: """
            The agent can act on users again. The limit of {count} action per hour starts over.
            """,
          other: """
            The agent can act on users again. The limit of {count} actions per hour starts over.
            """, ["count": .number(view.actionsPerHour)]),
        Message(
          """
          Reaching the limit can mean a busy day or a compromised account. Review what the agent \
          did and talk to them first.
          """),
      ]
    },
    .list("facts") { view in
      [
        Fact(Message("Agent"), HTML.isolated(view.held.name)),
        Fact(Message("Project or tenant"), HTML.isolated(view.held.pool.name)),
        Fact(Message("Blocked"), view.frame.times.past(view.held.since)),
        Fact(
          Message("Limit per hour"),
          Message(
            one: "{count} action", other: "{count} actions", ["count": .number(view.actionsPerHour)]
          )),
      ]
    },
    .text("history") { $0.history },
    .optional("codeField") { CodeField($0.asksForCode, $0.frame, action: $0.action) },
    .text("action") { $0.action },
    .text("back") { _ in ConsolePaths.projects() },
  ]
}
