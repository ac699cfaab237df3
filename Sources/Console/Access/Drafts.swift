import HTTP
import Identity
import Synchronization

/// Forms that were sent when their session had just run out, kept until the same administrator has
/// signed in again in the same browser.
///
/// They wait here and not in the browser, and without what is secret. A restart forgets them, which
/// are answers and not deeds.
final class Drafts: Sendable {
  /// A form as it was sent.
  struct Draft: Sendable {
    /// Where it was sent to.
    let path: String
    /// Its answers, without tokens, passwords and codes.
    let answers: [Form.Entry]
    /// Whether something was left out that has to be typed again.
    let lacksSecrets: Bool
    fileprivate let administrator: ID<Administrator>
    fileprivate let since: Instant
    fileprivate let size: Int
  }

  private static let lifetime: Int64 = 600
  private static let largest = 256 * 1_024
  private static let room = 8 * 1_024 * 1_024
  private let waiting = Mutex<[UntrustedText: Draft]>([:])

  /// Keeps a form for the browser that has a form token.
  ///
  /// - Returns: False when it is too large, or too much waits already.
  func keep(
    _ form: Form, sentTo path: String, by administrator: ID<Administrator>, browser: String,
    at now: Instant
  ) -> Bool {
    let own = form.entries.filter { $0.name != "csrf" }
    let answers = own.filter { !Self.isSecret($0.name) }
    let size = answers.reduce(path.utf8.count) {
      $0 + $1.name.utf8.count + $1.value.utf8.count + 64
    }
    guard size <= Self.largest, !path.hasPrefix("//") else { return false }
    let draft = Draft(
      path: path, answers: answers, lacksSecrets: answers.count < own.count,
      administrator: administrator, since: now, size: size)
    return waiting.withLock { waiting in
      waiting = waiting.filter { Self.isFresh($0.value, at: now) }
      let browser = UntrustedText(browser)
      waiting[browser] = nil
      guard waiting.values.reduce(size, { $0 + $1.size }) <= Self.room else { return false }
      waiting[browser] = draft
      return true
    }
  }

  /// What waits for an administrator in a browser.
  func find(for administrator: ID<Administrator>, browser: String?, at now: Instant) -> Draft? {
    guard let browser = browser.map({ UntrustedText($0) }) else { return nil }
    let found = waiting.withLock { $0.isEmpty ? nil : $0[browser] }
    guard let found, Self.isFresh(found, at: now), found.administrator == administrator else {
      return nil
    }
    return found
  }

  /// Forgets what waits for a browser, when a form is sent where it was sent to.
  ///
  /// Others leave it: the set-up of a second factor may have to come first.
  func forget(sentTo path: String, browser: String?) {
    guard let browser = browser.map({ UntrustedText($0) }) else { return }
    waiting.withLock { waiting in
      if waiting[browser]?.path == path { waiting[browser] = nil }
    }
  }

  private static func isFresh(_ draft: Draft, at now: Instant) -> Bool {
    now < draft.since.advanced(bySeconds: lifetime)
  }

  private static func isSecret(_ name: UntrustedText) -> Bool {
    let name = name.text.lowercased()
    return ["password", "code", "secret", "token", "key", "ticket"].contains { name.contains($0) }
  }
}
