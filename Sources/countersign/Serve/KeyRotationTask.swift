import Crypto
import Foundation
import Identity

/// Loads keys that commands changed while the server runs: token signing keys from `keys rotate`,
/// and the master key from `keys rotate-master`.
///
/// If other servers use the database as well, the new master key first only decrypts, until each of
/// them has it: then the command that created it records it. One that was passed has no such command.
actor KeyRotationTask {
  private let identity: Identity
  private let folder: DataFolder
  private let ring: KeyRing
  private let log: Log
  /// The master key that was passed, which can't change; nil when it's in the data folder.
  private let passed: PassedKey?
  private var hasReported = false
  private var hasRefused = false

  /// How often a server looks for keys that a command changed, in seconds.
  static let interval = 5

  init(_ instance: Instance, _ folder: DataFolder, environment: [String: String], log: Log) {
    identity = instance.identity
    self.folder = folder
    ring = instance.keys
    self.log = log
    passed = PassedKey(environment: environment)
  }

  /// Loads changed keys and re-encrypts one batch; returns true when there's more to do.
  func look() async throws -> Bool {
    try await identity.signingKeys.refresh()
    if let kept = try passed?.ring() ?? folder.keptKeys(), try await isUsable(kept),
      kept.ids != ring.ids
    {
      guard try await mayEncrypt(kept) else { return false }
      let former = ring.ids[0]
      ring.adopt(kept)
      guard try await begin() else {
        // Another server has just started without it.
        kept.encrypting(with: former).map(ring.adopt)
        return false
      }
    }
    switch try await identity.masterKeys.step(reencrypts: identity.taskLease.isHeld) {
    case .settled, .waiting: return false
    case .part: return true
    case .unrecorded:
      // The disk was full when the key was adopted, for example.
      return try await begin()
    case .droppable:
      // The previous key is needed for another hour, which only a trusted clock can measure.
      guard identity.clockGuard.doubt == nil else { return false }
      try await dropOlder()
      return false
    }
  }

  /// Records the new key; returns false if a server lacks it.
  private func begin() async throws -> Bool {
    guard try await identity.masterKeys.begin(by: Author(actor: .commandLine)).isEmpty else {
      return false
    }
    log.add(.masterKeyRotated)
    return true
  }

  /// Returns whether the keys of the file are those of the database, and reports if they aren't.
  private func isUsable(_ kept: KeyRing) async throws -> Bool {
    let isUsable = try await identity.masterKeys.canAdopt(kept)
    if !isUsable, !hasRefused { log.add(.masterKeyRefused(path: folder.key)) }
    hasRefused = !isUsable
    return isUsable
  }

  /// Adopts keys for decryption; returns true once they may encrypt, because every server has them.
  private func mayEncrypt(_ kept: KeyRing) async throws -> Bool {
    // Nil if a former key was removed from the file; nothing is encrypted with it anymore.
    guard folder.isOnServer, let both = kept.encrypting(with: ring.ids[0]) else { return true }
    if Set(both.ids) != Set(ring.ids) { ring.adopt(both) }
    // Another server removed a former key.
    if both.ids == kept.ids { return false }
    if try await identity.masterKeys.newest() == kept.ids[0] { return true }
    guard passed != nil else { return false }
    return try await identity.nodes.lacking(kept.ids[0]).isEmpty
  }

  private func dropOlder() async throws {
    if let passed {
      if !hasReported {
        log.add(.previousMasterKeyRemovable(variable: passed.source))
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
