import HTTP
import Identity

enum UserDataRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    table.inScope(
      ConsolePaths.userData, performing: ExportUserData(identity: parts.identity), parts.actions)
    table.inScope(
      ConsolePaths.erasure, performing: EraseUser(identity: parts.identity), parts.actions)
    let deleted = EraseDeletedUserPage(
      userData: parts.identity.userData, actions: parts.actions,
      view: try parts.template("user-data/erase-deleted", for: EraseDeletedUserView.self))
    table.inScope(.get, ConsolePaths.deletedUserErasure, .changeUsers, deleted.ask)
    table.inScope(
      ConsolePaths.deletedUserErasure, performing: [.eraseDeletedUser], deleted.erase)
  }
}
