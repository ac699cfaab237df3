import HTTP
import Identity
import Localization

/// The addresses of users and the actions on them.
extension ConsolePaths {
  static let usersFile = ScopePath(
    Path("projects", nil, "users.csv", parameters: String.self),
    Path("projects", nil, "tenants", nil, "users.csv", parameters: String.self, String.self))
  // Not below `users`, because a UID can be any word.
  static let newUser = ScopePath(
    Path("projects", nil, "new-user", parameters: String.self),
    Path("projects", nil, "tenants", nil, "new-user", parameters: String.self, String.self))
  static let verification = ScopePath(
    Path("projects", nil, "users", nil, "verification", parameters: String.self, String.self),
    Path(
      "projects", nil, "tenants", nil, "users", nil, "verification",
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
  static let undo = ScopePath(
    Path(
      "projects", nil, "users", nil, "removals", nil, "undo",
      parameters: String.self, String.self, String.self),
    Path(
      "projects", nil, "tenants", nil, "users", nil, "removals", nil, "undo",
      parameters: String.self, String.self, String.self, String.self))
  static let purge = ScopePath(
    Path(
      "projects", nil, "users", nil, "removals", nil, "purge",
      parameters: String.self, String.self, String.self),
    Path(
      "projects", nil, "tenants", nil, "users", nil, "removals", nil, "purge",
      parameters: String.self, String.self, String.self, String.self))
  static let suspension = ScopePath(
    Path(
      "projects", nil, "users", nil, "factors", nil, "suspension",
      parameters: String.self, String.self, String.self),
    Path(
      "projects", nil, "tenants", nil, "users", nil, "factors", nil, "suspension",
      parameters: String.self, String.self, String.self, String.self))
  static let endOfSuspension = ScopePath(
    Path(
      "projects", nil, "users", nil, "factors", nil, "suspension", "end",
      parameters: String.self, String.self, String.self),
    Path(
      "projects", nil, "tenants", nil, "users", nil, "factors", nil, "suspension", "end",
      parameters: String.self, String.self, String.self, String.self))
  static let supportRules = ScopePath(
    Path("projects", nil, "settings", "support", parameters: String.self),
    Path(
      "projects", nil, "tenants", nil, "settings", "support", parameters: String.self, String.self))
  static let unblockAgent = ScopePath(
    Path("projects", nil, "support", "blocked-agents", nil, parameters: String.self, String.self),
    Path(
      "projects", nil, "tenants", nil, "support", "blocked-agents", nil,
      parameters: String.self, String.self, String.self))
  static let stepUp = Path("administrators", "step-up")
  static let unlock = about("unlock")
  static let callerCode = about("caller-code")
  static let bounces = about("bounces")
  static let workingAddress = about("working-address")
  static let codeAttempts = about("code-attempts")
  static let codeAttemptsFile = about("code-attempts.csv")
  static let newNote = ScopePath(
    Path("projects", nil, "users", nil, "notes", "new", parameters: String.self, String.self),
    Path(
      "projects", nil, "tenants", nil, "users", nil, "notes", "new",
      parameters: String.self, String.self, String.self))
  static let noteRemoval = ScopePath(
    Path(
      "projects", nil, "users", nil, "notes", nil, "removal",
      parameters: String.self, String.self, String.self),
    Path(
      "projects", nil, "tenants", nil, "users", nil, "notes", nil, "removal",
      parameters: String.self, String.self, String.self, String.self))
  static let userData = about("data")
  static let erasure = about("erasure")
  static let deletedUserErasure = ScopePath(
    Path("projects", nil, "erasure", parameters: String.self),
    Path("projects", nil, "tenants", nil, "erasure", parameters: String.self, String.self))
  static let protection = about("protection")
  static let allowedChanges = about("allowed-changes")
  static let disabling = about("disabling")
  static let enabling = about("enabling")
  static let factorName = ScopePath(
    Path(
      "projects", nil, "users", nil, "factors", nil, "name",
      parameters: String.self, String.self, String.self),
    Path(
      "projects", nil, "tenants", nil, "users", nil, "factors", nil, "name",
      parameters: String.self, String.self, String.self, String.self))
}

extension ConsolePaths {
  /// Returns the path of a page about one user, by its last component.
  private static func about(_ word: PathComponent) -> ScopePath1 {
    ScopePath(
      Path("projects", nil, "users", nil, word, parameters: String.self, String.self),
      Path(
        "projects", nil, "tenants", nil, "users", nil, word,
        parameters: String.self, String.self, String.self))
  }
}

extension Link {
  /// Returns the breadcrumbs of a page about one user: the list and the user.
  static func crumbs(to account: Account, in scope: Scope) -> [Link] {
    [
      Link(text: Message("common.users"), href: ConsolePaths.users(scope)),
      Link(text: Formatted.short(account.label), href: ConsolePaths.user(scope, account.id.text)),
    ]
  }
}
