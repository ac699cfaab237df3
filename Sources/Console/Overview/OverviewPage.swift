import HTTP
import Identity
import Localization
import OTP
import Templating
import Text

/// `/projects/{p}` and `/projects/{p}/tenants/{t}`: shows the policy, what needs attention, the
/// number of enrolled users, recent changes, and how to connect an application.
struct OverviewPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<OverviewView>
  let failures: Failures

  private static let historyLength = 6
  /// The maximum number of changes of the policy before other changes.
  private static let policyChanges = 3

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
    var items = attention.items
    if context.offers(.connection), context.may(.readPolicy) {
      let known = try await identity.connections.list().filter { $0.project == pool.project }
      let (stopped, changed) = try await identity.connections.attention(to: known)
      let unknown = try await identity.connections.unknownChanges(of: known)
      items.add(
        pool.tenant == nil ? stopped : [], changed.filter { $0.pool.key == pool.key },
        unknown.filter { $0.pool.key == pool.key })
    }
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
    let dismissed = try await identity.dismissedAttention.all(
      of: context.signedIn.administrator, in: pool)
    return .html(
      view.render(
        OverviewView(
          frame: FrameView(frame), context: context, policy: policy, history: history,
          prerequisites: prerequisites,
          createdAt: settings.createdAt,
          attention: AttentionList(
            items, without: dismissed, on: pool, context.signedIn),
          connect: connect,
          charts: charts, isMissingCharts: hasCharts && charts == nil, firstRun: firstRun)))
  }

  /// `/attention`: dismisses an item of this page or of that of all projects, or shows it again.
  func dismiss(_ signedIn: SignedIn) async throws -> Response {
    let form = signedIn.form
    guard let mark = AttentionMark(form.trimmed("item")) else { throw Refusal.unreadableForm }
    let until: Instant
    do {
      until = try await identity.dismissedAttention.set(
        mark, isUndo: form["undo"] == "1", signedIn.plainRequest)
    } catch let denial as ActionDenial {
      throw Refusal.of(denial, ConsoleAction.dismissAttention.requirements.permission)
    }
    let (isUndo, page) = (form["undo"] == "1", AttentionList.page(of: form.trimmed("page")))
    return frames.leave(
      isUndo
        ? Message("Shown again.")
        : Message(
          "Dismissed for you until {end}. It’s shown earlier if it changes.",
          ["end": signedIn.times.value(until)]),
      for: signedIn, to: isUndo ? AttentionList.all(of: page) : page)
  }

  /// The newest changes of the policy, then others by administrators, without what was only read.
  private func recentChanges(_ pool: Pool) async throws -> [AuditRow] {
    let policy = try await identity.policies.history(pool, limit: Self.policyChanges)
    var filter = AuditFilter(pool: pool)
    (filter.actor, filter.excluded) = (.administrator, AuditAction.changeless)
    let newest = try await identity.audit.list(filter, limit: Self.historyLength)
    let others = newest.items.filter { row in !policy.contains { $0.id == row.id } }
    return policy + others.prefix(Self.historyLength - policy.count)
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
  let attention: AttentionList
  /// Nil for administrators who can't manage keys.
  let connect: ConnectView?
  /// The figures and charts; nil for a pool that never had users, and if they can't be read.
  let charts: OverviewCharts?
  let isMissingCharts: Bool
  let firstRun: FirstRun?

  private var facts: [Fact] {
    [
      pool.tenant == nil
        ? Fact(Message("Project number"), HTML.copied(String(pool.projectNumber)))
        : nil,
      context.offers(.hosting)
        ? Fact(
          Message("Sign-in"),
          pool.isDisabled ? Message("off for all users") : prerequisites.words) : nil,
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
    .text("kind") { $0.pool.noun },
    .text("id") { $0.pool.objectID },
    .flag("hasAttention") { !$0.attention.isEmpty },
    .object(\.attention),
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
    .markup("totp") { $0.configuration.chip(in: $0.pool.kind) },
    .markup("window") { WindowStrip.small($0.configuration) },
    .text("pattern") { $0.policy.edit.patternName ?? Message("none") },
    .text("words") {
      WindowText.unknown($0.configuration, in: $0.pool)
        ?? WindowText.explanation($0.configuration.accepted)
    },
    .text("audit") { $0.audit },
    .list("history") { view in
      view.history.map {
        HistoryRow($0, view.frame.times, view.frame.catalog, in: view.context.pool)
      }
    },
    .text("factsHeading") { $0.pool.noun },
    .list("facts") { $0.facts },
  ]
}

enum OverviewRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let overview = OverviewPage(
      parts: parts, view: try parts.template("overview/overview"), failures: table.failures)
    table.inside(ConsolePaths.overview, .get(.seePool), overview.show)
    let attention = ConsoleAction.dismissAttention
    table.somewhere(ConsolePaths.attention, .performing(attention), overview.dismiss)
  }
}

extension ConsolePaths {
  static let overview = PoolPath0()
  static let attention = Path("attention")
}

/// Shows how to connect an application to this server.
///
/// In the emulator profile, a call or an environment variable sets the address of every SDK. In the
/// standalone profile, the web SDK accepts any address, the Android and iOS SDKs accept only http
/// addresses, and the Admin SDKs have no setting, so the samples show alternatives for these.
struct ConnectView: ViewModel {
  let pool: Pool
  let url: PublicURL
  let profile: Profile
  /// The project that every API key maps to; nil in the standalone profile.
  let defaultProject: ID<Project>?
  /// An API key of the project; nil if there is none or the administrator can't read it.
  let key: String?
  let note: Message?

  private var facts: [Fact] {
    [
      Fact(Message("Address"), HTML.copied(url.origin)),
      Fact(Message("Project ID"), HTML.copied(pool.project.text)),
      pool.tenant.map { Fact(Message("Tenant ID"), HTML.copied($0.text)) },
      key.map { Fact(Message("API key"), HTML.copied($0)) },
    ].compactMap { $0 }
  }

  private var otherProject: Message? {
    guard let defaultProject, defaultProject != pool.project else { return nil }
    return Message(
      """
      In the emulator profile, every API key maps to the project {project}, so applications \
      connect to that project instead of this one.
      """, ["project": .text(defaultProject.text)])
  }

  private static let configPath = Path("v2", "projects", nil, "config", parameters: String.self)
  private static let tenantPath = Path(
    "v2", "projects", nil, "tenants", nil, parameters: String.self, String.self)

  /// The path of the configuration, percent-encoded so an ID can't end the quotes in the shell.
  private var path: String {
    pool.tenant.map { Self.tenantPath(pool.project.text, $0.text) }
      ?? Self.configPath(pool.project.text)
  }

  static let keys: Keys<Self> = [
    .list("facts") { $0.facts },
    .text(\.note),
    .flag("isEmulator") { $0.profile == .emulator },
    .flag("isSecure") { $0.url.isSecure },
    .text("url") { $0.url.origin },
    .text("key") { $0.key ?? "YOUR-API-KEY" },
    .text("configPath") { $0.path },
    .text("otherProject") { $0.otherProject },
    .text("port") { $0.url.port },
    // These are literals in the language of the sample, including the quotes.
    .text("keyLiteral") { Quoted.script($0.key ?? "YOUR-API-KEY") },
    .text("project") { Quoted.script($0.pool.project.text) },
    .text("tenant") { $0.pool.tenant.map { Quoted.script($0.text) } },
    // The claim `firebase.tenant` of the pool's ID tokens, which the project's own users don't have.
    .text("scriptClaim") { $0.pool.tenant.map { Quoted.script($0.text) } ?? "undefined" },
    .text("pythonClaim") { $0.pool.tenant.map { Quoted.script($0.text) } ?? "None" },
    .text("goClaim") { Quoted.script($0.pool.tenant?.text ?? "") },
    .text("kotlinTenant") { $0.pool.tenant.map { Quoted.kotlin($0.text) } },
    .text("swiftTenant") { $0.pool.tenant.map { Quoted.swift($0.text) } },
    .text("origin") { Quoted.script($0.url.origin) },
    .text("authority") { Quoted.script($0.url.authority) },
    .text("host") { Quoted.script($0.url.host) },
    .text("keyList") {
      Quoted.script(
        $0.url.origin + "/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com")
    },
    .text("issuer") { Quoted.script("https://securetoken.google.com/\($0.pool.project.text)") },
  ]
}
