import HTTP
import Identity
import Localization

extension ConsolePaths {
  static let users = ScopePath0("users")
  static let user = ScopePath1("users", nil)
  static let findUsers = Path("users")
  static let usersFile = ScopePath0("users.csv")
  // Not below `users`, because a UID can be any word.
  static let newUser = ScopePath0("new-user")
  static let verification = ScopePath1("users", nil, "verification")
  static let endOfSessions = ScopePath1("users", nil, "sessions", "end")
  static let deletion = ScopePath1("users", nil, "deletion")
  static let removalOfAll = ScopePath1("users", nil, "factors", "removal")
  static let undo = ScopePath2("users", nil, "removals", nil, "undo")
  static let purge = ScopePath2("users", nil, "removals", nil, "purge")
  static let suspension = ScopePath2("users", nil, "factors", nil, "suspension")
  static let endOfSuspension = ScopePath2("users", nil, "factors", nil, "suspension", "end")
  static let supportRules = ScopePath0("settings", "support")
  static let unblockAgent = ScopePath1("support", "blocked-agents", nil)
  static let stepUp = Path("administrators", "step-up")
  static let unlock = ScopePath1("users", nil, "unlock")
  static let callerCode = ScopePath1("users", nil, "caller-code")
  static let codeAttempts = ScopePath1("users", nil, "code-attempts")
  static let codeAttemptsFile = ScopePath1("users", nil, "code-attempts.csv")
  static let userData = ScopePath1("users", nil, "data")
  static let erasure = ScopePath1("users", nil, "erasure")
  static let deletedUserErasure = ScopePath0("erasure")
  static let protection = ScopePath1("users", nil, "protection")
  static let allowedChanges = ScopePath1("users", nil, "allowed-changes")
  static let disabling = ScopePath1("users", nil, "disabling")
  static let enabling = ScopePath1("users", nil, "enabling")
  static let factorName = ScopePath2("users", nil, "factors", nil, "name")
}

extension ConsolePaths {
}

extension Link {
  static func crumbs(to account: Account, in scope: Scope) -> [Link] {
    [
      Link(text: Message("Users"), href: ConsolePaths.users(scope)),
      Link(text: Formatted.short(account.label), href: ConsolePaths.user(scope, account.id.text)),
    ]
  }
}
