import HTTP
import Identity

/// The addresses of what one does to users.
extension ConsolePaths {
  static let usersFile = ScopePath(
    Path("projects", nil, "users.csv", parameters: String.self),
    Path("projects", nil, "tenants", nil, "users.csv", parameters: String.self, String.self))
  // Beside the users and not among them: a uid may be any word.
  static let newUser = ScopePath(
    Path("projects", nil, "new-user", parameters: String.self),
    Path("projects", nil, "tenants", nil, "new-user", parameters: String.self, String.self))
  static let verification = ScopePath(
    Path("projects", nil, "users", nil, "verification", parameters: String.self, String.self),
    Path(
      "projects", nil, "tenants", nil, "users", nil, "verification",
      parameters: String.self, String.self, String.self))
  static let userState = ScopePath(
    Path("projects", nil, "users", nil, "state", parameters: String.self, String.self),
    Path(
      "projects", nil, "tenants", nil, "users", nil, "state",
      parameters: String.self, String.self, String.self))
  static let endOfSessions = ScopePath(
    Path("projects", nil, "users", nil, "sessions", "end", parameters: String.self, String.self),
    Path(
      "projects", nil, "tenants", nil, "users", nil, "sessions", "end",
      parameters: String.self, String.self, String.self))
  static let deletion = ScopePath(
    Path("projects", nil, "users", nil, "deletion", parameters: String.self, String.self),
    Path(
      "projects", nil, "tenants", nil, "users", nil, "deletion",
      parameters: String.self, String.self, String.self))
  static let removalOfAll = ScopePath(
    Path("projects", nil, "users", nil, "factors", "removal", parameters: String.self, String.self),
    Path(
      "projects", nil, "tenants", nil, "users", nil, "factors", "removal",
      parameters: String.self, String.self, String.self))
  static let factorName = ScopePath(
    Path(
      "projects", nil, "users", nil, "factors", nil, "name",
      parameters: String.self, String.self, String.self),
    Path(
      "projects", nil, "tenants", nil, "users", nil, "factors", nil, "name",
      parameters: String.self, String.self, String.self, String.self))
}

extension Link {
  /// The way back from a page about one user: the list, and the user.
  static func crumbs(to account: Account, in scope: Scope) -> [Link] {
    [
      Link(text: "Users", href: ConsolePaths.users(scope)),
      Link(text: Words.short(account.label), href: ConsolePaths.user(scope, account.id.text)),
    ]
  }
}
