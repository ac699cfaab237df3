import HTTP
import Identity
import Templating

/// `S/users/{uid}`: what is known of a user, their factors, and what was done to them.
struct UserPage: Sendable {
  let identity: Identity
  let prose: GuidanceProse
  let frames: Frames
  let view: Template<UserView>

  private static let historyLength = 20

  func show(_ context: ScopeContext, _ uid: String) async throws(Refusal) -> Response {
    let scope = context.scope
    let found = try await refusing { try await identity.accounts.find(scope, ID(uid)) }
    guard let account = found else { throw .notFound }
    let sessions = try await refusing { try await identity.sessions.count(account) }
    var history: [AuditRow]?
    if context.may(.readAudit) || context.may(.removeFactors) {
      let filter = AuditFilter(scope: scope, objectKind: "account", objectID: account.id.text)
      history = try await refusing {
        try await identity.audit.list(filter, limit: Self.historyLength).items
      }
    }
    let verdicts = try await refusing { try await identity.verdicts.latest(account) }
    let guidance = try await refusing { try await identity.guidance.beginning(scope) }
    let title = "\(Words.isolated(account.label)) · Users"
    var frame = try await frames.frame(title, in: context, tab: .users)
    frame.crumbs = [Link(text: "Users", href: ConsolePaths.users(scope))]
    let now = frames.clock.now()
    var model = UserView(
      frame: frame, context: context, account: account, sessions: sessions, history: history,
      now: now)
    model.verdicts = VerdictsSection(verdicts, of: account, at: now, frame.times)
    model.guidance = GuidanceAside(guidance, of: scope, prose)
    return .html(view.render(model))
  }
}
