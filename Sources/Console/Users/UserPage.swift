import HTTP
import Identity
import Localization
import Templating

/// `S/users/{uid}`: a user's details, second factors, and history.
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
    let traces = try await refusing { try await identity.support.traces(of: account, in: scope) }
    let refusal = context.signedIn.administrator.obstacle(
      to: .removeFactor, on: account, in: scope)
    let mayAct = context.may(.removeFactors) && refusal == nil
    let support = try await supportData(account, traces, context, mayAct: mayAct)
    let sessions =
      support.sessions.count < Sessions.mostListed
      ? support.sessions.count : try await refusing { try await identity.sessions.count(account) }
    var history: [AuditRow]?
    if context.may(.readAudit) || context.may(.removeFactors) {
      let filter = AuditFilter(scope: scope, object: .account, objectID: account.id.text)
      history = try await refusing {
        try await identity.audit.list(filter, limit: Self.historyLength).items
      }
    }
    let codeAttempts = try await refusing { try await identity.codeAttempts.list(account) }
    let guidance = try await refusing { try await identity.guidance.beginning(scope) }
    let title = Message("users.user-title", ["user": .name(Words.short(account.label))])
    var frame = try await frames.frame(title, in: context)
    frame.crumbs = [Link(text: Message("common.users"), href: ConsolePaths.users(scope))]
    let now = frames.clock.now()
    var model = UserView(
      frame: frame, context: context, account: account, sessions: sessions, history: history,
      support: support, refusal: refusal, now: now)
    model.codeAttempts = CodeAttemptsSection(
      codeAttempts, of: account, in: scope, at: now, frame.times)
    if traces.approvals, context.may(.removeFactors) {
      let waiting = try await refusing {
        try await identity.approvals.waiting(for: account.id, in: scope)
      }
      model.approval = waiting.map {
        Link(text: Self.pending($0, frame.times), href: $0.address)
      }
    }
    if traces.exemptions {
      let exemption = try await refusing { try await identity.exemptions.find(account) }
      model.exemption = exemption.map { UserExemption($0, of: account, in: context) }
    }
    model.guidance = GuidanceAside(guidance, of: scope, prose)
    model.backupCodes = try await backupCodes(account, traces, context, mayAct: mayAct)
    return .html(view.render(model))
  }

  private static func pending(_ approval: Approval, _ times: Times) -> Message {
    Message(
      "users.pending-approval",
      [
        "action": .message(ApprovalWords.what(approval)),
        "requester": .name(Words.short(approval.requesterName)),
        "until": times.value(approval.expiresAt),
      ])
  }

  private func supportData(
    _ account: Account, _ traces: SupportRecords, _ context: ScopeContext, mayAct: Bool
  ) async throws(Refusal) -> UserSupport {
    let holds =
      traces.removalHold
      ? try await refusing { try await identity.factorRemovals.removalHold(of: account) } : []
    let sessions = try await refusing { try await identity.sessions.list(account) }
    let messages = try await refusing { try await identity.messages.list(about: account) }
    let notes =
      traces.notes ? try await refusing { try await identity.support.notes(account) } : []
    return UserSupport(
      account: account, holds: holds, sessions: sessions, messages: messages, notes: notes,
      context: context, mayAct: mayAct, times: context.signedIn.times)
  }

  private func backupCodes(
    _ account: Account, _ traces: SupportRecords, _ context: ScopeContext, mayAct: Bool
  ) async throws(Refusal) -> BackupCodesView? {
    guard account.has(.totp) else {
      guard context.may(.removeFactors), account.email != nil else { return nil }
      let policy = try await refusing { try await identity.policies.read(context.scope) }
      return BackupCodesView(enrolling: account, policy, in: context)
    }
    let state =
      traces.backupCodes
      ? try await refusing { try await identity.backupCodes.state(of: account) } : .nothing
    let settings = try await refusing { try await identity.support.settings(context.scope) }
    return BackupCodesView(
      account, state, settings, mayAct: mayAct, at: frames.clock.now(), in: context)
  }
}
