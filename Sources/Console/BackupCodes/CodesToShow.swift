import Identity
import Synchronization

/// Generated codes that the next page shows once.
///
/// Codes are held in memory by session and user for up to two minutes. Showing a code removes it,
/// so reloading the page doesn't show it again. After a restart, a new code must be generated.
final class CodesToShow: Sendable {
  private struct Waiting {
    let code: TemporaryCode
    let until: Instant
  }

  private static let lifetime: Int64 = 120
  private static let most = 1_000
  private let waiting = Mutex<[String: Waiting]>([:])

  func keep(
    _ code: TemporaryCode, for session: ConsoleSession, _ user: ID<Account>, in scope: Scope,
    at now: Instant
  ) {
    waiting.withLock { waiting in
      waiting = waiting.filter { $0.value.until > now }
      if waiting.count >= Self.most { waiting.removeAll() }
      waiting[Self.key(session, user, scope)] = Waiting(
        code: code, until: now.advanced(bySeconds: Self.lifetime))
    }
  }

  /// Returns the waiting code and removes it; nil if there's none or it has expired.
  func take(
    for session: ConsoleSession, _ user: ID<Account>, in scope: Scope, at now: Instant
  ) -> TemporaryCode? {
    let found = waiting.withLock { $0.removeValue(forKey: Self.key(session, user, scope)) }
    guard let found, found.until > now else { return nil }
    return found.code
  }

  private static func key(_ session: ConsoleSession, _ user: ID<Account>, _ scope: Scope) -> String
  {
    "\(session.csrfToken) \(scope.key) \(user.text)"
  }
}
