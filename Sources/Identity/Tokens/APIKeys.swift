import Crypto
import Database

/// A key that tells which project an application's call is for.
///
/// It is no secret.
public struct APIKey: Sendable {
  /// The key.
  public let text: String
  /// When it was made.
  public let createdAt: Instant
}

/// Why an API key cannot be read or made.
public enum APIKeyError: Error, Sendable {
  /// No such project.
  case projectNotFound
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension APIKeyError: UseCaseError {}

/// Makes and finds API keys.
public struct APIKeys: Sendable {
  let store: Store

  /// The project of a key; nil for a key that nobody has.
  ///
  /// - Throws: ``APIKeyError/unavailable(_:)``.
  public func project(for key: String) async throws(APIKeyError) -> ID<Project>? {
    try await store.read(APIKeyError.self) { connection in
      try connection.first("SELECT project_id FROM api_key WHERE api_key = \(key)") {
        ID(try $0.value(0))
      }
    }
  }

  /// The keys of a project, the oldest first.
  ///
  /// - Throws: ``APIKeyError/unavailable(_:)``.
  public func list(_ project: ID<Project>) async throws(APIKeyError) -> [APIKey] {
    try await store.read(APIKeyError.self) { connection in
      try connection.all(
        """
        SELECT api_key, created_at FROM api_key WHERE project_id = \(project.text)
        ORDER BY created_at, api_key
        """
      ) { row in
        APIKey(text: try row.value(0), createdAt: Instant(microseconds: try row.value(1)))
      }
    }
  }

  static func insert(
    for project: ID<Project>, random: RandomSource, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    // 39 characters that begin like the keys applications know.
    let key = "AIza" + random.token(bytes: 27).prefix(35)
    try connection.run(
      """
      INSERT INTO api_key (api_key, project_id, created_at)
      VALUES (\(key), \(project.text), \(now.microseconds))
      """)
  }
}
