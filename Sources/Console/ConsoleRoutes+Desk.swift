import HTTP
import Identity

extension ConsoleRoutes {
  /// The pages on which somebody acts on a user's account.
  static func addDesk(to table: inout RouteTable, _ identity: Identity, _ pages: DeskPages) {
    let removal = RemovalPage(unenrolments: identity.unenrolments, pages: pages)
    table.inScope(.get, ConsolePaths.removal, .removeFactors, removal.ask)
    table.inScope(.post, ConsolePaths.removal, .removeFactors, removal.remove)
    table.inScope(.get, ConsolePaths.removalOfAll, .removeFactors, removal.askForAll)
    table.inScope(.post, ConsolePaths.removalOfAll, .removeFactors, removal.removeAll)
  }
}
