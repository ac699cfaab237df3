import Crypto

extension AdministratorFactors {
  /// Returns a text that identifies the administrator's current recovery codes.
  ///
  /// A form that replaces them holds it: if the page with the new codes is reloaded, the codes that
  /// the form was about are gone, and the new ones aren't replaced.
  ///
  /// - Returns: A digest of the codes that are left, in hexadecimal digits.
  public func recoveryCodeSet(
    of id: ID<Administrator>
  ) async throws -> String {
    try await store.read { connection in
      Hex.encode(try RecoveryCodes.fingerprint(of: id, connection))
    }
  }
}
