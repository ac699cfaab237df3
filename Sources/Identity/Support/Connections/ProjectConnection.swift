public import Database
import Foundation
public import IdentityToolkitClient

/// How the reads of a connected project go; the raw value is stored.
public enum ConnectionState: String, Sendable, SQLConvertible {
  case working
  /// Nothing is read until an administrator decides.
  case paused
  /// The last read failed, and is repeated.
  case failing
  /// Only the project's row, its roles, and the audit log are left.
  case disconnected
}

/// Why a connection is paused or failing; stored as JSON.
public enum ConnectionCause: Codable, Equatable, Sendable {
  case administrator, restored, moved
  /// A walk didn't see as many users as the remote counts, or many who were there before.
  case walk
  case unreadableCredential
  case remote(RemoteFault.Cause)

  var stored: String? {
    (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) }
  }
}

/// A connected project: how its server is reached, and how the reads go.
public struct ProjectConnection: Sendable {
  public let project: ID<Project>
  public let projectName: String
  /// The project there.
  public let remote: RemoteProject
  private let remoteNumber: Int64?
  public let access: AccessLevel
  public let state: ConnectionState
  /// Why it's paused or failing, in the remote's words, and since when.
  public let cause: ConnectionCause?
  public let detail: String?
  public let causeAt: Instant?
  /// The address of the service account; empty for a service token.
  public let credentialName: String
  /// The ID of the service account's key, or the beginning of the token's digest.
  public let credentialKey: String
  public let credentialAt: Instant
  let namesQuotaProject: Bool
  /// The permissions that the credential has and doesn't need.
  public let excess: [String]
  public let connectedAt: Instant
  public let connectedBy: String
  /// When the policies were read; nil if they weren't.
  public let policiesAt: Instant?
  private let nextWalkAt: Instant

  /// What tells its credential from all others.
  var login: [String] { [project.text, credentialAt.rfc3339] }

  /// Whether a project's number is that of the connected one, if that's known.
  func isOf(_ number: Int64?) -> Bool { remoteNumber == nil || remoteNumber == number }

  /// The age in days at which the credential should be replaced.
  public static let longestCredentialAge = 90

  /// How often policies are read, in seconds.
  public static let policyInterval: Int64 = 300

  /// The author of what was changed there.
  var author: Author {
    let host = remote.url.split(separator: "/").dropFirst().first
    return Author(actor: .remote(host.map { "Countersign at \($0)" } ?? "Google"))
  }

  /// Whether an administrator has to decide before anything is read.
  package var isHeld: Bool { state == .paused && cause != .walk }

  /// Whether its project is read from time to time.
  var isRead: Bool { state == .working || state == .failing }

  /// Whether the policies weren't read for as long; five minutes if it isn't said.
  public func arePoliciesDue(after seconds: Int64 = policyInterval, at now: Instant) -> Bool {
    policiesAt.map { !$0.isRecent(within: seconds, at: now) } ?? true
  }

  /// Whether the users are to be read; the pause between two walks is no longer than a day.
  func areUsersDue(at now: Instant) -> Bool { nextWalkAt.pending(for: 86_400, at: now) == nil }

  func isDue(at now: Instant) -> Bool {
    isRead && (areUsersDue(at: now) || state == .working && arePoliciesDue(at: now))
  }

  init(_ row: inout Row) throws {
    project = try row.next()
    let (kind, id, url): (String, String, String) = (
      try row.next(), try row.next(), try row.next()
    )
    (remoteNumber, state) = (try row.next(), try row.next())
    let (access, cause): (String, String?) = (try row.next(), try row.next())
    (detail, causeAt) = (try row.next(), try row.next())
    (credentialName, credentialKey) = (try row.next(), try row.next())
    (credentialAt, namesQuotaProject) = (try row.next(), try row.next())
    excess = try TextList.read(row.next())
    (connectedAt, connectedBy) = (try row.next(), try row.next())
    (policiesAt, nextWalkAt, projectName) = (try row.next(), try row.next(), try row.next())
    guard let level = AccessLevel(rawValue: access),
      let remote = RemoteProject.Kind(rawValue: kind).flatMap({
        RemoteProject(kind: $0, id: id, url: url)
      })
    else { throw Failure("an unknown kind of connection") }
    (self.access, self.remote) = (level, remote)
    self.cause = cause.flatMap {
      try? JSONDecoder().decode(ConnectionCause.self, from: Data($0.utf8))
    }
  }

  /// Reads the connections `c` that meet a condition.
  static func all(
    _ condition: SQL, _ connection: borrowing Connection
  ) throws -> [ProjectConnection] {
    try connection.all(
      """
      SELECT c.project_id, p.kind, c.remote_project, c.url, c.remote_number, c.state, c.access,
        c.cause, c.cause_text, c.cause_at, c.credential_name, c.credential_key, c.credential_at,
        c.quota_project, c.excess, c.connected_at, c.connected_by, c.policies_at, c.next_walk_at,
        p.display_name
      FROM connection c \(SQL.orderedJoin) project p USING (project_id)
      WHERE \(condition) ORDER BY c.project_id
      """
    ) { try ProjectConnection(&$0) }
  }

  /// - Throws: ``CallError/notFound``, and database errors.
  static func find(
    _ project: ID<Project>, _ connection: borrowing Connection
  ) throws -> ProjectConnection {
    let found = try all("c.project_id = \(project)", connection).first
    guard let found else { throw CallError.notFound }
    return found
  }

  /// The fields that the audit log has of it.
  var auditFields: [AuditField] {
    [
      AuditField(.remoteServer, .text(remote.server)), AuditField(.remoteProject, .text(remote.id)),
      AuditField(.accessLevel, .text(access.rawValue)),
      AuditField(.credential, credentialName.isEmpty ? .absent : .text(credentialName)),
      AuditField(.keyID, .text(credentialKey)),
      AuditField(.permissionsExcess, .optional(excess)),
    ]
  }

  /// Returns an entry about it, in the project's log.
  func entry(_ action: AuditAction, in pool: Pool) -> AuditEntry {
    AuditEntry(action, .connection, project.text, name: pool.projectName, in: pool)
  }

  /// Changes the state, and when the users are read next, unless someone has paused or disconnected it or
  /// replaced the credential since it was read.
  ///
  /// A read that was asked for since `start` is made earlier.
  ///
  /// - Returns: Whether it's changed.
  @discardableResult
  func set(
    _ new: ConnectionState, because cause: ConnectionCause? = nil, _ detail: String? = nil,
    since start: Instant? = nil, next: Instant? = nil, quota: Bool? = nil, at now: Instant,
    _ connection: borrowing Connection
  ) throws(DatabaseError) -> Bool {
    let next = next ?? now
    return try connection.run(
      """
      UPDATE connection SET state = \(new), cause = \(cause?.stored), cause_text = \(detail),
        cause_at = CASE WHEN state = \(new) AND cause_at IS NOT NULL THEN cause_at
          ELSE \(cause == nil ? nil : now) END,
        next_walk_at = CASE WHEN next_walk_at > \(start ?? now) AND next_walk_at <= \(next)
          THEN next_walk_at ELSE \(next) END,
        quota_project = coalesce(\(quota), quota_project)
      WHERE project_id = \(project) AND credential_at = \(credentialAt)
        AND (state = \(state) OR state IN ('working', 'failing'))
      """) > 0
  }
}
