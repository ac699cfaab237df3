import HTTP
import Identity
import Localization
import Templating

/// The versions of a scope's policy: who changed what, and when.
struct PolicyVersions: ViewModel {
  let rows: [HistoryRow]
  /// The link to the next older versions.
  let older: String?
  /// The link to the newest versions; nil if these are the newest.
  let newest: String?
  /// The link to compare the policy with another one.
  let comparison: String
  /// The link to the audit log; nil for administrators who can't read it.
  let audit: String?

  init(
    _ page: Page<AuditRow>, after: String?, in context: ScopeContext, times: Times,
    catalog: Catalog
  ) {
    let path = ConsolePaths.policy(context.scope)
    rows = page.items.map { HistoryRow(policy: $0, times, catalog) }
    older = page.next.map { (["after": $0] as Form).query(of: path) + "#versions" }
    newest = after == nil ? nil : path
    comparison = ConsolePaths.comparison(context.scope)
    audit =
      context.may(.readAudit)
      ? (["action": "policy"] as Form).query(of: ConsolePaths.audit(context.scope)) : nil
  }

  static let keys: Keys<Self> = [
    .flag("hasHistory") { !$0.rows.isEmpty },
    .list("history") { $0.rows },
    .text(\.older),
    .text(\.newest),
    .text(\.comparison),
    .text(\.audit),
  ]
}
