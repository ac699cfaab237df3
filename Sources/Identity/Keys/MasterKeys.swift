import Crypto
import Database

/// The rotation of the master key: everything sealed is sealed anew under the newest key of the ring,
/// and the others are dropped when nothing needs them any more.
///
/// A process that has the ring of the moment and no other beside it that writes calls
/// ``step()`` until there is nothing to do. Each step is one short write which also keeps how far it
/// got, so that a process that was killed is followed by one that goes on.
public struct MasterKeys: Sendable {
  let store: Store
  let ring: KeyRing
  let places: [any ReencryptableStore]

  /// What there was to do.
  public enum Step: Sendable, Equatable {
    /// There is one key, which sealed everything.
    case settled
    /// A part was gone over; there is more.
    case part(ResealProgress)
    /// Everything is sealed with the newest key; until the moment, what clients carry may not be.
    case waiting(Instant)
    /// Nothing needs the older keys any more: ``drop()`` them where the ring is kept.
    case droppable
  }

  /// Seconds for which an older key stays after the newest was first used: what is sealed and
  /// carried by clients lives a quarter of an hour at most, and what another process sealed
  /// meanwhile is found by a second pass.
  public static let carried: Int64 = 3_600

  /// How many rows a step goes over at most.
  static let share = 200

  /// Does the next part of the work, in one write.
  ///
  /// - Throws: ``KeyError``.
  public func step() async throws(KeyError) -> Step {
    let ids = ring.ids
    guard ids.count > 1 else { return .settled }
    guard let kept = try await state(ids[0]) else { throw .unavailable(Failure("no master key")) }
    if kept.passes > 0 {
      let until = kept.firstUsedAt.advanced(bySeconds: Self.carried)
      if store.clock.now() < until { return .waiting(until) }
      if kept.passes > 1 { return .droppable }
    }
    return try await pass(ids[0])
  }

  private func state(
    _ id: String
  ) async throws(KeyError) -> (passes: Int, firstUsedAt: Instant)? {
    try await store.read(KeyError.self) { connection in
      try connection.first(
        "SELECT passes, first_used_at FROM master_key WHERE key_id = \(id)"
      ) { row in (try row.value(0), Instant(microseconds: try row.value(1))) }
    }
  }

  private func pass(_ id: String) async throws(KeyError) -> Step {
    let now = store.clock.now()
    let mark = try marks()[0]
    return try await store.write(KeyError.self) { connection in
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

  /// Ends a pass: the next one is to find nothing.
  private static func finish(
    _ id: String, _ mark: String, _ progress: ResealProgress, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    try connection.run("DELETE FROM reseal WHERE place > ''")
    let first = try connection.first(
      "SELECT resealed_at IS NULL FROM master_key WHERE key_id = \(id)"
    ) { try $0.value(0) as Bool }
    guard first == true else {
      // What another process sealed meanwhile takes one pass more.
      try connection.run(
        """
        UPDATE master_key SET passes = \(progress.changed == 0 ? 2 : 1) WHERE key_id = \(id)
        """)
      return
    }
    try connection.run(
      """
      UPDATE master_key SET passes = 1, resealed_at = \(now.microseconds) WHERE key_id = \(id)
      """)
    try connection.run("UPDATE instance SET value = \(mark) WHERE name = 'key_mark'")
    var entry = AuditEntry("master-key.reseal", "master key", id, name: id)
    entry.to = Words.count(progress.changed, "secret", "secrets")
    try entry.record(by: Author(actor: .server), at: now, connection)
  }

  /// Records that the older keys are dropped; where the ring is kept they go right afterwards.
  ///
  /// - Throws: ``KeyError``, also while ``step()`` would not say that they may go.
  public func drop() async throws(KeyError) {
    guard try await step() == .droppable else {
      throw .unavailable(Failure("the older master keys are in use"))
    }
    let now = store.clock.now()
    let id = ring.ids[0]
    try await store.write(KeyError.self) { connection in
      let old = try connection.all(
        "DELETE FROM master_key WHERE key_id <> \(id) RETURNING key_id"
      ) { try $0.value(0) as String }
      for key in old {
        let entry = AuditEntry("master-key.drop", "master key", key, name: key)
        try entry.record(by: Author(actor: .server), at: now, connection)
      }
    }
  }

  /// Records which key seals from now on, when it is another than the last time.
  ///
  /// - Throws: ``KeyError``.
  public func begin(by author: Author) async throws(KeyError) {
    let now = store.clock.now()
    let id = ring.ids[0]
    let latest = try await store.read(KeyError.self) { connection in try Self.latest(connection) }
    guard latest?.id != id else { return }
    try await store.write(KeyError.self) { connection in
      let before = try Self.latest(connection)
      guard before?.id != id else { return }
      let moment = max(now.microseconds, (before?.firstUsedAt ?? 0) + 1)
      try connection.run(
        """
        INSERT INTO master_key (key_id, first_used_at) VALUES (\(id), \(moment))
        ON CONFLICT (key_id) DO UPDATE SET first_used_at = excluded.first_used_at,
          resealed_at = NULL, passes = 0
        """)
      guard let before = before?.id else { return }
      // A pass that was under way was for a key that is not the newest any more.
      try connection.run("DELETE FROM reseal WHERE place > ''")
      var entry = AuditEntry("master-key.rotate", "master key", id, name: id)
      (entry.from, entry.to) = (before, id)
      try entry.record(by: author, at: now, connection)
    }
  }

  private static func latest(
    _ connection: borrowing Connection
  ) throws -> (id: String, firstUsedAt: Int64)? {
    try connection.first(
      "SELECT key_id, first_used_at FROM master_key ORDER BY first_used_at DESC LIMIT 1"
    ) { row in (try row.value(0), try row.value(1)) }
  }

  private func marks() throws(KeyError) -> [String] {
    do { return try ring.mark() } catch { throw .unavailable(Failure(error)) }
  }
}

/// How far a pass has got.
public struct ResealProgress: Sendable, Equatable {
  /// How many rows it has looked at.
  public let rows: Int
  /// How many of them it has sealed anew.
  public let changed: Int
}

extension MasterKeys {
  private static func position(
    _ place: String, _ connection: borrowing Connection
  ) throws -> (position: String, isDone: Bool) {
    try connection.first("SELECT position, done FROM reseal WHERE place = \(place)") { row in
      (try row.value(0), try row.value(1))
    } ?? ("", false)
  }

  private static func record(
    _ place: String, _ part: ResealedPart, isDone: Bool, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      INSERT INTO reseal (place, position, rows, changed, done)
      VALUES (\(place), \(part.last ?? ""), \(part.rows), \(part.changed), \(isDone))
      ON CONFLICT (place) DO UPDATE SET position = excluded.position, rows = rows + excluded.rows,
        changed = changed + excluded.changed, done = excluded.done
      """)
  }

  private static func progress(_ connection: borrowing Connection) throws -> ResealProgress {
    let parts = try connection.all("SELECT rows, changed FROM reseal WHERE place > ''") { row in
      (try row.value(0) as Int, try row.value(1) as Int)
    }
    return ResealProgress(
      rows: parts.reduce(0) { $0 + $1.0 }, changed: parts.reduce(0) { $0 + $1.1 })
  }

  /// How far the process that seals has got, for one that only looks on.
  ///
  /// - Throws: ``KeyError``.
  public func progress() async throws(KeyError) -> (progress: ResealProgress, isDone: Bool) {
    let id = ring.ids[0]
    return try await store.read(KeyError.self) { connection in
      let done = try connection.first(
        "SELECT resealed_at IS NOT NULL FROM master_key WHERE key_id = \(id)"
      ) { try $0.value(0) as Bool }
      return (try Self.progress(connection), done == true)
    }
  }

  /// The keys of the ring by their ids, the newest first, with what each is for now.
  ///
  /// - Throws: ``KeyError``.
  public func list() async throws(KeyError) -> [(id: String, since: Instant?, isSealing: Bool)] {
    var keys: [(id: String, since: Instant?, isSealing: Bool)] = []
    for (index, id) in ring.ids.enumerated() {
      keys.append((id, try await state(id)?.firstUsedAt, index == 0))
    }
    return keys
  }
}

extension Identity {
  func beginMasterKey() async throws(StartError) {
    do throws(KeyError) { try await masterKeys.begin(by: Author(actor: .commandLine)) } catch {
      switch error {
      case .unavailable(let failure): throw .unavailable(failure)
      }
    }
  }
}
