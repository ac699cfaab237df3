import Crypto

@testable import Identity

extension Instance {
  /// Rotates the master key on another server and re-encrypts everything with it.
  ///
  /// - Returns: The other server, and its keys.
  func rotateMasterKey() async throws -> (identity: Identity, ring: KeyRing) {
    let ring = try KeyRing(text: keys.text.revealedText)
    let identity = try identity(keys: ring)
    try await identity.prepare()
    ring.adopt(ring.rotated(random: .system))
    try await identity.masterKeys.begin(by: Self.boss)
    while case .part = try await identity.masterKeys.step() {}
    return (identity, ring)
  }
}
