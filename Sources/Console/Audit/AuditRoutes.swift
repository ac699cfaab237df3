import HTTP
import Identity

/// The audit log.
enum AuditRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let audit = AuditPage(
      audit: identity.audit, frames: frames,
      view: try parts.template("audit/audit", for: AuditView.self),
      row: try parts.template("audit/row", for: AuditRowView.self),
      menus: AuditMenus(
        try parts.template("audit/menu", for: AuditMenu.self), frames.catalog))
    table.inScope(.get, ConsolePaths.audit, .readAudit, audit.show)
    table.inScope(.get, ConsolePaths.auditFile, .readAudit, audit.download)
    table.signedIn(.get, ConsolePaths.instanceAudit, .readAudit, audit.showAll)
    table.signedIn(.get, ConsolePaths.instanceAuditFile, .readAudit, audit.downloadAll)
  }
}
