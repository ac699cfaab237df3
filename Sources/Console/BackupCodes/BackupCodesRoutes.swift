import HTTP
import Identity

enum BackupCodesRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let pages = parts.support
    let shown = TemporaryCodePage(
      pages: pages,
      view: try parts.template("backup-codes/temporary-code", for: TemporaryCodeView.self))
    table.inScope(ConsolePaths.temporaryCode, performing: CreateTemporaryCode(pages: pages))
    table.inScope(.get, ConsolePaths.shownCode, .removeFactors, shown.show)
    table.inScope(
      ConsolePaths.temporaryCodeRemoval, performing: RevokeTemporaryCode(pages: pages))
    table.inScope(
      ConsolePaths.recoveryCodesRemoval, performing: RevokeRecoveryCodes(pages: pages))
  }
}
