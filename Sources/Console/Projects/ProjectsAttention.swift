import HTTP
import Identity
import Templating

/// The items that need attention in the projects that an administrator can access.
struct ProjectsAttention: ViewModel {
  let warnings: [WarningRow]
  let hasMoreWarnings: Bool
  let differing: [DifferingRow]
  let held: [HeldRow]
  /// The warning that the server's clock isn't trusted; nil while it is.
  let clock: ClockBanner?

  init(
    _ warnings: [ScopeWarning], _ differing: [DifferingTenants], held: [HeldAgent],
    reporting: [ReportingPool], unreadable: [UnreadableSecrets.Group],
    clock: ClockBanner?, _ signedIn: SignedIn, administrator: Administrator
  ) {
    self.clock = clock
    self.warnings =
      unreadable.prefix(ProjectsPage.warnings).map(WarningRow.init)
      + reporting.map(WarningRow.init)
      + warnings.prefix(ProjectsPage.warnings).map {
        WarningRow($0, administrator: administrator, times: signedIn.times)
      }
    hasMoreWarnings = warnings.count > ProjectsPage.warnings
    self.held = held.map { HeldRow(held: $0, signedIn: signedIn) }
    self.differing = differing.map { DifferingRow($0, administrator: administrator) }
  }

  var isEmpty: Bool { warnings.isEmpty && differing.isEmpty && held.isEmpty && clock == nil }

  static let keys: Keys<Self> = [
    .optional("clock") { $0.clock },
    .flag("hasWarnings") { !$0.warnings.isEmpty },
    .list("warnings") { $0.warnings },
    .flag("hasMoreWarnings") { $0.hasMoreWarnings },
    .list("held") { $0.held },
    .flag("hasDiffering") { !$0.differing.isEmpty },
    .list("differing") { $0.differing },
  ]
}

/// A support agent who hit the hourly action limit and has to be unblocked.
struct HeldRow: ViewModel {
  let held: HeldAgent
  let signedIn: SignedIn

  static let keys: Keys<Self> = [
    .text("name") { $0.held.name },
    .text("scope") { $0.held.scope.name },
    .markup("since") { $0.signedIn.times.moment($0.held.since) },
    .text("history") { row in
      guard row.signedIn.administrator.may(.readAudit, in: row.held.scope) else { return nil }
      let query: Form = ["actor": "administrator:\(row.held.agent.text)"]
      return query.query(of: ConsolePaths.audit(row.held.scope))
    },
    .text("release") { ConsolePaths.release($0.held.scope, $0.held.agent.text) },
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
    .text("count") { Words.count($0.differing.count, "tenant differs", "tenants differ") },
    .text("review") {
      (["show": "differs"] as Form).query(of: ConsolePaths.review($0.differing.project.text))
    },
    .list("tenants") { $0.tenants },
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
      row.tenant.fields.map(\.rawValue).joined(separator: ", ")
    },
    .text("back") { row in
      row.mayChange
        ? PolicyLinks.likeProject(
          ConsolePaths.policy.ofTenant(row.project.text, row.tenant.id.text)) : nil
    },
  ]
}

/// A warning about a user pool, with the link to resolve it.
struct WarningRow: ViewModel {
  let name: String
  let project: String?
  let overview: String
  let sentence: String
  let href: String
  let verb: String

  init(_ reporting: ReportingPool) {
    let scope = reporting.scope
    name = scope.name
    project = scope.tenant == nil ? nil : scope.projectName
    overview = ConsolePaths.overview(scope)
    let users = Words.count(reporting.users, "user", "users")
    sentence = "\(users) reported a change to their second factors that they didn’t make."
    href = overview
    verb = "Review reports"
  }

  init(_ unreadable: UnreadableSecrets.Group) {
    name = unreadable.tenant?.text ?? unreadable.project?.text ?? "This instance"
    project = unreadable.tenant == nil ? nil : unreadable.project?.text
    sentence = unreadable.sentence
    href = unreadable.history
    verb = "View audit log"
    if let project = unreadable.project?.text {
      overview =
        unreadable.tenant.map { ConsolePaths.tenant(project, $0.text) }
        ?? ConsolePaths.overview.ofProject(project)
    } else {
      overview = unreadable.history
    }
  }

  init(_ warning: ScopeWarning, administrator: Administrator, times: Times) {
    name = warning.name
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
      sentence = "TOTP state is unset (treated as enabled)."
      href = policy
      verb = mayChange ? "Set to Enabled" : "View policy"
    case .enrolledWhileOff(let users):
      let words = Words.count(users, "user with a factor isn’t", "users with a factor aren’t")
      sentence = "TOTP is off: \(words) asked for codes."
      href = mayChange ? PolicyLinks.turnOn(policy) : policy
      verb = mayChange ? "Turn on TOTP…" : "View policy"
    case .weakened(let weakened):
      sentence = weakened.sentence(times)
      href = policy
      verb = "Review policy"
    case .phonesWhileOff(let users):
      let words = Words.count(users, "user with a phone isn’t", "users with a phone aren’t")
      sentence = "SMS codes are off: \(words) asked for codes."
      href = policy
      verb = mayChange ? "Change policy" : "View policy"
    }
  }

  static let keys: Keys<Self> = [
    .text("name") { $0.name },
    .text("project") { $0.project },
    .text("overview") { $0.overview },
    .text("sentence") { $0.sentence },
    .text("href") { $0.href },
    .text("verb") { $0.verb },
  ]
}

/// Links that open the review page of a change directly, without the form.
enum PolicyLinks {
  /// The link that turns on TOTP.
  static func turnOn(_ policy: String) -> String { policy + "?change=on" }
  /// The link that copies the project's policy to a tenant.
  static func likeProject(_ policy: String) -> String { policy + "?change=project" }
}
