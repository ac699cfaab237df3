import Crypto
import Foundation
import Identity

/// Loads keys that commands changed while the server runs: token signing keys from `keys rotate`,
/// and the master key from `keys rotate-master`.
actor KeyRotationTask {
  private let identity: Identity
  private let folder: DataFolder
  private let ring: KeyRing
  private let log: Log
  /// Where the master key was passed, which can't change; nil when it's in the data folder.
  private let passedIn: String?
  private var hasReported = false

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
    if passedIn == nil, let kept = try folder.keptKeys(), kept.ids != ring.ids {
      ring.adopt(kept)
      try await identity.masterKeys.begin(by: Author(actor: .commandLine))
      log.add(.masterKeyRotated)
    }
    switch try await identity.masterKeys.step() {
    case .settled, .waiting: return false
    case .part: return true
    case .droppable:
      // The previous key is needed for another hour, which only a trusted clock can measure.
      guard identity.clockGuard.doubt == nil else { return false }
      try await dropOlder()
      return false
    }
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
