import HTTP
import Identity
import Localization
import Templating

/// `/projects/{p}` and `/projects/{p}/tenants/{t}`: shows the policy, what needs attention, the
/// number of enrolled users, recent changes, and how to connect an application.
struct OverviewPage: Sendable {
  let identity: Identity
  let frames: Frames
  let failures: Failures
  let view: Template<OverviewView>

  private static let historyLength = 6

  func show(_ context: PoolContext) async throws -> Response {
    let pool = context.pool
    let policy = try await identity.policies.read(pool)
    // Administrators who can't read the audit log still see the changes of the policy.
    let history =
      try await context.may(.readAudit)
      ? recentChanges(pool)
      : identity.policies.history(pool, limit: Self.historyLength)
    let settings = try await identity.pools.settings(of: pool)
    let prerequisites = try await identity.policies.prerequisites(pool)
    let rules = AttentionRules(
      context: context, policy: policy, prerequisites: prerequisites, createdAt: settings.createdAt,
      now: identity.clock.now(),
      messages: try await identity.messages.counts(pool),
      carriesMail: identity.messages.carriesMail, carriesText: identity.messages.carriesText,
      locked: try await identity.accounts.counts(pool).locked,
      reporting: try await identity.reportedChanges.users(
        of: pool, limit: AttentionRules.mostReporting + 1),
      alerts: try await identity.alerts.ongoing(in: pool),
      fileDrift: identity.policies.drift(of: policy.stored),
      fileStatus: identity.policies.fileStatus,
      unreadable: try await identity.unreadableSecrets.groups(
        visibleTo: context.signedIn.administrator, in: pool))
    let key = try await ProjectKey(context, identity.apiKeys)
    let connect = ConnectView(
      pool: pool, url: frames.publicURL, profile: identity.profile,
      defaultProject: identity.defaultProject, key: key.key?.text, note: key.note)
    let firstRun = try await FirstRun(context, policy, identity)
    let hasCharts = policy.users > 0 || firstRun == nil
    let charts =
      hasCharts
      ? try await failures.optional(context.signedIn.request) { () in
        try await OverviewCharts(
          identity, context, policy, unverified: prerequisites.unverifiedEmails, frames.catalog)
      } : nil
    let frame = try await frames.frame(Message("Overview"), in: context)
    return .html(
      view.render(
        OverviewView(
          frame: frame, context: context, policy: policy, history: history,
          prerequisites: prerequisites,
          createdAt: settings.createdAt, attention: rules.all, connect: connect,
          charts: charts, isMissingCharts: hasCharts && charts == nil, firstRun: firstRun)))
  }

  /// The newest entries of a pool's audit log, without those that say that someone read the log.
  private func recentChanges(_ pool: Pool) async throws -> [AuditRow] {
    let newest = try await identity.audit.list(
      AuditFilter(pool: pool), limit: 2 * Self.historyLength)
    return Array(newest.items.filter { $0.action != .auditRead }.prefix(Self.historyLength))
  }
}

extension SignInMethods {
  var names: [Message] {
    [
      password ? Message("password") : nil,
      emailLink ? Message("email link") : nil,
      anonymous ? Message("anonymous") : nil,
      phone ? Message("phone number") : nil,
    ].compactMap { $0 }
  }

  var words: Message { Self.words(names) }

  static func words(_ names: [Message]) -> Message {
    names.isEmpty ? Message("none enabled") : Message.value(.sequence(names))
  }
}
