import Crypto
public import Database

public enum StartError: Error, Sendable {
  case migration(MigrationError)
  case newerProgramRequired(ProgramVersion)
  case wrongProfile(Profile)
  case wrongKey
  /// The database is empty, but an existing instance is expected.
  case empty
  /// The database lacks migrations and is used by a server of an older version.
  case olderServer([String])
}

extension StartError {
  /// Whether another start can succeed, although nobody changes the configuration.
  public var isTemporary: Bool {
    switch self {
    case .migration(.failed(_, let error)): error.isTemporary
    case .migration, .newerProgramRequired, .wrongProfile, .wrongKey, .empty, .olderServer: false
    }
  }
}

extension Identity {
  /// Prepares the database: the schema, the stored profile and key, the first signing key, and, in
  /// the emulator profile, the default project.
  ///
  /// - Parameters:
  ///   - creates: Whether an empty database becomes a new instance; otherwise it's an error.
  ///   - migrates: Whether to apply migrations; false if a server is using the database.
  ///   - progress: Called before each migration, with its name, its number from 1, and how many
  ///     there are.
  /// - Throws: ``StartError``.
  public func prepare(
    creates: Bool = true, migrates: Bool = true,
    progress: (_ name: String, _ number: Int, _ count: Int) -> Void = { _, _, _ in }
  ) async throws {
    let now = clock.now()
    do {
      let pending = try await SchemaCompatibility.pending(store.database)
      let migrations = Self.migrations(for: store.database.dialect)
      guard creates || pending.first != migrations.baseline else { throw StartError.empty }
      if migrates {
        if !pending.isEmpty { try await SchemaObjects.check(store.database) }
        try await store.database.migrate(
          migrations, at: now.milliseconds,
          toleratesNewer: try await SchemaCompatibility.toleratesNewer(store.database),
          progress: progress)
      } else {
        guard pending.isEmpty else { throw StartError.olderServer(pending.map(\.name)) }
      }
    } catch {
      throw StartError.translated(error)
    }
    try await stamp()
    try await beginMasterKey()
    try await SearchIndex.complete(store)
    try await signingKeys.prepare()
    guard let defaultProject else { return }
    _ = try await pools.find(project: defaultProject)
  }

  private func stamp() async throws {
    let marks = try keys.mark()
    let profile = profile
    try await store.write { [links = store.links, keys] connection in
      let kept = try Self.stamped("profile", profile.rawValue, connection)
      guard let known = Profile(rawValue: kept) else { throw Failure("unknown profile") }
      guard known == profile else { throw StartError.wrongProfile(known) }
      _ = try Self.stamped("key_mark", marks[0], connection)
      guard try keys.opens(connection) else { throw StartError.wrongKey }
      // A server replaces it with its own.
      if let url = try ActionLinks.lastURL.read(connection) { links.lead(to: url) }
    }
  }

  /// Returns the stored value of the data folder, which is `value` if there was none.
  private static func stamped(
    _ name: String, _ value: String, _ connection: borrowing Connection
  ) throws -> String {
    try connection.run(
      """
      INSERT INTO instance (name, value) VALUES (\(name), \(value)) ON CONFLICT (name) DO NOTHING
      """)
    return try InstanceValue(name).read(connection) ?? value
  }

  /// Records when keys and tokens were last used, as noted since the last call.
  ///
  /// - Throws: The database's error; the next call tries again.
  public func recordUses() async throws {
    while try await recordSomeUses(atMost: 500) {}
  }

  /// Records the last uses of at most `most` keys and tokens of each kind in one transaction.
  ///
  /// - Returns: Whether there were any.
  private func recordSomeUses(atMost most: Int) async throws -> Bool {
    let (keys, tokens) = (apiKeys.uses.take(most), serviceTokens.uses.take(most))
    let trustedTokenKeys = trustedTokenKeys.uses.take(most)
    guard !keys.isEmpty || !tokens.isEmpty || !trustedTokenKeys.isEmpty else {
      return false
    }
    do {
      try await store.write { connection in
        for (key, at) in keys {
          try connection.run(
            """
            UPDATE api_key SET last_used_at = \(at)
            WHERE api_key = \(key) AND coalesce(last_used_at, 0) < \(at)
            """)
        }
        for (token, at) in tokens {
          try connection.run(
            """
            UPDATE service_token SET last_used_at = \(at)
            WHERE token_id = \(token) AND coalesce(last_used_at, 0) < \(at)
            """)
        }
        for (signer, at) in trustedTokenKeys {
          try connection.run(
            """
            UPDATE trusted_token_key SET last_used_at = \(at)
            WHERE trusted_token_key_id = \(signer)
              AND coalesce(last_used_at, 0) < \(at)
            """)
        }
      }
    } catch {
      apiKeys.uses.putBack(keys)
      serviceTokens.uses.putBack(tokens)
      self.trustedTokenKeys.uses.putBack(trustedTokenKeys)
      throw error
    }
    return true
  }
}
