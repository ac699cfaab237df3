import HTTP
import Identity

enum AuditRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let audit = AuditPage(
      identity: identity, frames: frames,
      view: try parts.template("audit/audit", for: AuditView.self),
      row: try parts.template("audit/row", for: AuditRowView.self),
      menus: AuditMenus(
        try parts.template("audit/menu", for: AuditMenu.self), frames.catalog))
    table.inPool(.get, ConsolePaths.audit, .readAudit, audit.show)
    table.inPool(.get, ConsolePaths.auditFile, .readAudit, audit.download)
    table.signedIn(.get, ConsolePaths.instanceAudit, .readAudit, audit.showAll)
    table.signedIn(.get, ConsolePaths.instanceAuditFile, .readAudit, audit.downloadAll)

    table.signedIn(
      ConsolePaths.auditRetention, performing: ChangeAuditRetention(chain: identity.auditChain),
      parts.actions)
  }
}

extension ConsolePaths {
  static let audit = PoolPath0("audit")
  static let auditFile = PoolPath0("audit.csv")
  static let instanceAudit = Path("audit")
  static let instanceAuditFile = Path("audit.csv")
  static let auditRetention = Path("audit", "retention")
}
