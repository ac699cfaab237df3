import HTTP
import Identity

enum UserDataRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    table.inPool(
      ConsolePaths.userData, performing: ExportUserData(identity: parts.identity), parts.actions)
    table.inPool(
      ConsolePaths.erasure, performing: EraseUser(identity: parts.identity), parts.actions)
    table.inPool(
      ConsolePaths.deletedUserErasure,
      performing: EraseDeletedUser(userData: parts.identity.userData), parts.actions)
  }
}
