import Database

/// How many accounts a scope has, and of which kind.
///
/// The numbers are kept with every change, so that reading them costs the same for ten users and a
/// million.
public struct AccountCounts: Hashable, Sendable {
  /// All accounts.
  public var users = 0
  /// Those with a second factor.
  public var enrolledUsers = 0
  /// Those with an authenticator app.
  public var totpUsers = 0
  /// Those with a phone as second factor.
  public var phoneUsers = 0
  /// Those with an email address that is not verified.
  public var unverifiedEmails = 0
  /// Those that may not sign in.
  public var disabled = 0
  /// Those whose codes are not looked at, for a while or until somebody unlocks them.
  public var locked = 0

  init() {}

  /// What one account adds to the counts of its scope.
  init(of account: Account) {
    users = 1
    enrolledUsers = account.factors.isEmpty ? 0 : 1
    totpUsers = account.has(.totp).number
    phoneUsers = account.has(.phone).number
    unverifiedEmails = account.email != nil && !account.emailVerified ? 1 : 0
    disabled = account.disabled ? 1 : 0
    locked = account.codesBlockedUntil == nil ? 0 : 1
  }

  init(_ row: borrowing Row) throws {
    users = try row.value(0)
    enrolledUsers = try row.value(1)
    unverifiedEmails = try row.value(2)
    disabled = try row.value(3)
    totpUsers = try row.value(4)
    phoneUsers = try row.value(5)
    locked = try row.value(6)
  }

  /// Adds to the counts of a scope what an account became, and takes off what it was.
  ///
  /// `users` counts with the number that a new account takes, and `enrolledUsers` with the factors;
  /// this is for what the fields of an account say. Locks count with what locks and unlocks, and here
  /// only when the account goes.
  static func move(
    from old: Account?, to new: Account?, in scope: Scope, _ connection: borrowing Connection
  ) throws {
    let was = old.map(Self.init(of:)) ?? Self()
    let becomes = new.map(Self.init(of:)) ?? Self()
    let unverified = becomes.unverifiedEmails - was.unverifiedEmails
    let disabled = becomes.disabled - was.disabled
    let unlocked = new == nil ? was.locked : 0
    guard unverified != 0 || disabled != 0 || unlocked != 0 else { return }
    try connection.run(
      """
      UPDATE scope SET unverified_users = unverified_users + \(unverified),
        disabled_users = disabled_users + \(disabled), locked_users = locked_users - \(unlocked)
      WHERE scope_key = \(scope.key)
      """)
  }

  /// Sets the counts of a scope whose accounts all go.
  static func clear(_ scope: Scope, _ connection: borrowing Connection) throws {
    try connection.run(
      """
      UPDATE scope SET users = 0, enrolled_users = 0, totp_users = 0, phone_users = 0,
        unverified_users = 0, disabled_users = 0, locked_users = 0
      WHERE scope_key = \(scope.key)
      """)
  }
}

extension Accounts {
  /// How many accounts a scope has, and of which kind.
  ///
  /// - Throws: ``AccountError/unavailable(_:)``.
  public func counts(_ scope: Scope) async throws(AccountError) -> AccountCounts {
    try await store.read(AccountError.self) { connection in
      try connection.first(
        """
        SELECT users, enrolled_users, unverified_users, disabled_users, totp_users, phone_users,
          locked_users
        FROM scope
        WHERE scope_key = \(scope.key)
        """
      ) { try AccountCounts($0) } ?? AccountCounts()
    }
  }
}
