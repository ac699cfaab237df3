import HTTP
import Identity
import Synchronization

/// What an action did, kept until the page after it is shown.
///
/// It waits here, by session, and not in a cookie or an address: so nobody can write a sentence
/// into somebody's page. A restart forgets what waits, which is a sentence and not the deed.
final class Flashes: Sendable {
  private struct Waiting {
    let flash: Flash
    let since: Instant
  }

  private static let lifetime: Int64 = 300
  private static let most = 10_000
  private let waiting = Mutex<[UntrustedText: Waiting]>([:])

  /// Keeps a sentence for the session's next page.
  func leave(_ flash: Flash, for session: ConsoleSession, at now: Instant) {
    waiting.withLock { waiting in
      if waiting.count >= Self.most {
        waiting = waiting.filter { Self.isFresh($0.value, at: now) }
        if waiting.count >= Self.most { waiting.removeAll() }
      }
      waiting[UntrustedText(session.csrfToken)] = Waiting(flash: flash, since: now)
    }
  }

  /// Takes what waits for the session.
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
