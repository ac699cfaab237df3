import Synchronization
import Text

/// When keys and tokens were last used, by ID and to the hour.
///
/// A use is noted in memory, and new notes are written about every minute, so that a key used ten
/// thousand times a second costs one write per hour. A crash loses the notes of a minute.
final class LastUses: Sendable {
  private struct Notes {
    /// Hours since 1970.
    var known: [UntrustedText: Int64] = [:]
    var waiting: [UntrustedText: Int64] = [:]
  }

  private let notes = Mutex(Notes())

  func note(_ id: String, at now: Instant) {
    let hour = now.seconds / 3_600
    let id = UntrustedText(id)
    notes.withLock { notes in
      guard notes.known[id] != hour else { return }
      notes.known[id] = hour
      notes.waiting[id] = hour
    }
  }

  /// Returns the later of the stored time and the time noted since.
  func latest(_ id: String, _ kept: Instant?) -> Instant? {
    guard let hour = notes.withLock({ $0.waiting[UntrustedText(id)] }) else { return kept }
    let noted = Instant(seconds: hour * 3_600)
    return kept.map { max($0, noted) } ?? noted
  }

  /// Removes and returns at most `limit` notes that aren't written yet.
  func take(_ limit: Int) -> [(id: String, at: Instant)] {
    notes.withLock { notes in
      let taken = Array(notes.waiting.prefix(limit))
      for (id, _) in taken { notes.waiting[id] = nil }
      return taken.map { ($0.key.text, Instant(seconds: $0.value * 3_600)) }
    }
  }

  func putBack(_ notes: [(id: String, at: Instant)]) {
    self.notes.withLock { all in
      for (id, at) in notes {
        all.waiting[UntrustedText(id)] = max(
          all.waiting[UntrustedText(id)] ?? 0, at.seconds / 3_600)
      }
    }
  }
}
