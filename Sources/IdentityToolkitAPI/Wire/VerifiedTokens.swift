import Synchronization

/// A cache of tokens with a verified signature, by digest, so that a client that sends the same
/// token repeatedly doesn't cause repeated verification.
///
/// It caches only what a signature proves. The caller checks everything that can change: whether
/// the key is still valid, the token hasn't expired, the account exists, and its session is valid.
final class VerifiedTokens: Sendable {
  struct Entry: Sendable {
    let claims: Claims
    let keyID: String
  }

  /// Two generations: when the younger is full, it replaces the older, so that entries needn't be
  /// ordered by last use.
  private struct Memory: Sendable {
    var young: [[UInt8]: Entry] = [:]
    var old: [[UInt8]: Entry] = [:]

    mutating func keep(_ digest: [UInt8], _ entry: Entry) {
      if young.count >= VerifiedTokens.most {
        old = young
        young = [:]
      }
      young[digest] = entry
      old[digest] = nil
    }
  }

  /// The maximum number of tokens per generation; an entry uses about one kilobyte.
  static let most = 8_192

  private let memory = Mutex(Memory())

  func find(_ digest: [UInt8]) -> Entry? {
    memory.withLock { (memory) -> Entry? in
      if let entry = memory.young[digest] { return entry }
      guard let entry = memory.old[digest] else { return nil }
      memory.keep(digest, entry)
      return entry
    }
  }

  func add(_ digest: [UInt8], _ entry: Entry) {
    memory.withLock { $0.keep(digest, entry) }
  }

  /// The number of cached tokens, for tests.
  var count: Int { memory.withLock { $0.young.count + $0.old.count } }
}
