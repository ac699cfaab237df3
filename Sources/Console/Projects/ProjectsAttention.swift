import HTTP
import Identity
import Localization
import Templating

/// What needs attention in all projects that an administrator can access: worst first, then newest.
struct ProjectsAttention: ViewModel {
  /// The number of items that are shown at first.
  private static let most = 5
  private static let field = "attention"

  let shown: [AttentionItem]
  let count: Int
  /// The number of items of each project.
  let counts: [ID<Project>: Int]
  /// Whether there may be more items than were read.
  let isCut: Bool

  init(_ facts: Facts, clock: ClockBanner?, _ signedIn: SignedIn) {
    let items = AttentionItem.all(facts, clock: clock, signedIn).enumerated().sorted {
      ($0.element, $0.offset) < ($1.element, $1.offset)
    }.map(\.element)
    count = items.count
    counts = items.reduce(into: [:]) { counts, item in
      if let project = item.projectID { counts[project, default: 0] += 1 }
    }
    isCut = facts.isCut
    let showsAll = signedIn.query.trimmed(Self.field) == "all"
    shown = showsAll ? items : Array(items.prefix(Self.most))
  }

  var isEmpty: Bool { shown.isEmpty }

  static let all = ([field: "all"] as Form).query(of: ConsolePaths.projects()) + "#attention"

  private var summary: Message? {
    guard count > shown.count || isCut else { return nil }
    return isCut
      ? Message(
        "Showing {shown} of {all} or more.",
        ["shown": .number(shown.count), "all": .number(count)])
      : Message(
        "Showing {shown} of {all}.", ["shown": .number(shown.count), "all": .number(count)])
  }

  static let keys: Keys<Self> = [
    .list("items") { $0.shown },
    .text("summary") { $0.summary },
    .text("viewAll") { $0.count > $0.shown.count ? all : nil },
  ]
}

extension ProjectsAttention {
  struct Facts: Sendable {
    let warnings: [PoolWarning]
    let alerts: [Alert]
    let reporting: [ReportingPool]
    let unreadable: [UnreadableSecrets.Group]
    /// The projects with tenants whose policies differ.
    let differing: [DifferingTenants]
    let overdue: [(signOff: SignOff, projectName: String)]
    let unreviewed: [(id: ID<Project>, name: String)]
    let drifting: [DriftingPool]
    /// The pools in the policy file that don't exist.
    let missing: [String]
    let policyFile: PolicyFileStatus
    let damage: IntegrityChecks.Result?
    let breakGlass: BreakGlassAlert?
    let held: [HeldAgent]

    /// The maximum number of items of each kind, from which the worst are shown.
    private static let counted = 100

    /// Whether there may be more items of a kind.
    var isCut: Bool {
      [
        warnings.count, alerts.count, reporting.count, differing.count, overdue.count,
        unreviewed.count,
      ].contains { $0 >= Self.counted }
    }

    /// Whether a policy that was weakened, which is an item itself, is why users aren't asked for codes.
    func isWeakening(_ warning: PoolWarning) -> Bool {
      guard case .enrolledWhileOff = warning.reason else { return false }
      return warnings.contains { other in
        guard case .weakened(let policy) = other.reason else { return false }
        return (other.project, other.tenant) == (warning.project, warning.tenant)
          && policy.weakenings.contains(.factorDisabled(.totp))
      }
    }

    /// What's wrong with the policy file; nil for readers of no policy.
    func fileWarning(_ administrator: Administrator) -> Message? {
      guard administrator.maySomewhere(.changePolicy) || administrator.maySomewhere(.signOffReview)
      else { return nil }
      return policyFile.warning ?? PolicyFileText.warning(missing: missing)
    }

    /// Reads what an administrator can see; `page` has the projects on the page.
    init(
      _ identity: Identity, _ page: [ProjectSummary], _ administrator: Administrator
    ) async throws {
      warnings = try await identity.pools.warnings(visibleTo: administrator, limit: Self.counted)
      alerts = try await identity.alerts.ongoing(visibleTo: administrator, limit: Self.counted)
      reporting = try await identity.reportedChanges.pools(
        visibleTo: administrator, limit: Self.counted)
      unreadable = try await identity.unreadableSecrets.groups(visibleTo: administrator)
      let projects = try await identity.pools.projects(
        visibleTo: administrator, onlyDiffering: true, limit: Self.counted)
      differing = try await identity.policies.differing(
        in: projects.items, visibleTo: administrator)
      overdue = try await identity.reviews.overdue(visibleTo: administrator, limit: Self.counted)
      unreviewed = try await identity.reviews.neverSignedOff(
        visibleTo: administrator, limit: Self.counted)
      drifting = try await identity.policies.drifting(in: page, visibleTo: administrator)
      missing = try await identity.policies.missingFilePools(in: page, visibleTo: administrator)
      policyFile = identity.policies.fileStatus
      damage = try await identity.integrityChecks.damage(visibleTo: administrator)
      breakGlass =
        administrator.may(.manageAdministrators, in: nil)
        ? try await identity.alerts.breakGlass() : nil
      held = try await Self.held(identity, administrator)
    }

    /// The blocked agents whom this administrator can unblock.
    private static func held(
      _ identity: Identity, _ administrator: Administrator
    ) async throws -> [HeldAgent] {
      guard administrator.maySomewhere(.protectUsers) else { return [] }
      let all = try await identity.support.held()
      return all.filter {
        administrator.may(.protectUsers, in: $0.pool) && $0.agent != administrator.id
      }
    }
  }
}

extension ProjectRow.Status {
  /// The status of each project that needs attention or has exempt users.
  static func all(
    _ attention: ProjectsAttention, _ exemptions: [Exemption]
  ) -> [ID<Project>: Self] {
    var statuses = attention.counts.mapValues { Self(items: $0) }
    for exemption in exemptions where exemption.tenant == nil && !exemption.hasFactor {
      statuses[exemption.project, default: Self()].exempt += 1
    }
    return statuses
  }
}

/// Links that open the review page of a change directly, without the form.
enum PolicyLinks {
  static func turnOn(_ policy: String) -> String { policy + "?change=on" }
  static func likeProject(_ policy: String) -> String { policy + "?change=project" }
}
