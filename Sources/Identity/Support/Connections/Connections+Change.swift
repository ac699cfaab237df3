import Crypto
import Database
public import IdentityToolkitClient
import Text

/// A connection before it's stored.
public struct NewConnection: Sendable {
  package let remote: RemoteProject
  package let access: AccessLevel
  /// As it was given.
  fileprivate let bytes: Secret
  package let credential: RemoteCredential
  /// What ``Connections/check(_:report:)`` found; nil before.
  public internal(set) var check: ConnectionCheck?
  /// The ID of the project here; nil for the one there.
  public var localID: String?
  /// The name of the project here; empty for its ID.
  public var displayName = ""
  /// Whether those who had roles in it when it was disconnected have them again.
  public var keepsRoles = false

  /// Reads the credential as it's pasted.
  public init(
    _ remote: RemoteProject, _ credential: [UInt8], _ access: AccessLevel
  ) throws(RemoteCredentialError) {
    (self.remote, self.access, bytes) = (remote, access, Secret(credential))
    self.credential = try RemoteCredential(credential, for: remote.kind)
  }

  fileprivate var config: RemoteConfig {
    get throws(ConnectionError) {
      guard let check, check.hasPassed, let config = check.config else {
        throw .unchecked(check?.findings.last?.fault)
      }
      return config
    }
  }
}

public enum ConnectionError: Error, Sendable {
  /// The emulator profile connects no projects.
  case emulator
  /// A check failed, or none was made.
  case unchecked(RemoteFault?)
  /// This project is connected to it already.
  case connected(ID<Project>)
  /// The users of the project, which was disconnected, are still being deleted.
  case notPurged
  /// The project was connected under this ID, which stays.
  case formerID(ID<Project>)
  /// The credential is for another project than the connected one.
  case otherProject
  /// Those roles were in another project with the same ID.
  case otherRoles
  /// The connection was paused by an administrator, a restore, or a move, and has to be resumed.
  case paused
  /// Another walk has begun meanwhile, or an administrator decided about this one.
  case otherWalk
}

public typealias ConnectionOutcome = ActionOutcome<ProjectConnection>

extension Connections {
  /// Connects a project, or again one that was disconnected.
  ///
  /// - Throws: ``ConnectionError``, ``PoolError``, what the gate throws, and database errors.
  public func add(_ new: NewConnection, by caller: Caller) async throws -> ConnectionOutcome {
    guard store.profile == .standalone else { throw ConnectionError.emulator }
    defer { work.send() }
    return try await store.run(.connectProject, by: caller, in: .instance) {
      [self] context, connection in
      let pool: Pool
      if let former = try Self.former(new.remote, connection) {
        // Another project under the ID gets no roles of the former one.
        guard try !new.keepsRoles || former.isOf(new.config.number) else {
          throw ConnectionError.otherRoles
        }
        pool = try Self.revive(former, connection)
        guard new.localID.map({ ID($0) == former.project }) ?? true else {
          throw ConnectionError.formerID(former.project)
        }
      } else {
        let (id, mfa) = (new.localID ?? new.remote.id, try new.config.mfa)
        guard PoolRules.isProjectID(id), let kind = PoolKind(rawValue: new.remote.kind.rawValue)
        else { throw PoolError.invalidProjectID }
        let inserting = Pools(store: store).insertingProject(
          id, new.displayName, kind: kind, MFAConfiguration(mfa))
        pool = try inserting(context, connection).pool
        try MirroredPool.insert(pool, .present, connection)
      }
      // A new project has none.
      if !new.keepsRoles { try Deletion.revokeAccess(to: pool, context, connection) }
      try context.record(try put(new, of: pool, over: nil, context, connection), connection)
      return try ProjectConnection.find(pool.project, connection)
    }
  }

  /// Returns the roles in a project that was disconnected, with the names of those who had them, and of
  /// groups at the sign-in provider.
  public func formerRoles(
    of remote: RemoteProject
  ) async throws -> [(holder: String, grant: Grant)] {
    try await store.read { now, connection in
      guard let former = try Self.former(remote, connection) else { return [] }
      let queries: [SQL] = [
        """
        SELECT a.display_name, g.role, g.project_id, g.tenant_id
        FROM administrator_grant g \(SQL.orderedJoin) administrator a USING (administrator_id)
        WHERE g.project_id = \(former.project) AND \(Administrators.inForce(at: now))
        """,
        """
        SELECT group_name, role, project_id, tenant_id FROM sign_in_provider_role
        WHERE group_name > '' AND project_id = \(former.project)
        """,
      ]
      let found = try queries.flatMap { query in
        try connection.all(query) { row in
          (holder: try row.next() as String, grant: try Administrators.grant(&row))
        }
      }
      return found.sorted { $0.holder < $1.holder }
    }
  }

  /// Replaces the credential of a connection, which must reach the same project; with it, the access
  /// level and the address can change.
  public func replace(
    in pool: Pool, by new: NewConnection, by caller: Caller
  ) async throws -> ConnectionOutcome {
    try await change(pool, .changeConnection, by: caller) { [self] old, context, connection in
      guard old.remote.id.isSameBytes(as: new.remote.id), old.remote.kind == new.remote.kind,
        old.isOf(try new.config.number)
      else { throw ConnectionError.otherProject }
      if let other = try Self.former(new.remote, connection), other.project != pool.project {
        throw ConnectionError.connected(other.project)
      }
      return (.working, nil, try put(new, of: pool, over: old, context, connection))
    }
  }

  /// Reads nothing until someone resumes it.
  public func pause(_ pool: Pool, by caller: Caller) async throws -> ConnectionOutcome {
    try await change(pool, .pauseConnection, by: caller) { old, _, _ in
      guard !old.isHeld else { throw ActionDenial.nothingToDo }
      return (.paused, .administrator, old.entry(.connectionPause, in: pool))
    }
  }

  /// Reads again after a pause.
  public func resume(_ pool: Pool, by caller: Caller) async throws -> ConnectionOutcome {
    try await change(pool, .changeConnection, by: caller) { old, _, _ in
      guard old.state == .paused else { throw ActionDenial.nothingToDo }
      return (.working, nil, old.entry(.connectionResume, in: pool))
    }
  }

  /// Reads everything now; after a walk whose numbers didn't fit, that keeps those whom it didn't see.
  public func sync(_ pool: Pool, by caller: Caller) async throws -> ConnectionOutcome {
    try await change(pool, .syncConnection, by: caller) { old, _, _ in
      guard !old.isHeld else { throw ConnectionError.paused }
      guard old.state == .paused else { return (old.state, old.cause, nil) }
      return (.working, nil, old.entry(.connectionResume, in: pool))
    }
  }

  /// Accepts that those are gone whom a walk of a pool of a project didn't see, however many.
  public func acceptGone(
    from mirrored: Pool, of pool: Pool, walk: Int64, by caller: Caller
  ) async throws -> ConnectionOutcome {
    try await change(pool, .changeConnection, by: caller) { old, _, connection in
      let accepted = try connection.run(
        """
        UPDATE mirror SET accepted = walk
        WHERE scope_key = \(mirrored.key) AND walk = \(walk) AND accepted = -walk
        """)
      guard accepted > 0, pool.contains(mirrored), old.state == .paused, !old.isHeld else {
        throw ConnectionError.otherWalk
      }
      var entry = old.entry(.connectionWalk, in: mirrored)
      entry.add(.users, lost: .number(try Walk.missing(in: mirrored, walk, connection)))
      return (.working, nil, entry)
    }
  }

  /// Disconnects a project: its users and the credential are deleted, its roles and the audit log stay.
  public func end(_ pool: Pool, by caller: Caller) async throws -> ConnectionOutcome {
    try await change(pool, .changeConnection, by: caller) { old, context, connection in
      var entry = old.entry(.connectionEnd, in: pool)
      let impact = try Deletion.deletionImpact(of: pool, at: context.now, connection)
      entry.add(.users, lost: .number(impact.users))
      try Deletion.mark(pool, context, connection)
      try Deletion.purge(at: context.now, connection)
      try connection.run(
        "UPDATE connection SET sealed_credential = NULL WHERE project_id = \(pool.project)")
      return (.disconnected, nil, entry)
    }
  }

  /// Pauses all connections, and ends what was to be changed there, since another copy of the database
  /// may be used, too.
  static func pauseAll(
    because cause: ConnectionCause, at now: Instant, _ connection: borrowing Connection
  ) throws {
    try dropChanges(because: cause == .moved ? .moved : .restored, at: now, connection)
    try connection.run(
      """
      UPDATE connection SET state = 'paused', cause = \(cause.stored), cause_text = NULL,
        cause_at = \(now)
      WHERE project_id > '' AND state <> 'disconnected'
      """)
  }
}

extension Connections {
  /// A new state, and what's recorded.
  private typealias Decision = (
    state: ConnectionState, cause: ConnectionCause?, entry: AuditEntry?
  )

  /// Changes the connection of a project, and reads the project at once if it may be.
  private func change(
    _ pool: Pool, _ action: ConsoleAction, by caller: Caller,
    _ decide:
      @escaping @Sendable (ProjectConnection, ActionContext, borrowing Connection) throws
      -> Decision
  ) async throws -> ConnectionOutcome {
    defer { work.send() }
    return try await store.run(action, by: caller, in: ActionTarget(pool)) { context, connection in
      let old = try ProjectConnection.find(pool.project, connection)
      guard old.state != .disconnected, pool.tenant == nil else { throw CallError.notFound }
      let (state, cause, entry) = try decide(old, context, connection)
      let detail = cause == old.cause ? old.detail : nil
      try old.set(state, because: cause, detail, at: context.now, connection)
      if let entry { try context.record(entry, connection) }
      return try ProjectConnection.find(pool.project, connection)
    }
  }

  /// Returns the connection to a project, now or before it was disconnected; nil if there's none.
  private static func former(
    _ remote: RemoteProject, _ connection: borrowing Connection
  ) throws -> ProjectConnection? {
    try ProjectConnection.all(
      "c.url = \(remote.url) AND c.remote_project = \(remote.id)", connection
    ).first
  }

  /// Brings back a project that was disconnected, and its own pool; its tenants return when they're read.
  private static func revive(
    _ former: ProjectConnection, _ connection: borrowing Connection
  ) throws -> Pool {
    guard former.state == .disconnected else { throw ConnectionError.connected(former.project) }
    let pools = try MirroredPool.all(of: former.project, "1 = 1", connection)
    guard !pools.contains(where: \.isBusy), let own = pools.last else {
      throw ConnectionError.notPurged
    }
    try own.revive(connection)
    return own.pool
  }

  /// Stores a connection, also in place of an earlier one; returns an entry with what differs.
  private func put(
    _ new: NewConnection, of pool: Pool, over old: ProjectConnection?, _ context: ActionContext,
    _ connection: borrowing Connection
  ) throws -> AuditEntry {
    let (now, number) = (context.now, try new.config.number)
    let ((name, key), excess) = (new.credential.names, new.check?.permissions?.excess ?? [])
    try connection.run("DELETE FROM connection WHERE project_id = \(pool.project)")
    try connection.run(
      """
      INSERT INTO connection (project_id, remote_project, remote_number, url, access, state,
        sealed_credential, credential_name, credential_key, credential_at, excess, connected_at,
        connected_by)
      VALUES (\(pool.project), \(new.remote.id), \(number), \(new.remote.url),
        \(new.access.rawValue), 'working', \(try sealed(new.bytes, for: pool.project)), \(name),
        \(key), \(now), \(TextList.text(excess)), \(old?.connectedAt ?? now),
        \(old?.connectedBy ?? context.author.actor.name))
      """)
    let stored = try ProjectConnection.find(pool.project, connection)
    var entry = stored.entry(old == nil ? .connectionCreate : .connectionChange, in: pool)
    entry.compare(old?.auditFields, stored.auditFields)
    return entry
  }
}

extension RemoteCredential {
  /// The address of a service account, and the ID of its key; for a token, the beginning of its digest.
  fileprivate var names: (name: String, key: String) {
    switch self {
    case .serviceAccount(let key): (key.email, key.keyID)
    case .serviceToken(let token):
      ("", Hex.encode(Array(HashFunction.sha256.digest(token.revealedBytes).prefix(4))))
    }
  }
}
