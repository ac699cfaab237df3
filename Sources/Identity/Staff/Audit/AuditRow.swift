import Database
import Synchronization

/// A class, because each page of the log copies its rows, and one has more than twenty fields.
public final class AuditRow: Sendable {
  /// The row's number; numbers increase in the order of the changes.
  public let id: Int64
  public let at: Instant
  /// The kind of actor; nil if it's unknown.
  public let actor: Actor.Kind?
  public let actorKind: String
  /// The actor's ID; empty if there is none.
  public let actorID: String
  /// The actor's name at the time.
  public let actorName: String
  /// The project; nil for a change to the instance.
  public let project: ID<Project>?
  /// The tenant; nil for a change to the project or the instance.
  public let tenant: ID<Tenant>?
  public let action: AuditAction?
  /// The stored name of the action, as object and verb, such as `policy.change`.
  public let actionName: String
  public let object: AuditResource?
  public let objectKind: String
  public let objectID: String
  /// The resource's display name at the time.
  public let objectName: String
  public let changes: [AuditChange]
  /// The value before the change as text, in rows of earlier versions.
  public let legacyFrom: String?
  /// The value after the change as text, in rows of earlier versions.
  public let legacyTo: String?
  public let reason: String?
  public let note: String?
  public let address: String
  public let requestID: String
  public let ticket: String?
  /// The identity checks that the agent completed, one per line.
  public let proof: String?

  static let columns: SQL = """
    audit_id, at, actor_kind, actor_id, actor_name, project_id, tenant_id, action, object_kind,
      object_id, object_name, from_value, to_value, reason, note, address, request_id, ticket, proof
    """

  init(_ row: inout Row, _ changes: [AuditChange]) throws {
    self.changes = changes
    id = try row.next()
    at = try row.next()
    actorKind = try row.next()
    actor = Actor.Kind(rawValue: actorKind)
    actorID = try row.next()
    actorName = try row.next()
    project = ID(nonEmpty: try row.next())
    tenant = ID(nonEmpty: try row.next())
    actionName = try row.next()
    action = AuditAction(stored: actionName)
    objectKind = try row.next()
    object = AuditResource(rawValue: objectKind)
    objectID = try row.next()
    objectName = try row.next()
    legacyFrom = try row.next()
    legacyTo = try row.next()
    reason = try row.next()
    note = try row.next()
    address = try row.next()
    requestID = try row.next()
    ticket = try row.next()
    proof = try row.next()
  }
}

/// A cache of audit rows by number, which only erasures change.
///
/// A count of erasures tells a read whether its snapshot is older or newer than the cached rows.
final class AuditRowCache: Sendable {
  private struct State {
    var rows: [Int64: AuditRow] = [:]
    /// The number of erasures that the rows include.
    var erasures: Int64 = 0
  }

  /// The maximum number of cached rows; the cache is cleared when it's exceeded.
  ///
  /// A row takes about a kilobyte.
  private static let limit = 4_000
  /// The maximum number of rows per read to cache; larger reads are downloads, which are rarely
  /// repeated.
  private static let longestPart = 200
  private static let erasures = InstanceValue("audit_erasures")
  private let state = Mutex(State())

  /// Reads the rows with these numbers, in order; all of them must exist.
  func rows(_ ids: [Int64], _ connection: borrowing Connection) throws -> [AuditRow] {
    let erasures = try Self.count(connection)
    // The copy shares storage until another thread adds to the cache.
    let known = state.withLock { state -> [Int64: AuditRow] in
      if state.erasures < erasures { state = State(erasures: erasures) }
      return state.erasures == erasures ? state.rows : [:]
    }
    var missing: [AuditRow] = []
    var found: [AuditRow] = []
    found.reserveCapacity(ids.count)
    for id in ids {
      if let row = known[id] {
        found.append(row)
        continue
      }
      guard let row = try Audit.find(id, connection) else { throw Failure("an audit row is gone") }
      missing.append(row)
      found.append(row)
    }
    if !missing.isEmpty, ids.count <= Self.longestPart { keep(missing, after: erasures) }
    return found
  }

  /// Has all servers on the database forget their rows once the transaction ends.
  static func noteErasure(_ connection: borrowing Connection) throws {
    try erasures.store(String(try count(connection) + 1), connection)
  }

  private static func count(_ connection: borrowing Connection) throws -> Int64 {
    try erasures.readNumber(connection) ?? 0
  }

  private func keep(_ new: [AuditRow], after erasures: Int64) {
    state.withLock { state in
      // Another read has seen an erasure that this one hasn't.
      guard state.erasures == erasures else { return }
      if state.rows.count + new.count > Self.limit { state.rows = [:] }
      for row in new { state.rows[row.id] = row }
    }
  }
}
