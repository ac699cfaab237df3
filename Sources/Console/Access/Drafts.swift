import HTTP
import Identity
import Synchronization
import Text

/// Stores forms that were submitted after their session expired, until the same administrator has
/// signed in again in the same browser.
///
/// They're kept in memory on the server, without secrets. A restart discards them; their actions
/// were never performed.
final class Drafts: Sendable {
  /// A submitted form.
  struct Draft: Sendable {
    /// The path that the form was submitted to.
    let path: String
    /// The fields, without tokens, passwords, and codes.
    let answers: [Form.Entry]
    /// Whether secret fields were left out and have to be entered again.
    let lacksSecrets: Bool
    fileprivate let administrator: ID<Administrator>
    fileprivate let since: Instant
    fileprivate let size: Int
  }

  private static let lifetime: Int64 = 600
  private static let largest = 256 * 1_024
  private static let room = 8 * 1_024 * 1_024
  private let waiting = Mutex<[UntrustedText: Draft]>([:])

  /// Stores a form for the browser with a form token.
  ///
  /// - Returns: False if the form is larger than 256 KB, or all stored forms would exceed 8 MB.
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

  /// The form stored for an administrator in a browser; nil if there's none or it's too old.
  func find(for administrator: ID<Administrator>, browser: String?, at now: Instant) -> Draft? {
    guard let browser = browser.map({ UntrustedText($0) }) else { return nil }
    let found = waiting.withLock { $0.isEmpty ? nil : $0[browser] }
    guard let found, Self.isFresh(found, at: now), found.administrator == administrator else {
      return nil
    }
    return found
  }

  /// Deletes a browser's stored form once a form is submitted to the same path.
  ///
  /// Forms submitted to other paths keep it, because setting up a second factor may come first.
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
