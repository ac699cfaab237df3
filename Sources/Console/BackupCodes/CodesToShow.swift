import Identity
import Synchronization

/// Codes that were made and are shown by the page after.
///
/// They wait here, by session and user, until that page takes them: reloading it shows nothing. A
/// restart forgets what waits, and then a new code is made.
final class CodesToShow: Sendable {
  private struct Waiting {
    let code: TemporaryCode
    let until: Instant
  }

  private static let lifetime: Int64 = 120
  private static let most = 1_000
  private let waiting = Mutex<[String: Waiting]>([:])

  func keep(
    _ code: TemporaryCode, for session: ConsoleSession, _ account: Account, in scope: Scope,
    at now: Instant
  ) {
    waiting.withLock { waiting in
      waiting = waiting.filter { $0.value.until > now }
      if waiting.count >= Self.most { waiting.removeAll() }
      waiting[Self.key(session, account, scope)] = Waiting(
        code: code, until: now.advanced(bySeconds: Self.lifetime))
    }
  }

  /// Takes what waits.
  func take(
    for session: ConsoleSession, _ account: Account, in scope: Scope, at now: Instant
  ) -> TemporaryCode? {
    let found = waiting.withLock { $0.removeValue(forKey: Self.key(session, account, scope)) }
    guard let found, found.until > now else { return nil }
    return found.code
  }

  private static func key(_ session: ConsoleSession, _ account: Account, _ scope: Scope) -> String {
    "\(session.csrfToken) \(scope.key) \(account.id.text)"
  }
}
