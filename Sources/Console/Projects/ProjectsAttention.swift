import HTTP
import Identity
import Localization
import Templating

struct ProjectsAttention: ViewModel {
  let warnings: [WarningRow]
  let hasMoreWarnings: Bool
  let differing: [DifferingRow]
  /// The list of all projects with tenants that differ; nil if they're all here.
  let allDiffering: String?
  let overdue: [OverdueReviewRow]
  /// The list of all projects whose review is due; nil if they're all here.
  let allDue: String?
  let held: [HeldRow]
  let clock: ClockBanner?
  let damage: Message?
  let breakGlass: Message?
  let policyFile: Message?

  init(_ facts: Facts, clock: ClockBanner?, _ signedIn: SignedIn) {
    let administrator = signedIn.administrator
    self.clock = clock
    policyFile =
      administrator.maySomewhere(.readPolicy)
      ? facts.policyFile.warning ?? PolicyFileText.warning(missing: facts.missing) : nil
    breakGlass = facts.breakGlass.map {
      Message(
        one: "The break-glass account signed in {count} time without the provider, last on {time}.",
        other: """
          The break-glass account signed in {count} times without the provider, last on {time}.
          """,
        ["count": .number($0.count), "time": signedIn.times.value($0.lastSeenAt)])
    }
    damage = facts.damage.map {
      Message(
        """
        Found by the integrity check on {time}: {faults}. Stop the server and restore the latest \
        backup that’s intact.
        """,
        [
          "time": signedIn.times.value($0.checkedAt),
          "faults": .list($0.faults.map { .verbatim($0) }),
        ])
    }
    warnings =
      facts.unreadable.prefix(ProjectsPage.warnings).map(WarningRow.init)
      + facts.reporting.map(WarningRow.init)
      + facts.alerts.prefix(ProjectsPage.warnings).map {
        WarningRow($0, administrator: administrator, times: signedIn.times)
      }
      + facts.warnings.prefix(ProjectsPage.warnings).map {
        WarningRow($0, administrator: administrator, times: signedIn.times)
      }
      + facts.drifting.prefix(ProjectsPage.warnings).map(WarningRow.init)
    let counts = [
      facts.warnings.count, facts.drifting.count, facts.alerts.count, facts.unreadable.count,
    ]
    hasMoreWarnings = counts.contains { $0 > ProjectsPage.warnings }
    held = facts.held.map { HeldRow(held: $0, signedIn: signedIn) }
    overdue =
      facts.overdue.prefix(ProjectsPage.warnings).map {
        OverdueReviewRow(signOff: $0.signOff, projectName: $0.projectName)
      } + facts.unreviewed.prefix(ProjectsPage.warnings).map { OverdueReviewRow(neverReviewed: $0) }
    allDue =
      facts.overdue.count > ProjectsPage.warnings || facts.unreviewed.count > ProjectsPage.warnings
      ? ReviewsQuery.due.query(of: ConsolePaths.reviews()) : nil
    differing = facts.mostDiffering.projects.map { DifferingRow($0, administrator: administrator) }
    allDiffering =
      facts.mostDiffering.hasMore ? ReviewsQuery.differing.query(of: ConsolePaths.reviews()) : nil
  }

  var isEmpty: Bool {
    warnings.isEmpty && differing.isEmpty && overdue.isEmpty && held.isEmpty && clock == nil
      && damage == nil && breakGlass == nil && policyFile == nil
  }

  static let keys: Keys<Self> = [
    .optional(\.clock),
    .text(\.damage),
    .text(\.breakGlass),
    .text(\.policyFile),
    .text("audit") { _ in ConsolePaths.instanceAudit() },
    .list(\.warnings),
    .flag(\.hasMoreWarnings),
    .list(\.held),
    .list(\.overdue),
    .text(\.allDue),
    .list(\.differing),
    .text(\.allDiffering),
  ]
}

/// A support agent who hit the hourly action limit and has to be unblocked.
struct HeldRow: ViewModel {
  let held: HeldAgent
  let signedIn: SignedIn

  static let keys: Keys<Self> = [
    .text("name") { $0.held.name },
    .text("pool") { $0.held.pool.name },
    .markup("since") { $0.signedIn.times.moment($0.held.since) },
    .text("history") { row in
      guard row.signedIn.administrator.may(.readAudit, in: row.held.pool) else { return nil }
      let query: Form = ["actor": "administrator:\(row.held.agent.text)"]
      return query.query(of: ConsolePaths.audit(row.held.pool))
    },
    .text("unblock") { ConsolePaths.unblockAgent($0.held.pool, $0.held.agent.text) },
  ]
}

struct OverdueReviewRow: ViewModel {
  let name: String
  let href: String
  let sentence: Message

  init(signOff: SignOff, projectName: String) {
    name = projectName
    href = ConsolePaths.review(signOff.project.text)
    sentence = Message("The policy review was due on {due}.", ["due": Times.value(signOff.dueOn)])
  }

  init(neverReviewed project: (id: ID<Project>, name: String)) {
    name = project.name
    href = ConsolePaths.review(project.id.text)
    sentence = Message("This project’s policies have never been signed off.")
  }

  static let keys: Keys<Self> = [
    .text(\.name),
    .text(\.href),
    .text(\.sentence),
  ]
}

/// The number of tenants whose policy differs from the project's, and the first of them.
struct DifferingRow: ViewModel {
  let differing: DifferingTenants
  let tenants: [DifferingTenantRow]

  init(_ differing: DifferingTenants, administrator: Administrator) {
    self.differing = differing
    tenants = differing.first.map { tenant in
      DifferingTenantRow(
        tenant: tenant, project: differing.project,
        mayChange: administrator.may(
          .changePolicy, project: differing.project, tenant: tenant.id))
    }
  }

  static let keys: Keys<Self> = [
    .text("name") { $0.differing.projectName },
    .text("differ") { row in
      Message(
        one: "{count} tenant differs", other: "{count} tenants differ",
        ["count": .number(row.differing.count)])
    },
    .text("review") {
      (["show": "differs"] as Form).query(of: ConsolePaths.review($0.differing.project.text))
    },
    .list(\.tenants),
  ]
}

struct DifferingTenantRow: ViewModel {
  let tenant: DifferingTenant
  let project: ID<Project>
  let mayChange: Bool

  static let keys: Keys<Self> = [
    .text("name") { $0.tenant.displayName },
    .text("href") { ConsolePaths.tenant($0.project.text, $0.tenant.id.text) },
    .text("fields") { row in
      Message.value(.sequence(row.tenant.fields.map(name)))
    },
    .text("back") { row in
      row.mayChange
        ? PolicyLinks.likeProject(
          ConsolePaths.policy.ofTenant(row.project.text, row.tenant.id.text)) : nil
    },
  ]

  private static func name(_ field: PolicyChange.Field) -> Message {
    switch field {
    case .totp: Message("TOTP")
    case .adjacentIntervals: Message("adjacent intervals")
    case .sms: .verbatim("SMS")
    case .state: Message("state")
    case .pattern: Message("enrollment pattern")
    case .enforcement: Message("server enforcement")
    }
  }
}

struct WarningRow: ViewModel {
  let name: Message
  let project: String?
  let overview: String
  let sentence: Message
  let href: String
  let verb: Message

  init(_ reporting: ReportingPool) {
    let pool = reporting.pool
    name = .verbatim(pool.name)
    project = pool.tenant == nil ? nil : pool.projectName
    overview = ConsolePaths.overview(pool)
    sentence = Message(
      one: "{count} user reported a change to their second factors that they didn’t make.",
      other: "{count} users reported a change to their second factors that they didn’t make.",
      ["count": .number(reporting.users)])
    href = overview
    verb = Message("Review reports")
  }

  init(_ alert: Alert, administrator: Administrator, times: Times) {
    let pool = alert.pool
    name = .verbatim(pool.name)
    project = pool.tenant == nil ? nil : pool.projectName
    overview = ConsolePaths.overview(pool)
    sentence = alert.sentence(times)
    let evidence = alert.evidence(for: administrator)
    href = evidence?.href ?? overview
    verb = evidence?.text.message ?? Message("View overview")
  }

  init(_ unreadable: UnreadableSecrets.Group) {
    name =
      (unreadable.tenant?.text ?? unreadable.project?.text).map(Message.verbatim)
      ?? Message("This instance")
    project = unreadable.tenant == nil ? nil : unreadable.project?.text
    sentence = unreadable.sentence
    href = unreadable.history
    verb = Message("View audit log")
    if let project = unreadable.project?.text {
      overview =
        unreadable.tenant.map { ConsolePaths.tenant(project, $0.text) }
        ?? ConsolePaths.overview.ofProject(project)
    } else {
      overview = unreadable.history
    }
  }

  init(_ pool: DriftingPool) {
    name = .verbatim(pool.name)
    project = pool.tenant == nil ? nil : pool.projectName
    let id = pool.project.text
    overview =
      pool.tenant.map { ConsolePaths.tenant(id, $0.text) } ?? ConsolePaths.overview.ofProject(id)
    sentence = PolicyFileText.sentence(pool.fields)
    href =
      pool.tenant.map { ConsolePaths.policy.ofTenant(id, $0.text) }
      ?? ConsolePaths.policy.ofProject(id)
    verb = Message("Review policy")
  }

  init(_ warning: PoolWarning, administrator: Administrator, times: Times) {
    name = .verbatim(warning.name)
    project = warning.tenant == nil ? nil : warning.projectName
    let (policy, overview) =
      if let tenant = warning.tenant {
        (
          ConsolePaths.policy.ofTenant(warning.project.text, tenant.text),
          ConsolePaths.tenant(warning.project.text, tenant.text)
        )
      } else {
        (
          ConsolePaths.policy.ofProject(warning.project.text),
          ConsolePaths.overview.ofProject(warning.project.text)
        )
      }
    self.overview = overview
    let mayChange = administrator.may(
      .changePolicy, project: warning.project, tenant: warning.tenant)
    switch warning.reason {
    case .stateNotGiven:
      sentence = Message("TOTP state is unset (treated as enabled).")
      href = policy
      verb = mayChange ? Message("Set to Enabled") : Message("View policy")
    case .enrolledWhileOff(let users):
      sentence = Message(
        one: "TOTP is off: {count} user with a factor isn’t asked for codes.",
        other: "TOTP is off: {count} users with a factor aren’t asked for codes.",
        ["count": .number(users)])
      href = mayChange ? PolicyLinks.turnOn(policy) : policy
      verb = mayChange ? Message("Turn on TOTP…") : Message("View policy")
    case .weakened(let weakened):
      sentence = weakened.sentence(times)
      href = policy
      verb = Message("Review policy")
    case .phonesWhileOff(let users):
      sentence = Message(
        one: "SMS codes are off: {count} user with a phone isn’t asked for codes.",
        other: "SMS codes are off: {count} users with a phone aren’t asked for codes.",
        ["count": .number(users)])
      href = policy
      verb = mayChange ? Message("Change policy") : Message("View policy")
    }
  }

  static let keys: Keys<Self> = [
    .text(\.name),
    .text(\.project),
    .text(\.overview),
    .text(\.sentence),
    .text(\.href),
    .text(\.verb),
  ]
}

/// Links that open the review page of a change directly, without the form.
enum PolicyLinks {
  static func turnOn(_ policy: String) -> String { policy + "?change=on" }
  static func likeProject(_ policy: String) -> String { policy + "?change=project" }
}
