import HTTP
import Identity
import Localization
import OTP
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
    let attention = PoolAttention(
      context: context, policy: policy, prerequisites: prerequisites, createdAt: settings.createdAt,
      now: identity.clock.now(),
      messages: try await identity.messages.counts(pool),
      carriesMail: identity.messages.carriesMail, carriesText: identity.messages.carriesText,
      leftOutside: try await identity.pools.leftOutside(of: pool),
      locked: try await identity.accounts.counts(pool).locked,
      reporting: try await identity.reportedChanges.users(
        of: pool, limit: PoolAttention.mostReporting + 1),
      alerts: try await identity.alerts.ongoing(in: pool),
      fileDrift: identity.policies.drift(of: policy.stored),
      fileStatus: identity.policies.fileStatus,
      unreadable: try await identity.unreadableSecrets.groups(
        visibleTo: context.signedIn.administrator, in: pool))
    var connect: ConnectView?
    if context.may(.manageKeys) {
      let key = try await ProjectKey(context, identity.apiKeys)
      connect = ConnectView(
        pool: pool, url: frames.publicURL, profile: identity.profile,
        defaultProject: identity.defaultProject, key: key.key?.text, note: key.note)
    }
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
          frame: FrameView(frame), context: context, policy: policy, history: history,
          prerequisites: prerequisites,
          createdAt: settings.createdAt, attention: attention.items, connect: connect,
          charts: charts, isMissingCharts: hasCharts && charts == nil, firstRun: firstRun)))
  }

  /// The newest changes by administrators, without the entries that someone read the log.
  private func recentChanges(_ pool: Pool) async throws -> [AuditRow] {
    var filter = AuditFilter(pool: pool)
    filter.actor = .administrator
    let newest = try await identity.audit.list(filter, limit: 2 * Self.historyLength)
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

struct OverviewView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let policy: Policy
  let history: [AuditRow]
  let prerequisites: PolicyPrerequisites
  let createdAt: Instant
  let attention: [AttentionItem]
  /// Nil for administrators who can't manage keys.
  let connect: ConnectView?
  /// The figures and charts; nil for a pool that never had users, and if they can't be read.
  let charts: OverviewCharts?
  let isMissingCharts: Bool
  let firstRun: FirstRun?

  private var facts: [Fact] {
    [
      pool.tenant == nil
        ? Fact(Message("Project number"), ConnectView.copied(String(pool.projectNumber)))
        : nil,
      Fact(
        Message("Sign-in"),
        pool.isDisabled ? Message("off for all users") : prerequisites.words),
      Fact(Message("Created"), frame.times.past(createdAt)),
    ].compactMap { $0 }
  }

  private var pool: Pool { context.pool }
  private var configuration: MFAConfiguration { policy.configuration }

  /// The entries that the recent changes are from; nil without the permission.
  private var audit: String? {
    let query: Form = ["actor": Actor.Kind.administrator.rawValue]
    return context.may(.readAudit) ? query.query(of: ConsolePaths.audit(pool)) : nil
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("name") { $0.pool.name },
    .text("kind") { $0.pool.kind },
    .text("id") { $0.pool.objectID },
    .flag("hasAttention") { !$0.attention.isEmpty },
    .list(\.attention),
    .optional(\.connect),
    .optional(\.charts),
    .flag(\.isMissingCharts),
    .optional(\.firstRun),
    .text("policy") {
      $0.context.may(.readPolicy) ? ConsolePaths.policy($0.pool) : nil
    },
    .text("policyVerb") {
      $0.context.may(.changePolicy)
        ? Message("Change policy") : Message("View policy")
    },
    .markup("totp") { $0.configuration.chip },
    .markup("window") { WindowStrip.small($0.configuration) },
    .text("pattern") { $0.policy.edit.patternName ?? Message("none") },
    .text("words") { WindowText.explanation($0.configuration.accepted) },
    .text("audit") { $0.audit },
    .flag("hasHistory") { !$0.history.isEmpty },
    .list("history") { view in
      view.history.map {
        HistoryRow($0, view.frame.times, view.frame.catalog, in: view.context.pool)
      }
    },
    .text("factsHeading") { $0.pool.kind },
    .list("facts") { $0.facts },
  ]
}

struct Figure: ViewModel {
  let label: Message
  let value: Message
  var change: FigureChange?
  let base: Message

  static let keys: Keys<Self> = [
    .text(\.label),
    .text(\.value),
    .optional(\.change),
    .text(\.base),
  ]
}

/// The change of a figure, with a mark for its direction.
struct FigureChange: ViewModel {
  let difference: Int
  let text: Message
  /// What it's compared with.
  let since: Message

  /// For a state.
  static let inMonth = Message("in 30 days")
  /// For what happened in the period.
  static let sinceBefore = Message("vs. prior 30 days")

  init(_ difference: Int, text: Message? = nil, _ since: Message) {
    self.difference = difference
    self.text =
      difference == 0
      ? Message("No change") : text ?? .value(.number(Int(difference.magnitude)))
    self.since = since
  }

  static let keys: Keys<Self> = [
    .flag("isUp") { $0.difference > 0 },
    .flag("isDown") { $0.difference < 0 },
    .text(\.text),
    .text(\.since),
  ]
}

enum OverviewRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let overview = OverviewPage(
      identity: identity, frames: frames, failures: table.failures,
      view: try parts.template("overview/overview", for: OverviewView.self))
    table.inside(ConsolePaths.overview, .get(.seePool), overview.show)
  }
}

extension ConsolePaths {
  static let overview = PoolPath0()
}
