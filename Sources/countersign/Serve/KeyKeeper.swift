import Crypto
import Foundation
import Identity

/// Keeps a running server's keys those of the data folder: signing keys that `keys rotate` made, and
/// the master key that `keys rotate-master` put in front.
actor KeyRotationTask {
  private let identity: Identity
  private let folder: DataFolder
  private let ring: KeyRing
  /// Whether the master key comes from the environment, where nobody changes it.
  private let isFixed: Bool
  private var hasSaid = false

  init(_ instance: Instance, _ folder: DataFolder, environment: [String: String]) {
    identity = instance.identity
    self.folder = folder
    ring = instance.keys
    isFixed = environment[DataFolder.variable] != nil
  }

  /// Looks what has changed; true when there is more to do at once.
  func look() async throws -> Bool {
    try await identity.signingKeys.refresh()
    if !isFixed, let kept = try folder.keptKeys(), kept.ids != ring.ids {
      ring.adopt(kept)
      try await identity.masterKeys.begin(by: Author(actor: .commandLine))
      Terminal.complain("The master key was rotated. Sealing everything with the new one.")
    }
    switch try await identity.masterKeys.step() {
    case .settled, .waiting: return false
    case .part: return true
    case .droppable:
      // The former key is needed for an hour, by a clock that shows it.
      guard identity.clockGuard.doubt == nil else { return false }
      try await dropOlder()
      return false
    }
  }

  private func dropOlder() async throws {
    guard !isFixed else {
      if !hasSaid {
        Terminal.complain(
          "Everything is sealed with the first key of \(DataFolder.variable): the others can be "
            + "taken out.")
      }
      hasSaid = true
      return
    }
    try await identity.masterKeys.drop()
    let newest = ring.newestAlone()
    try folder.store(newest)
    ring.adopt(newest)
    Terminal.complain("The former master key was dropped.")
  }
}
