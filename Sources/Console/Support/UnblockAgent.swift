import HTTP
import Identity
import Localization

/// `S/support/blocked-agents/{administrator}`: lets an owner unblock an agent who hit the hourly action
/// limit.
struct UnblockAgent: FormAction {
  static let action = ConsoleAction.unblockAgent
  static let name = Message("Unblock agent")
  static let path = PoolPath1("support", "blocked-agents", nil)
  let support: Support

  func page(_ target: PoolTarget) async throws -> FormPage {
    let pool = target.pool
    let found = try await support.held(ID(target.object), in: pool)
    guard let held = found else { throw Refusal.notFound }
    let limit = try await support.settings(pool).actionsPerHour
    var page = FormPage(
      title: Self.name,
      crumbs: [Link(text: Message("Support rules"), href: ConsolePaths.supportRules(pool))],
      heading: Message("Unblock {agent}?", ["agent": .name(Formatted.short(held.name))]),
      consequences: [
        Message(
          one: """
            The agent can act on users again. The limit of {count} action per hour starts over.
            """,
          other: """
            The agent can act on users again. The limit of {count} actions per hour starts over.
            """, ["count": .number(limit)]),
        Message(
          """
          Reaching the limit can mean a busy day or a compromised account. Review what the agent \
          did and talk to them first.
          """),
      ], button: Self.name, back: ConsolePaths.projects(),
      factsHeading: Message("Why the agent is blocked"),
      facts: [
        Fact(Message("Agent"), HTML.isolated(held.name)),
        Fact(Message("Project or tenant"), HTML.isolated(held.pool.name)),
        Fact(Message("Blocked"), target.times.past(held.since)),
        Fact(
          Message("Limit per hour"),
          Message(one: "{count} action", other: "{count} actions", ["count": .number(limit)])),
      ])
    if target.place.may(.readAudit) {
      let query: Form = ["actor": "administrator:\(held.agent.text)"]
      page.factsLink = Link(
        text: Message("View the agent’s actions"),
        href: query.query(of: ConsolePaths.audit(held.pool)))
    }
    page.leave = Message("Back to projects")
    page.needsCodeFirst = true
    if isOwn(target) {
      page.refusal = Message(
        "You can’t unblock yourself. Ask another administrator with the {roles} role.",
        ["roles": Permission.protectUsers.roleNames])
    }
    return page
  }

  private func isOwn(_ target: PoolTarget) -> Bool {
    target.signedIn.administrator.id == ID(target.object)
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let done = try await support.unblock(
      ID(target.object), in: target.pool, by: .console(target.request))
    guard done.value else { throw Refusal.notFound }
    return FormEnd(
      Message("Agent unblocked. Their hourly action count starts over."),
      at: ConsolePaths.projects(), after: done)
  }

  /// The page says in place of its form that agents can't unblock themselves.
  func denied(_ denial: ActionDenial, _ target: PoolTarget) -> FieldError? {
    isOwn(target)
      ? FieldError(field: "code", text: ActionErrorText.sentence(denial)) : nil
  }
}
