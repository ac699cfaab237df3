import Crypto
import Foundation
import Identity

/// Loads keys that commands changed while the server runs: token signing keys from `keys rotate`,
/// and the master key from `keys rotate-master`.
///
/// If other servers use the database as well, the new master key first only decrypts, until each of
/// them has loaded it.
actor KeyRotationTask {
  private let identity: Identity
  private let folder: DataFolder
  private let ring: KeyRing
  private let log: Log
  /// Where the master key was passed, which can't change; nil when it's in the data folder.
  private let passedIn: String?
  private var hasReported = false
  /// Whether the file has other keys than the database's.
  private var hasRefused = false
  /// When a key that doesn't encrypt yet was found in the file.
  private var foundAt: ContinuousClock.Instant?

  /// How often a server looks for keys that a command changed, in seconds.
  static let interval = 5
  /// How long a new key only decrypts; every server has found it by then.
  private static let announcement = Duration.seconds(30)

  init(_ instance: Instance, _ folder: DataFolder, environment: [String: String], log: Log) {
    identity = instance.identity
    self.folder = folder
    ring = instance.keys
    self.log = log
    passedIn = PassedKey(environment: environment)?.source
  }

  /// Loads changed keys and re-encrypts one batch; returns true when there's more to do.
  func look() async throws -> Bool {
    try await identity.signingKeys.refresh()
    if passedIn == nil, let kept = try folder.keptKeys(), try await isUsable(kept),
      kept.ids != ring.ids
    {
      guard isAnnounced(kept) else { return false }
      foundAt = nil
      guard kept.ids != ring.ids else { return false }
      ring.adopt(kept)
      try await begin()
    }
    switch try await identity.masterKeys.step(reencrypts: identity.taskLease.isHeld) {
    case .settled, .waiting: return false
    case .part: return true
    case .unrecorded:
      // The disk was full when the key was adopted, for example.
      try await begin()
      return true
    case .droppable:
      // The previous key is needed for another hour, which only a trusted clock can measure.
      guard identity.clockGuard.doubt == nil else { return false }
      try await dropOlder()
      return false
    }
  }

  private func begin() async throws {
    try await identity.masterKeys.begin(by: Author(actor: .commandLine))
    log.add(.masterKeyRotated)
  }

  /// Returns whether the keys of the file are those of the database, and reports if they aren't.
  private func isUsable(_ kept: KeyRing) async throws -> Bool {
    let isUsable = try await identity.masterKeys.canAdopt(kept)
    if !isUsable, !hasRefused { log.add(.masterKeyRefused(path: folder.key)) }
    hasRefused = !isUsable
    return isUsable
  }

  /// Adopts keys for decryption; returns true once they may encrypt.
  private func isAnnounced(_ kept: KeyRing) -> Bool {
    // Nil if a former key was removed from the file; nothing is encrypted with it anymore.
    guard folder.isOnServer, let both = kept.encrypting(with: ring.ids[0]) else { return true }
    if Set(both.ids) != Set(ring.ids) { ring.adopt(both) }
    // Another server removed a former key.
    if both.ids == kept.ids { return true }
    let start = foundAt ?? .now
    foundAt = start
    return ContinuousClock.now - start >= Self.announcement
  }

  private func dropOlder() async throws {
    if let passedIn {
      if !hasReported {
        log.add(.previousMasterKeyRemovable(variable: passedIn))
      }
      hasReported = true
      return
    }
    try await identity.masterKeys.drop()
    let newest = ring.newestAlone()
    try folder.store(newest)
    ring.adopt(newest)
    log.add(.previousMasterKeyRemoved)
  }
}
