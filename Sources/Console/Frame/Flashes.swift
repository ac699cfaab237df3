import HTTP
import Identity
import Synchronization
import Text

/// Stores flash messages until the session's next page, and what was typed in the form on it.
///
/// They're kept in memory by session, not in a cookie or an address, so that no one can inject text
/// into another person's page. A restart discards them, but not the actions they report.
final class Flashes: Sendable {
  private struct Waiting {
    let flash: Flash
    let since: Instant
    /// The fields of the form at an address, as typed.
    var form: (address: String, fields: Form)?
  }

  private static let lifetime: Int64 = 300
  private static let most = 10_000
  /// The maximum length of a form's fields, in bytes.
  private static let longestForm = 16 << 10
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

  /// Keeps the fields of a form for the page that shows the session's flash, without secrets.
  func keep(_ form: Form, of address: String, for session: ConsoleSession) {
    let left = ["csrf", "return", "code", "caller-code"]
    let typed = form.entries.filter { !left.contains($0.name.text) }
    let length = typed.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    guard length <= Self.longestForm else { return }
    waiting.withLock { waiting in
      waiting[UntrustedText(session.csrfToken)]?.form = (address, Form(typed))
    }
  }

  /// Returns the fields of the form at an address; nil if none were kept.
  func form(of address: String, for session: ConsoleSession, at now: Instant) -> Form? {
    let found = waiting.withLock { $0.isEmpty ? nil : $0[UntrustedText(session.csrfToken)] }
    guard let found, Self.isFresh(found, at: now), found.form?.address == address else {
      return nil
    }
    return found.form?.fields
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
