import HTTP
import Identity

enum BackupCodesRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, forms) = (parts.identity, parts.actions)
    let shown = TemporaryCodePage(
      identity: identity, frames: parts.frames,
      view: try parts.template("backup-codes/temporary-code", for: TemporaryCodeView.self))
    table.inPool(
      ConsolePaths.temporaryCode, performing: CreateTemporaryCode(identity: identity), forms)
    table.inPool(.get, ConsolePaths.shownCode, .removeFactors, shown.show)
    table.inPool(
      ConsolePaths.temporaryCodeRemoval, performing: RevokeTemporaryCode(identity: identity), forms)
    table.inPool(
      ConsolePaths.recoveryCodesRemoval, performing: RevokeRecoveryCodes(identity: identity), forms)
  }
}
