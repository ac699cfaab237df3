public import Crypto
import Database

/// Rotates the master key: re-encrypts all stored secrets under the newest key of the ring and drops
/// the older keys when nothing needs them.
///
/// The one process that has the current ring and writes to the database calls ``step()`` until
/// there is nothing left to do. Each step is one short write that also saves the progress, so that
/// another process can continue after a crash.
public struct MasterKeys: Sendable {
  let store: Store
  let ring: KeyRing
  let places: [any ReencryptableStore]

  public enum Step: Sendable, Equatable {
    /// There is only one key, and it sealed everything.
    case settled
    /// Part of the stored secrets were processed; there are more.
    case part(ResealProgress)
    /// Everything stored is sealed with the newest key, but sealed data that clients hold may need
    /// an older key until this time.
    case waiting(Instant)
    /// The older keys are no longer needed: call ``drop()`` and remove them from the stored key
    /// ring.
    case droppable
    /// The newest key encrypts, but wasn't recorded, because ``begin(by:)`` failed: call it again.
    case unrecorded
  }

  /// How long an older key is kept after the newest was first used, in seconds.
  ///
  /// Sealed data that clients hold is valid for 15 minutes at most. What another process sealed
  /// with an older key in the meantime is found by a second pass.
  public static let carried: Int64 = 3_600

  /// The maximum number of rows that a step processes.
  static let share = 200

  /// Performs the next part of the rotation, in one write.
  ///
  /// Nothing is written if another server re-encrypts.
  public func step(reencrypts: Bool = true) async throws -> Step {
    let ids = ring.ids
    guard ids.count > 1 else { return .settled }
    guard let kept = try await state(ids[0]) else { return .unrecorded }
    if let step = kept.step(at: store.clock.now()) { return step }
    return reencrypts ? try await pass(ids[0]) : .settled
  }

  private struct RotationState: Sendable {
    let passes: Int
    let firstUsedAt: Instant

    /// The state of the rotation to this key; nil during a pass, or if it's time for one.
    func step(at now: Instant) -> Step? {
      guard passes > 0 else { return nil }
      let until = firstUsedAt.advanced(bySeconds: MasterKeys.carried)
      if now < until { return .waiting(until) }
      return passes > 1 ? .droppable : nil
    }
  }

  private func state(_ id: String) async throws -> RotationState? {
    try await store.read { connection in try Self.state(id, connection) }
  }

  private static func state(_ id: String, _ connection: borrowing Connection) throws
    -> RotationState?
  {
    try connection.first(
      "SELECT passes, first_used_at FROM master_key WHERE key_id = \(id)"
    ) { row in
      RotationState(passes: try row.next(), firstUsedAt: try row.next())
    }
  }

  /// Performs the next part of a pass, unless another server has just ended it.
  func pass(_ id: String) async throws -> Step {
    let mark = try ring.mark()[0]
    return try await store.write { now, connection in
      guard let kept = try Self.state(id, connection) else { return .unrecorded }
      if let step = kept.step(at: now) { return step }
      var share = Self.share
      for place in places {
        let name = type(of: place).name
        let kept = try Self.position(name, connection)
        guard !kept.isDone else { continue }
        let part = try place.reseal(after: kept.position, limit: share, connection)
        try Self.record(name, part, isDone: part.rows < share, connection)
        share -= part.rows
        if share == 0 { return .part(try Self.progress(connection)) }
      }
      let progress = try Self.progress(connection)
      try Self.finish(id, mark, progress, at: now, connection)
      return .part(progress)
    }
  }

  /// Ends a pass; the rotation is complete after a pass that changes nothing.
  private static func finish(
    _ id: String, _ mark: String, _ progress: ResealProgress, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    try connection.run("DELETE FROM reseal WHERE place > ''")
    let first = try connection.first(
      "SELECT resealed_at IS NULL FROM master_key WHERE key_id = \(id)"
    ) { try $0.next() as Bool }
    guard first == true else {
      // Another process sealed something in the meantime, so another pass is needed.
      try connection.run(
        """
        UPDATE master_key SET passes = \(progress.changed == 0 ? 2 : 1) WHERE key_id = \(id)
        """)
      return
    }
    try connection.run(
      """
      UPDATE master_key SET passes = 1, resealed_at = \(now) WHERE key_id = \(id)
      """)
    try connection.run("UPDATE instance SET value = \(mark) WHERE name = 'key_mark'")
    var entry = AuditEntry(.masterKeyReseal, .masterKey, id, name: id)
    entry.add(.secrets, .number(progress.changed))
    try entry.record(by: Author(actor: .server), at: now, connection)
  }

  /// Records that the older keys are dropped; the caller removes them from the stored key ring
  /// right afterwards.
  ///
  /// - Throws: ``Failure`` if ``step()`` doesn't return `droppable`.
  public func drop() async throws {
    guard try await step() == .droppable else {
      throw Failure("the older master keys are in use")
    }
    let id = ring.ids[0]
    try await store.write { now, connection in
      let old = try connection.all(
        "DELETE FROM master_key WHERE key_id <> \(id) RETURNING key_id"
      ) { try $0.next() as String }
      for key in old {
        let entry = AuditEntry(.masterKeyDrop, .masterKey, key, name: key)
        try entry.record(by: Author(actor: .server), at: now, connection)
      }
    }
  }

  /// Records which key seals from now on, if it changed and every live server has it.
  ///
  /// - Returns: The servers that don't have it; nothing is recorded then.
  /// - Throws: ``Failure`` if the ring lacks the one that sealed until now.
  @discardableResult
  public func begin(by author: Author) async throws -> [Nodes.Node] {
    let now = store.clock.now()
    let ids = ring.ids
    let id = ids[0]
    let latest = try await store.read { connection in try Self.latest(connection) }
    guard latest?.id != id else { return [] }
    return try await store.write(by: author) { connection in
      let before = try Self.latest(connection)
      guard before?.id != id else { return [] }
      if let before, !ids.contains(before.id) { throw Failure("the newest master key is missing") }
      let lacking = try Nodes.lacking(id, at: now, connection)
      guard lacking.isEmpty else { return lacking }
      let moment = max(now.microseconds, (before?.firstUsedAt ?? 0) + 1)
      try connection.run(
        """
        INSERT INTO master_key (key_id, first_used_at) VALUES (\(id), \(moment))
        ON CONFLICT (key_id) DO UPDATE SET first_used_at = excluded.first_used_at,
          resealed_at = NULL, passes = 0
        """)
      guard let before = before?.id else { return [] }
      // A pass in progress was for a key that is no longer the newest.
      try connection.run("DELETE FROM reseal WHERE place > ''")
      var entry = AuditEntry(.masterKeyRotate, .masterKey, id, name: id)
      entry.add(.masterKey, from: .text(before), to: .text(id))
      try entry.record(by: author, at: now, connection)
      return []
    }
  }

  /// Returns the ID of the key that seals, as the database names it; nil in a new instance.
  public func newest() async throws -> String? {
    try await store.read { connection in try Self.latest(connection)?.id }
  }

  /// Returns whether other servers encrypt with a key that this one doesn't have.
  public func lacksNewest() async throws -> Bool {
    let ids = ring.ids
    return try await newest().map { !ids.contains($0) } ?? false
  }

  /// Records the first key of an instance, and a new one that was added while no server was live.
  ///
  /// Beside live servers, a new key only decrypts until it's recorded.
  func prepare() async throws {
    let (former, isAlone) = try await store.read { now, connection in
      (try Self.latest(connection)?.id, try Nodes.live(at: now, connection).isEmpty)
    }
    if !isAlone, let former, former != ring.ids[0], let both = ring.encrypting(with: former) {
      ring.adopt(both)
    } else {
      try await begin(by: Author(actor: .commandLine))
    }
  }

  /// Returns whether this server can use other keys instead of its own: without the right ones, it
  /// would forget the only ones that decrypt the database.
  public func canAdopt(_ other: KeyRing) async throws -> Bool {
    guard other.ids != ring.ids else { return true }
    return try await store.read { connection in try other.opens(connection) }
  }

  /// Returns whether a key is that of a rotation that isn't complete; a server that doesn't have it
  /// can't load secrets that are as good as before.
  static func isNew(_ id: String, _ connection: borrowing Connection) throws -> Bool {
    try connection.first(
      """
      SELECT 1 FROM master_key WHERE first_used_at <
        (SELECT first_used_at FROM master_key WHERE key_id = \(id)) LIMIT 1
      """
    ) { _ in true } ?? false
  }

  static func latest(
    _ connection: borrowing Connection
  ) throws -> (id: String, firstUsedAt: Int64)? {
    try connection.first(
      "SELECT key_id, first_used_at FROM master_key ORDER BY first_used_at DESC LIMIT 1"
    ) { row in (try row.next(), try row.next()) }
  }
}

public struct ResealProgress: Sendable, Equatable {
  public let rows: Int
  public let changed: Int
}

extension MasterKeys {
  private static func position(
    _ place: String, _ connection: borrowing Connection
  ) throws -> (position: String, isDone: Bool) {
    try connection.first("SELECT position, done FROM reseal WHERE place = \(place)") { row in
      (try row.next(), try row.next())
    } ?? ("", false)
  }

  private static func record(
    _ place: String, _ part: ResealedPart, isDone: Bool, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      INSERT INTO reseal (place, position, rows, changed, done)
      VALUES (\(place), \(part.last ?? ""), \(part.rows), \(part.changed), \(isDone))
      ON CONFLICT (place) DO UPDATE SET position = excluded.position,
        rows = reseal.rows + excluded.rows, changed = reseal.changed + excluded.changed, done = excluded.done
      """)
  }

  private static func progress(_ connection: borrowing Connection) throws -> ResealProgress {
    let parts = try connection.all("SELECT rows, changed FROM reseal WHERE place > ''") { row in
      (try row.next() as Int, try row.next() as Int)
    }
    return ResealProgress(
      rows: parts.reduce(0) { $0 + $1.0 }, changed: parts.reduce(0) { $0 + $1.1 })
  }

  /// Returns the progress of the rotation, for a process that doesn't run it.
  public func progress() async throws -> (progress: ResealProgress, isDone: Bool) {
    let id = ring.ids[0]
    return try await store.read { connection in
      let done = try connection.first(
        "SELECT resealed_at IS NOT NULL FROM master_key WHERE key_id = \(id)"
      ) { try $0.next() as Bool }
      return (try Self.progress(connection), done == true)
    }
  }

  /// Lists the keys of the ring by ID, newest first, with what each is used for now.
  public func list() async throws -> [(id: String, since: Instant?, isSealing: Bool)] {
    var keys: [(id: String, since: Instant?, isSealing: Bool)] = []
    for (index, id) in ring.ids.enumerated() {
      keys.append((id, try await state(id)?.firstUsedAt, index == 0))
    }
    return keys
  }
}

extension Identity {
  public var unreadableSecrets: UnreadableSecrets { UnreadableSecrets(store: store) }
}

extension KeyRing {
  /// Returns whether these are the keys of a database: they include the one that encrypted
  /// everything at the end of a rotation's first pass, and the one that encrypts now.
  ///
  /// They're two during the first pass, when some rows need one and some the other. A database whose
  /// creation was interrupted doesn't name the one that encrypts now.
  func opens(_ connection: borrowing Connection) throws -> Bool {
    guard let mark = try InstanceValue("key_mark").read(connection), try self.mark().contains(mark)
    else { return false }
    guard let newest = try MasterKeys.latest(connection) else { return true }
    return ids.contains(newest.id)
  }
}
