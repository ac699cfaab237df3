import HTTP
import Identity
import Synchronization
import Text

/// Stores flash messages until the session's next page.
///
/// They're kept in memory by session, not in a cookie or an address, so that no one can inject text
/// into another person's page. A restart discards them, but not the actions they report.
final class Flashes: Sendable {
  private struct Waiting {
    let flash: Flash
    let since: Instant
  }

  private static let lifetime: Int64 = 300
  private static let most = 10_000
  private let waiting = Mutex<[UntrustedText: Waiting]>([:])

  /// Stores a flash for the session's next page.
  func leave(_ flash: Flash, for session: ConsoleSession, at now: Instant) {
    waiting.withLock { waiting in
      if waiting.count >= Self.most {
        waiting = waiting.filter { Self.isFresh($0.value, at: now) }
        if waiting.count >= Self.most { waiting.removeAll() }
      }
      waiting[UntrustedText(session.csrfToken)] = Waiting(flash: flash, since: now)
    }
  }

  /// Removes and returns the session's flash; nil if there's none or it's too old.
  func take(for session: ConsoleSession, at now: Instant) -> Flash? {
    let found = waiting.withLock {
      $0.isEmpty ? nil : $0.removeValue(forKey: UntrustedText(session.csrfToken))
    }
    guard let found, Self.isFresh(found, at: now) else { return nil }
    return found.flash
  }

  private static func isFresh(_ waiting: Waiting, at now: Instant) -> Bool {
    waiting.since.advanced(bySeconds: lifetime) > now
  }
}
