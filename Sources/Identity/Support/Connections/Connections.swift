import Crypto
public import Database
public import IdentityToolkitClient
import Synchronization
import Text

/// Creates a client of a project, which waits for no other's, with a credential and an access level,
/// and whether calls name the project as the one whose quota they use.
public typealias RemoteClients =
  @Sendable (RemoteProject, RemoteCredential, AccessLevel, _ namesQuotaProject: Bool)
  -> ToolkitClient

/// The projects whose users are at another server, which are read from there.
public final class Connections: Sendable {
  /// Tells that someone asked for a read.
  public let work = WorkSignal()
  let store: Store
  private let sealer: Sealer
  /// Nil in a process that sends no requests.
  private let clients: RemoteClients?
  /// Waits for a time.
  let patience: @Sendable (Duration) async -> Void
  private let memory = Mutex(Memory())

  private struct Memory {
    var known: [ID<Project>: ProjectConnection] = [:]
    /// The clients by their credentials: each has the pace of a connection, and an access token.
    var clients: [[String]: ToolkitClient] = [:]
    /// The projects whose policies are being read since someone looks at them.
    var looked: Set<ID<Project>> = []
    /// The users who were just read since someone opens their pages, by pool and UID.
    var users: [UntrustedText: LastRead] = [:]
  }

  static func sealer(_ keys: KeyRing, random: RandomSource) throws(CryptoError) -> Sealer {
    try Sealer(keys, purpose: "connection", random: random)
  }

  init(
    store: Store, sealer: Sealer, clients: RemoteClients?,
    patience: @escaping @Sendable (Duration) async -> Void
  ) {
    (self.store, self.sealer, self.clients) = (store, sealer, clients)
    self.patience = patience
  }

  /// How long a page waits for the server of its user.
  public static let pageWait = Duration.seconds(2)

  public static let patience: @Sendable (Duration) async -> Void = {
    try? await Task.sleep(for: $0)
  }

  /// The connected projects, as of the last ``due()``.
  public var known: Set<ID<Project>> { Set(memory.withLock(\.known).keys) }

  /// Lists the connections, also those of disconnected projects.
  public func list() async throws -> [ProjectConnection] {
    try await Self.list(in: store.database)
  }

  /// Lists those in a database.
  public static func list(in database: any Database) async throws -> [ProjectConnection] {
    try await database.read { try ProjectConnection.all("c.project_id > ''", $0) }
  }

  /// - Throws: ``CallError/notFound`` if the project was never connected, and database errors.
  public func find(_ project: ID<Project>) async throws -> ProjectConnection {
    try await store.read { try ProjectConnection.find(project, $0) }
  }

  /// Returns the pools of a project with what's known of them there, its own one last.
  public func pools(of project: ID<Project>) async throws -> [MirroredPool] {
    try await store.read { try MirroredPool.all(of: project, "s.deleted_at IS NULL", $0) }
  }

  /// Returns those of some connections that are paused or have failed for an hour, and the pools of all
  /// whose policies were changed there in the last week.
  public func attention(
    to known: [ProjectConnection]
  ) async throws -> (stopped: [ProjectConnection], changed: [MirroredPool]) {
    guard !known.isEmpty else { return ([], []) }
    return try await store.read { now, connection in
      let (hour, week) = (now.advanced(bySeconds: -3_600), now.advanced(bySeconds: -7 * 86_400))
      let changed = try MirroredPool.all(
        of: known.map(\.project), "s.deleted_at IS NULL AND m.changed_at > \(week)", connection)
      return (
        known.filter { $0.state == .paused || $0.causeAt.map { $0 < hour } ?? false }, changed
      )
    }
  }

  /// Lists users of a pool who can't be stored, by the first 1,024 bytes of their UIDs.
  public func faults(in pool: Pool, limit: Int) async throws -> [(String, MirrorFault)] {
    try await store.read { connection in
      try connection.all(
        """
        SELECT uid, reason FROM mirror_fault
        WHERE scope_key = \(pool.key) ORDER BY uid LIMIT \(limit)
        """
      ) { (try $0.next(), try $0.next()) }
    }
  }

  /// Returns when the oldest of the last walks of each connected project's pools ended, or of one
  /// project's; without those of new tenants, and without a project whose own pool had none.
  public func readAt(of project: ID<Project>? = nil) async throws -> [ID<Project>: Instant] {
    let condition: SQL = project.map { "c.project_id = \($0)" } ?? "c.project_id > ''"
    let times = try await store.read { connection in
      try connection.all(
        """
        SELECT c.project_id, (
            SELECT CASE WHEN count(CASE WHEN s.tenant_id = '' THEN m.walked_at END) > 0
              THEN min(m.walked_at) END
            FROM scope s \(SQL.orderedJoin) mirror m ON m.scope_key = s.scope_key
            WHERE s.project_id = c.project_id AND s.deleted_at IS NULL AND m.state = 'present')
        FROM connection c WHERE \(condition) AND c.state <> 'disconnected'
        """
      ) { (try $0.next() as ID<Project>, try $0.next() as Instant?) }
    }
    let known = times.compactMap { project, time in time.map { (project, $0) } }
    return Dictionary(known, uniquingKeysWith: { $1 })
  }

  /// Returns the connections that are to be read now, for ``sync(_:while:)``; call it every two seconds.
  public func due() async throws -> [ProjectConnection] {
    let (now, all) = (store.clock.now(), try await list().filter { $0.state != .disconnected })
    let logins = Set(all.map(\.login))
    memory.withLock { memory in
      memory.known = Dictionary(all.map { ($0.project, $0) }, uniquingKeysWith: { $1 })
      memory.clients = memory.clients.filter { logins.contains($0.key) }
    }
    return all.filter { $0.isDue(at: now) }
  }

  /// Finds out what a connection would reach, without storing anything, and reports each step at once.
  public func check(
    _ new: inout NewConnection, report: (ConnectionCheck.Finding) -> Void = { _ in }
  ) async throws {
    guard let clients else { throw Failure("a process without requests to other servers") }
    new.check = await clients(new.remote, new.credential, new.access, false).check(report)
  }

  /// Returns the client of a connection, of which the process has one.
  ///
  /// - Throws: ``UnreadableSecret``, ``Failure`` if there can't be one, and database errors.
  func client(of known: ProjectConnection) async throws -> ToolkitClient {
    if let client = memory.withLock({ $0.clients[known.login] }) { return client }
    let bytes = try await store.read { connection -> Secret? in
      let box = try connection.first(
        "SELECT sealed_credential FROM connection WHERE project_id = \(known.project)"
      ) { try $0.next() as [UInt8]? }
      return try box.flatMap { $0 }.map { box in
        try Self.secret(known.project).opening {
          try sealer.open(box, with: Self.place(known.project))
        }
      }
    }
    guard let clients, let bytes,
      let credential = try? RemoteCredential(bytes.revealedBytes, for: known.remote.kind)
    else { throw Failure("a connection without a credential, or a process without requests") }
    let new = clients(known.remote, credential, known.access, known.namesQuotaProject)
    return memory.withLock { memory in
      // Another call may have been faster.
      let client = memory.clients[known.login] ?? new
      memory.clients[known.login] = client
      return client
    }
  }

  func sealed(_ credential: Secret, for project: ID<Project>) throws -> [UInt8] {
    try sealer.seal(credential.revealedBytes, with: Self.place(project))
  }

  /// The associated data of a sealed credential, so that a moved row can't be opened.
  private static func place(_ project: ID<Project>) -> [UInt8] { Array(project.text.utf8) }

  private static func secret(_ project: ID<Project>) -> StoredSecret {
    StoredSecret(
      kind: .connection, object: .connection, objectID: project.text, project: project.text)
  }
}

extension Connections: ReencryptableStore {
  static let name = "connection"

  func reseal(
    after position: String, limit: Int, _ connection: borrowing Connection
  ) throws -> ResealedPart {
    try ResealedPart(
      of: "connection", by: "project_id", "sealed_credential", after: position, limit: limit,
      connection
    ) { id, sealed in
      try Self.secret(ID(id)).opening {
        try sealer.resealed(sealed, with: Self.place(ID(id)))
      }
    }
  }
}

// MARK: - Reading

extension Connections {
  /// How often users are read at most, and how soon reading is repeated after a failure, in seconds.
  private static let interval: Int64 = 300
  private static let retry: Int64 = 60
  /// How recent policies are that no one needs to wait for, in seconds.
  private static let recent: Int64 = 5

  /// Reads what's due of a connected project: its policies, and the users of its pools.
  ///
  /// It may be interrupted at any time, and goes on where it stopped the next time.
  ///
  /// - Returns: Why it failed, or was paused; nil otherwise.
  @discardableResult
  public func sync(
    _ known: ProjectConnection, onlyPolicies: Bool = false, while mayContinue: @Sendable () -> Bool
  ) async throws -> ConnectionCause? {
    let start = store.clock.now()
    do {
      let client = try await client(of: known)
      if onlyPolicies || known.arePoliciesDue(at: start) {
        try await RemotePolicies(store: store, known: known, client: client).read()
      }
      guard !onlyPolicies, known.areUsersDue(at: start) else { return nil }
      for pool in try await pools(of: known.project) where pool.state == .present {
        var walk = Walk(store: store, known: known, client: client, mirror: pool)
        guard mayContinue(), try await walk.run(while: mayContinue) else { return nil }
      }
      return try await settle(known, since: start, quota: client.namesQuotaProject)
    } catch let fault as RemoteFault {
      // A request that was canceled says nothing about the remote.
      guard mayContinue() else { return nil }
      return try await settle(known, since: start, .remote(fault.cause), fault.detail)
    } catch is UnreadableSecret {
      return try await settle(known, since: start, .unreadableCredential)
    } catch WalkEnding.paused {
      return .walk
    } catch WalkEnding.superseded {
      // Another server goes on, or an administrator decided otherwise.
      return nil
    }
  }

  /// Reads the policies of a connected project in the background, since someone looks at them; once at a
  /// time.
  public func lookAtPolicies(of project: ID<Project>) {
    let isFirst = memory.withLock { memory in
      memory.known[project] != nil && memory.looked.insert(project).inserted
    }
    guard isFirst else { return }
    // Detached, since a page reads from a snapshot.
    Task.detached { [self] in
      defer { memory.withLock { _ = $0.looked.remove(project) } }
      guard let known = try? await find(project), known.isRead,
        known.arePoliciesDue(after: Self.recent, at: store.clock.now())
      else { return }
      // Why it failed is stored.
      _ = try? await sync(known, onlyPolicies: true) { true }
    }
  }

  /// Stores how a read ended that began at a time, and when the next one is due, unless someone asked
  /// for it meanwhile; returns the cause if it's stored.
  private func settle(
    _ known: ProjectConnection, since start: Instant, _ cause: ConnectionCause? = nil,
    _ detail: String? = nil, quota: Bool? = nil
  ) async throws -> ConnectionCause? {
    try await store.write { now, connection in
      let pause = min(max(Self.interval, 2 * (now.seconds - start.seconds)), 86_400)
      let isSet = try known.set(
        cause == nil ? .working : .failing, because: cause, detail, since: start,
        next: now.advanced(bySeconds: cause == nil ? pause : Self.retry), quota: quota, at: now,
        connection)
      return isSet ? cause : nil
    }
  }
}

// MARK: - One user

/// How the read of one user went.
public enum UserRead: Sendable {
  /// The remote hasn't answered yet.
  case waiting
  case read
  /// The remote has no such user; only a walk says that they're gone.
  case missing
  case failed(ConnectionCause)
}

public typealias LastRead = (remote: RemoteProject, at: Instant, read: UserRead)

extension Connections {
  /// Reads a user whose page is opened from the remote, unless that was done in the last five seconds;
  /// returns after two seconds, and what arrives later is stored then.
  public func refresh(_ user: ID<Account>, in pool: Pool) async {
    let (place, now) = (Self.place(user, pool), store.clock.now())
    let known = memory.withLock { memory -> ProjectConnection? in
      memory.users = memory.users.filter { $0.value.at.isRecent(within: Self.recent, at: now) }
      guard let known = memory.known[pool.project], known.isRead, memory.users[place] == nil,
        MirroredUser.fault(of: user.text) == nil
      else { return nil }
      memory.users[place] = (known.remote, now, .waiting)
      return known
    }
    guard let known else { return }
    await wait(Self.pageWait) { [self] in
      let result = await read(user, in: pool, known, askedAt: now)
      memory.withLock { $0.users[place] = (known.remote, now, result) }
    }
  }

  /// Waits for a call, which goes on after a time; detached, since a page reads from a snapshot, and
  /// its request can end.
  func wait(_ time: Duration, for call: @escaping @Sendable () async -> Void) async {
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    Task.detached {
      await call()
      end.finish()
    }
    let timer = Task.detached { [patience] in
      await patience(time)
      end.finish()
    }
    for await _ in ends {}
    timer.cancel()
  }

  /// Returns how the read of a user went that was begun in the last five seconds; nil if none was.
  public func lastRead(of user: ID<Account>, in pool: Pool) -> LastRead? {
    let (now, last) = (store.clock.now(), memory.withLock { $0.users[Self.place(user, pool)] })
    return last.flatMap { $0.at.isRecent(within: Self.recent, at: now) ? $0 : nil }
  }

  private static func place(_ user: ID<Account>, _ pool: Pool) -> UntrustedText {
    UntrustedText("\(pool.key) \(user.text)")
  }

  private func read(
    _ user: ID<Account>, in pool: Pool, _ known: ProjectConnection, askedAt asked: Instant
  ) async -> UserRead {
    do {
      let found = try await client(of: known)
        .user(user.text, of: pool.tenant?.text, for: .person).map { MirroredUser($0) }
      guard let found else { return .missing }
      try await store.write { now, connection in
        let condition: SQL = "s.scope_key = \(pool.key) AND s.deleted_at IS NULL"
        guard
          let mirror = try MirroredPool.all(
            of: pool.project, "\(condition) AND \(MirroredPool.isRead(pool))", connection
          ).first
        else { return }
        let key = try AccountRecord.find(pool, user, connection)?.key
        try MirrorBatch(
          pool: pool, author: known.author, askedAt: asked, isRecorded: mirror.firstAt != nil,
          now: now
        ).apply([.user(found, key)], ofWalk: 0, connection)
      }
      return .read
    } catch let fault as RemoteFault {
      return .failed(.remote(fault.cause))
    } catch { return error is UnreadableSecret ? .failed(.unreadableCredential) : .waiting }
  }
}
