import Database

/// The number of accounts in a user pool, by kind.
///
/// The counts are updated with every change, so reading them takes the same time for ten users as
/// for a million.
public struct AccountCounts: Hashable, Sendable {
  /// All accounts.
  public var users = 0
  /// Accounts with a second factor.
  public var enrolledUsers = 0
  /// Accounts with an authenticator app.
  public var totpUsers = 0
  /// Accounts with a phone as a second factor.
  public var phoneUsers = 0
  /// Accounts with an unverified email address.
  public var unverifiedEmails = 0
  /// Disabled accounts.
  public var disabled = 0
  /// Accounts whose codes aren't checked, either temporarily or until an administrator unlocks
  /// them.
  public var locked = 0

  package init() {}

  /// Creates the counts that one account adds to its pool.
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

  /// Updates the pool's counts after a change from `old` to `new`.
  ///
  /// This covers only what an account's fields determine. `users` is updated when a new account
  /// gets its number, `enrolledUsers` when factors change, and locks when an account is locked or
  /// unlocked; this method updates locks only when the account is deleted.
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

  /// Resets the counts of a pool whose accounts are all deleted.
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
  /// Reads the number of accounts in a user pool, by kind.
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
