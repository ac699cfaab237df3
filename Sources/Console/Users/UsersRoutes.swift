import HTTP
import Identity

enum UsersRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let users = UsersPage(
      accounts: identity.accounts, exemptions: identity.exemptions, frames: frames,
      cookies: parts.authorizer.cookies,
      view: try parts.template("users/users", for: UsersView.self),
      row: try parts.template("users/row", for: UserRow.self))
    table.inPool(.get, ConsolePaths.users, .findUsers, users.show)
    table.inPool(
      ConsolePaths.usersFile, performing: [.exportUsers],
      UsersFile(identity: identity, actions: parts.actions).download)

    let findUsers = FindUsersPage(
      accounts: identity.accounts, exemptions: identity.exemptions, frames: frames,
      cookies: parts.authorizer.cookies,
      view: try parts.template("users/find", for: FindUsersView.self))
    table.somewhere(.get, ConsolePaths.findUsers, .findUsers, findUsers.show)

    let newUser = NewUserPage(
      accounts: identity.accounts, frames: frames,
      view: try parts.template("users/new", for: NewUserView.self))
    table.inPool(.get, ConsolePaths.newUser, .changeUsers, newUser.show)
    table.inPool(ConsolePaths.newUser, performing: [.createUser], newUser.create)

    let user = UserPage(
      identity: identity, prose: parts.prose, frames: frames,
      view: try parts.template("users/user", for: UserView.self))
    table.inPool(.get, ConsolePaths.user, .findUsers, user.show)
  }
}
