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
    let traces = try await refusing { try await identity.desk.traces(of: account, in: scope) }
    let refusal = DeskFaults.refusal(account, context)
    let mayAct = context.may(.removeFactors) && refusal == nil
    let desk = try await desk(account, traces, context, mayAct: mayAct)
    let sessions =
      desk.sessions.count < Sessions.mostListed
      ? desk.sessions.count : try await refusing { try await identity.sessions.count(account) }
    var history: [AuditRow]?
    if context.may(.readAudit) || context.may(.removeFactors) {
      let filter = AuditFilter(scope: scope, objectKind: "account", objectID: account.id.text)
      history = try await refusing {
        try await identity.audit.list(filter, limit: Self.historyLength).items
      }
    }
    let verdicts = try await refusing { try await identity.verdicts.list(account) }
    let guidance = try await refusing { try await identity.guidance.beginning(scope) }
    let title = "\(Words.isolated(account.label)) · Users"
    var frame = try await frames.frame(title, in: context, tab: .users)
    frame.crumbs = [Link(text: "Users", href: ConsolePaths.users(scope))]
    let now = frames.clock.now()
    var model = UserView(
      frame: frame, context: context, account: account, sessions: sessions, history: history,
      desk: desk, refusal: refusal, now: now)
    model.verdicts = VerdictsSection(verdicts, of: account, in: scope, at: now, frame.times)
    if traces.approvals, context.may(.removeFactors) {
      let waiting = try await refusing {
        try await identity.approvals.waiting(for: account.id, in: scope)
      }
      model.approval = waiting.map {
        Link(
          text:
            "\(ApprovalWords.what($0)): asked for by \(Words.isolated($0.requesterName)), it waits for a second administrator until \(frame.times.words($0.expiresAt)).",
          href: ConsolePaths.approval(scope, String($0.id)))
      }
    }
    model.guidance = GuidanceAside(guidance, of: scope, prose)
    model.standIns = try await standIns(account, traces, context, mayAct: mayAct)
    return .html(view.render(model))
  }

  private func desk(
    _ account: Account, _ traces: DeskTraces, _ context: ScopeContext, mayAct: Bool
  ) async throws(Refusal) -> UserDesk {
    let apart =
      traces.setApart
      ? try await refusing { try await identity.unenrolments.setApart(of: account) } : []
    let sessions = try await refusing { try await identity.sessions.list(account) }
    let messages = try await refusing { try await identity.messages.list(about: account) }
    let notes =
      traces.notes ? try await refusing { try await identity.desk.notes(account) } : []
    return UserDesk(
      account: account, apart: apart, sessions: sessions, messages: messages, notes: notes,
      context: context, mayAct: mayAct, times: context.signedIn.times)
  }

  private func standIns(
    _ account: Account, _ traces: DeskTraces, _ context: ScopeContext, mayAct: Bool
  ) async throws(Refusal) -> StandInsView? {
    guard account.has(.totp) else {
      guard context.may(.removeFactors), account.email != nil else { return nil }
      let policy = try await refusing { try await identity.policies.read(context.scope) }
      return StandInsView(enrolling: account, policy, in: context)
    }
    let state =
      traces.standIns
      ? try await refusing { try await identity.standIns.state(of: account) } : .nothing
    let settings = try await refusing { try await identity.desk.settings(context.scope) }
    return StandInsView(
      account, state, settings, mayAct: mayAct, at: frames.clock.now(), in: context)
  }
}
