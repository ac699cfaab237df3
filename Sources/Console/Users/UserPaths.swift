import HTTP
import Identity
import Localization

extension ConsolePaths {
  static let users = PoolPath0("users")
  static let user = PoolPath1("users", nil)
  static let findUsers = Path("users")
  static let usersFile = PoolPath0("users.csv")
  // Not below `users`, because a UID can be any word.
  static let newUser = PoolPath0("new-user")
  static let verification = PoolPath1("users", nil, "verification")
  static let endOfSessions = PoolPath1("users", nil, "sessions", "end")
  static let deletion = PoolPath1("users", nil, "deletion")
  static let removalOfAll = PoolPath1("users", nil, "factors", "removal")
  static let undo = PoolPath2("users", nil, "removals", nil, "undo")
  static let purge = PoolPath2("users", nil, "removals", nil, "purge")
  static let suspension = PoolPath2("users", nil, "factors", nil, "suspension")
  static let endOfSuspension = PoolPath2("users", nil, "factors", nil, "suspension", "end")
  static let supportRules = PoolPath0("settings", "support")
  static let unblockAgent = PoolPath1("support", "blocked-agents", nil)
  static let stepUp = Path("administrators", "step-up")
  static let unlock = PoolPath1("users", nil, "unlock")
  static let callerCode = PoolPath1("users", nil, "caller-code")
  static let codeAttempts = PoolPath1("users", nil, "code-attempts")
  static let codeAttemptsFile = PoolPath1("users", nil, "code-attempts.csv")
  static let userData = PoolPath1("users", nil, "data")
  static let erasure = PoolPath1("users", nil, "erasure")
  static let deletedUserErasure = PoolPath0("erasure")
  static let protection = PoolPath1("users", nil, "protection")
  static let allowedChanges = PoolPath1("users", nil, "allowed-changes")
  static let disabling = PoolPath1("users", nil, "disabling")
  static let enabling = PoolPath1("users", nil, "enabling")
  static let factorName = PoolPath2("users", nil, "factors", nil, "name")
}

extension ConsolePaths {
}

extension Link {
  static func crumbs(to account: Account, in pool: Pool) -> [Link] {
    [
      Link(text: Message("Users"), href: ConsolePaths.users(pool)),
      Link(text: Formatted.short(account.label), href: ConsolePaths.user(pool, account.id.text)),
    ]
  }
}
