import HTTP
import Identity
import Localization
import OTP
import Templating

struct OverviewView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let policy: Policy
  let history: [HistoryRow]
  let facts: [Fact]
  let attention: [Attention]
  let connect: ConnectView
  /// The figures and charts; nil for a pool that never had users, and if they can't be read.
  let charts: OverviewCharts?
  let isMissingCharts: Bool
  let firstRun: FirstRun?

  init(
    frame: Frame, context: PoolContext, policy: Policy, history: [AuditRow],
    prerequisites: PolicyPrerequisites, createdAt: Instant, attention: [Attention],
    connect: ConnectView, charts: OverviewCharts?, isMissingCharts: Bool, firstRun: FirstRun?
  ) {
    self.frame = FrameView(frame)
    self.context = context
    self.policy = policy
    self.history = history.map { HistoryRow($0, frame.times, frame.catalog) }
    self.attention = attention
    self.connect = connect
    self.charts = charts
    self.isMissingCharts = isMissingCharts
    self.firstRun = firstRun
    let pool = context.pool
    facts = [
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

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("name") { $0.pool.name },
    .text("kind") { $0.pool.kind },
    .text("id") { $0.pool.objectID },
    .flag("hasAttention") { !$0.attention.isEmpty },
    .list(\.attention),
    .object(\.connect),
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
    .text("audit") { $0.context.may(.readAudit) ? ConsolePaths.audit($0.pool) : nil },
    .flag("hasHistory") { !$0.history.isEmpty },
    .list(\.history),
    .text("factsHeading") { $0.pool.kind },
    .list(\.facts),
  ]
}

struct Figure: ViewModel {
  let label: Message
  let value: Message
  let change: Message?
  let base: Message

  init(
    label: some MessageConvertible, value: some MessageConvertible, change: Message? = nil,
    base: some MessageConvertible
  ) {
    self.label = label.message
    self.value = value.message
    self.change = change
    self.base = base.message
  }

  static let keys: Keys<Self> = [
    .text(\.label),
    .text(\.value),
    .text(\.change),
    .text(\.base),
  ]
}
