import Database

extension Identity {
  /// Whether there's a key to sign tokens with; the emulator profile signs none.
  public var hasSigningKey: Bool { profile == .emulator || !signingKeys.publicKeys().isEmpty }

  /// Writes to the database, as any change would.
  ///
  /// - Throws: ``StartError/unavailable(_:)`` when it can't be written.
  public func checkWritable() async throws(StartError) {
    let now = String(clock.now().microseconds)
    try await store.write(StartError.self) { connection in
      _ = try connection.run(
        """
        INSERT INTO instance (name, value) VALUES ('probed_at', \(now))
        ON CONFLICT (name) DO UPDATE SET value = excluded.value
        """)
    }
  }

  /// Counts and deletes old code attempts, a part at a time; nothing while the clock isn't trusted.
  ///
  /// - Returns: Whether there may be more.
  /// - Throws: ``StartError/unavailable(_:)``.
  public func expireCodeAttempts() async throws(StartError) -> Bool {
    guard clockGuard.doubt == nil else { return false }
    return try await codeAttempts.age()
  }
}
