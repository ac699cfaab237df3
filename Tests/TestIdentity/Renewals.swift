import Database

@testable import Identity

extension Sessions {
  /// Begins a new session for a user whose previous session has ended, as changed credentials do.
  func renew(_ old: UserSession) async throws -> SessionGrant {
    let now = store.clock.now()
    let random = store.random
    return try await store.write { connection in
      guard let account = try AccountRecord.find(old.pool, old.account, connection)
      else { throw SessionError.userNotFound }
      guard !account.disabled else { throw SessionError.userDisabled }
      return try Self.renew(
        old, from: account, to: account, with: .continuation(of: old), at: now, random: random,
        connection)
    }
  }
}
