import HTTP
import Identity

enum CodeAttemptsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let codeAttempts = CodeAttemptsPage(
      identity: identity, frames: frames,
      view: try parts.template("code-attempts/all", for: CodeAttemptsView.self))
    table.inPool(.get, ConsolePaths.codeAttempts, .findUsers, codeAttempts.show)
    table.inPool(
      ConsolePaths.codeAttemptsFile, performing: [.exportUsers],
      CodeAttemptsFile(identity: identity, actions: parts.actions).download)
  }
}
