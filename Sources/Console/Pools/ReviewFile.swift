import Identity
import Localization
import OTP
import Templating

/// The policy review as a CSV file.
///
/// The names of its columns and all its values are the same in every language, for programs that
/// read it.
struct ReviewFile {
  private(set) var csv = CSV(Self.pool + Self.values + Self.review)
  private static let pool = ["project", "tenant", "name"]
  /// The columns of its policy and users, which are empty for a deleted pool.
  private static let values = [
    "TOTP", "adjacent intervals", "codes accepted", "SMS", "enrollment pattern", "mandatory from",
    "server enforcement", "enforced from", "grace days", "users", "enrolled", "enrolled %",
    "exemptions", "code attempts", "rejected", "last change", "changed by", "reason", "differs in",
    "address", "effective",
  ]
  private static let review = [
    "sign-off", "reviewer", "signed off", "due", "since sign-off", "changes complete",
  ]
  let publicURL: PublicURL
  let now: Instant

  /// `base` is the project's policy to compare with; it and `review` are nil for administrators who
  /// can't read it.
  ///
  /// `attempts` are those of the last ``PoolTables/days`` days.
  mutating func add(
    _ summary: PolicySummary, in project: ID<Project>, base: PolicyInForce?,
    review: ReviewSummary?, exemptions: Int, attempts: AttemptCounts
  ) {
    let (configuration, enforcement) = (summary.edit.configuration, summary.edit.enforcement)
    let path = ConsolePaths.policy(project, summary.tenant)
    let differences =
      base.map { summary.inForce.differences(from: $0, on: Day(now)).map(\.rawValue) } ?? []
    let window =
      configuration.totp?.intervals == .unsaid
      ? AdjacentIntervals.unsaidText
      : configuration.totp?.adjacentIntervals.map { String($0) } ?? "default"
    let sms = configuration.isSMSOn ? "on" : "off"
    let values: [String] = [
      project.text, summary.tenant?.text ?? "", summary.displayName,
      Self.name(configuration.totp?.state), window,
      configuration.isWindowUnsaid ? "" : String(configuration.accepted?.codes ?? 0), sms,
      summary.edit.pattern?.rawValue ?? "", summary.edit.mandatoryFrom?.description ?? "",
      enforcement?.mode.rawValue ?? "off", enforcement?.from.description ?? "",
      enforcement.map { String($0.graceDays) } ?? "",
      String(summary.users), String(summary.enrolledUsers),
      summary.users == 0
        ? "" : String(Meter.rounded(summary.enrolledUsers, of: summary.users)),
      String(exemptions), String(attempts.all), String(attempts.rejected),
      summary.changedAt?.rfc3339Milliseconds ?? "", summary.changedBy ?? "",
      summary.changeReason ?? "",
      differences.joined(separator: ", "), publicURL.origin + path,
      Self.effective(summary.edit, at: now),
    ]
    csv.add(values + Self.review(review, of: summary.tenant))
  }

  /// Adds the pools of a project that were deleted since the last sign-off, which have no values.
  mutating func addDeletedPools(of project: ID<Project>, _ review: ReviewSummary) {
    for pool in review.changes?.pools ?? [] where pool.kind == .deleted {
      csv.add(
        [project.text, pool.tenant?.text ?? "", pool.name]
          + Array(repeating: "", count: Self.values.count)
          + Self.review(review, of: pool.tenant))
    }
  }

  /// The values of the columns of the last sign-off, as ``review`` has them.
  private static func review(_ review: ReviewSummary?, of tenant: ID<Tenant>?) -> [String] {
    guard let review else { return Array(repeating: "", count: Self.review.count) }
    let signOff = review.status.signOff
    return [
      name(review.state(of: tenant)), signOff?.reviewerName ?? "",
      signOff?.signedAt.rfc3339Milliseconds ?? "", signOff?.dueOn.description ?? "",
      review.change(of: tenant).map(name) ?? "",
      review.changes.map { $0.isComplete ? "yes" : "no" } ?? "",
    ]
  }

  /// What has changed since the sign-off: the names of the fields, or what happened to the pool.
  private static func name(_ pool: PolicySetChanges.PoolChange) -> String {
    switch pool.kind {
    case .created: "created"
    case .deleted: "deleted"
    case .changed(nil): "unknown"
    case .changed([]): "undone"
    case .changed(let fields?): fields.map(\.field.rawValue).joined(separator: ", ")
    }
  }

  /// Who asks users to enroll: nobody, the application, or the server too; `none` if not even codes are
  /// required.
  private static func effective(_ edit: PolicyEdit, at now: Instant) -> String {
    guard edit.configuration.isTOTPOn || edit.configuration.isSMSOn else { return "none" }
    // The file doesn't say how the server enforces, which depends on email.
    return switch EffectiveMFA.enforcer(of: edit, carriesMail: true, at: now) {
    case .nobody: "codes"
    case .application: "application"
    case .server: "server"
    }
  }

  /// The TOTP state; `unset` is treated as enabled.
  private static func name(_ state: MFAState?) -> String {
    switch state {
    case .disabled, nil: "off"
    case .enabled: "on"
    case .mandatory: "mandatory"
    case .unspecified: "unset"
    }
  }

  private static func name(_ state: ReviewStatus.State) -> String {
    switch state {
    case .never: "never"
    case .changed(isOverdue: false): "changed"
    case .changed(isOverdue: true): "changed, overdue"
    case .overdue: "overdue"
    case .current: "reviewed"
    }
  }
}

/// A table of how policies differ from those of a sign-off or of an earlier page.
struct PolicyDifferences: ViewModel {
  let changes: PolicySetChanges
  let project: ID<Project>
  let caption: Message

  /// The maximum number of pools in the table.
  private static let most = 100

  static func sinceSignOff(_ changes: PolicySetChanges?, of project: ID<Project>) -> Self? {
    changes.map {
      Self(changes: $0, project: project, caption: Message("Changes since the last sign-off"))
    }
  }

  private var rows: [PolicyDifference] {
    changes.pools.prefix(Self.most).flatMap { PolicyDifference.all($0, of: project) }
  }

  private var incomplete: Message? {
    if changes.isCut {
      return Message(
        """
        More policies have changed than this page compares. The evidence file and the CSV file \
        include every change.
        """)
    }
    return changes.isComplete
      ? nil
      : Message("There may be more changes: the audit log doesn’t include all of them.")
  }

  static let keys: Keys<Self> = [
    .text(\.caption),
    .list("rows") { $0.rows },
    .text("more") { view in
      let count = view.changes.pools.count - most
      return count > 0
        ? Message(
          one: "{count} more user pool has changed.",
          other: "{count} more user pools have changed.", ["count": .number(count)]) : nil
    },
    .text("incomplete") { $0.incomplete },
  ]
}

/// A pool that was created or deleted, or a field of its policy that was changed.
private struct PolicyDifference: ViewModel {
  let pool: PolicySetChanges.PoolChange
  let policy: String?
  let what: Message
  var from: Message?
  var to: Message?

  static func all(_ pool: PolicySetChanges.PoolChange, of project: ID<Project>) -> [Self] {
    let policy = ConsolePaths.policy(project, pool.tenant)
    switch pool.kind {
    case .created:
      return [Self(pool: pool, policy: policy, what: Message("Tenant created"))]
    case .deleted:
      return [Self(pool: pool, policy: nil, what: Message("Tenant deleted"))]
    case .changed(nil):
      return [
        Self(
          pool: pool, policy: policy,
          what: Message("Policy changed; earlier values not recorded"))
      ]
    case .changed([]):
      return [Self(pool: pool, policy: policy, what: Message("Policy changed, then changed back"))]
    case .changed(let fields?):
      return fields.map {
        Self(pool: pool, policy: policy, what: $0.field.label, from: $0.oldValue, to: $0.newValue)
      }
    }
  }

  static let keys: Keys<Self> = [
    .text("name") { $0.pool.name },
    .text("id") { $0.pool.tenant.map { .verbatim($0.text) } ?? Message("users outside tenants") },
    .text(\.policy),
    .text(\.what),
    .text(\.from),
    .text(\.to),
  ]
}
