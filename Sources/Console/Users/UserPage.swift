import HTTP
import Identity
import Localization
import Templating

/// `S/users/{uid}`: what's wrong with a user's codes, the actions, and the records.
struct UserPage: Sendable {
  let identity: Identity
  let prose: GuidanceProse
  let frames: Frames
  let view: Template<UserView>

  func show(_ context: PoolContext, _ uid: String) async throws -> Response {
    let pool = context.pool
    let hasHistory = context.may(.readAudit) || context.may(.removeFactors)
    let found = try await identity.records(of: ID(uid), in: pool, history: hasHistory)
    guard let records = found else { throw Refusal.notFound }
    let title = Message("{user} · Users", ["user": .name(Formatted.short(records.account.label))])
    var frame = try await frames.frame(title, in: context)
    frame.crumbs = [Link(text: Message("Users"), href: ConsolePaths.users(pool))]
    return .html(
      view.render(
        UserView(
          frame: frame, context: context, records, hasHistory: hasHistory, prose,
          at: frames.clock.now())))
  }
}
