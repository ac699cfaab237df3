import HTTP
import Identity
import Localization
import Templating

struct PolicyVersions: ViewModel {
  let rows: [HistoryRow]
  let older: String?
  let newest: String?
  let comparison: String
  let audit: String?

  init(
    _ page: Page<AuditRow>, after: String?, in context: PoolContext, times: Times,
    catalog: Catalog
  ) {
    let path = ConsolePaths.policy(context.pool)
    rows = page.items.map { HistoryRow(policy: $0, times, catalog) }
    older = page.next.map { (["after": $0] as Form).query(of: path) + "#versions" }
    newest = after == nil ? nil : path
    comparison = ConsolePaths.comparison(context.pool)
    audit =
      context.may(.readAudit)
      ? (["action": "policy"] as Form).query(of: ConsolePaths.audit(context.pool)) : nil
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
