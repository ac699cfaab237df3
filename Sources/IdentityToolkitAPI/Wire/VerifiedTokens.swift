import Synchronization

/// Tokens whose signature was found good, by their digests, so that a client which shows the same
/// one again and again is not made to pay for it.
///
/// Only what a signature proves is remembered. How long that is true is for whoever asks: whether the
/// key is still believed, the token has not run out, the account is there and its sessions count.
final class VerifiedTokens: Sendable {
  struct Entry: Sendable {
    let claims: Claims
    let keyID: String
  }

  /// Two generations: the older is forgotten whole when the younger is full, so that nothing needs
  /// to be sorted by its last use.
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

  /// How many tokens a generation has at most; an entry takes about a kilobyte.
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

  /// How many are remembered, for tests.
  var count: Int { memory.withLock { $0.young.count + $0.old.count } }
}
