import HTTP
import Identity
import Localization
import MailText
import Templating

/// A table of how policies differ from those of a sign-off or of an earlier page.
struct PolicyDifferences: ViewModel {
  private let changes: PolicySetChanges
  private let project: ID<Project>
  private let caption: Message

  /// The maximum number of pools in the table.
  private static let most = 100

  init(_ changes: PolicySetChanges, of project: ID<Project>, caption: Message) {
    (self.changes, self.project, self.caption) = (changes, project, caption)
  }

  static func sinceSignOff(_ changes: PolicySetChanges?, of project: ID<Project>) -> Self? {
    changes.map { Self($0, of: project, caption: Message("Changes since the last sign-off")) }
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
    .flag("hasRows") { !$0.changes.pools.isEmpty },
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
    let policy =
      pool.tenant.map { ConsolePaths.policy.ofTenant(project.text, $0.text) }
      ?? ConsolePaths.policy.ofProject(project.text)
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
