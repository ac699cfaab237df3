public import Database
import Foundation
public import IdentityToolkitClient

/// A change that the server of a connected project is to make, and how it went.
///
/// It's stored before it's sent, so that it's sent once at most.
public struct Intent: Sendable {
  /// The raw value is stored.
  public enum State: String, Sendable, SQLConvertible {
    /// It wasn't sent yet.
    case waiting
    /// It was sent, or is about to be.
    case sent
    case done
    /// It wasn't carried out.
    case refused
    /// It was sent, and whether it was carried out isn't known.
    case unknown
    /// It wasn't sent, since a server stopped or a backup was restored.
    case lapsed
  }

  /// Why a change isn't done; stored as JSON.
  public enum Cause: Codable, Equatable, Sendable {
    /// The user has a factor that the administrator didn't see, by its name.
    case factorEnrolled(String)
    /// A factor that the administrator saw isn't there anymore, by its name.
    case factorGone(String)
    case isDisabled(Bool)
    /// The sessions were ended meanwhile.
    case sessionsEnded
    /// The policy is another one, as ``DirectoryChange`` stores it.
    case policyChanged(String)
    /// The remote doesn't have the user or the tenant.
    case gone
    /// Beside the factor that's to be removed, the user has one of a kind that can't be sent back.
    case unknownFactor
    /// The connection is paused, was disconnected, or has another credential.
    case connection
    case remote(RemoteFault.Cause)
    /// The remote was asked again, and doesn't have it.
    case unconfirmed
    case restored, moved

    public var policy: PolicyEdit? {
      guard case .policyChanged(let text) = self,
        case .policy(let edit, _, _) = DirectoryChange(stored: text)
      else { return nil }
      return edit
    }

    var stored: String? {
      (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) }
    }
  }

  /// The number of the entry in the audit log that says it was requested.
  public let id: Int64
  public let pool: Pool
  /// The user; nil for a policy.
  public let account: ID<Account>?
  public let accountName: String
  /// Nil if a later version stored it.
  public let change: DirectoryChange?
  let author: Author
  public let requesterName: String
  let reason: SupportReason?
  let note: String
  let ticket: String
  let proof: String
  let callerVerification: String?
  public let approver: String?
  public let state: State
  public let cause: Cause?
  /// The remote's own words.
  public let detail: String?
  let sender: String
  let until: Instant
  public let requestedAt: Instant
  public let sentAt: Instant?
  var validSince: Int64?
  public let endedAt: Instant?

  /// How long a process may take for each step before another one finishes it, in seconds: longer than
  /// a token and a call take.
  static let step: Int64 = 60
  /// How long those are kept that ended, in days; the audit log keeps what was done.
  static let daysKept = 90

  static let columns: SQL = """
    i.intent_id, i.uid, i.user_name, i.change, i.requester_kind, i.requester_id, i.requester_name,
      i.address, i.request_id, i.reason, i.note, i.ticket, i.proof, i.caller_verification,
      i.approver_name, i.state, i.cause, i.cause_text, i.sender, i.sender_until, i.requested_at,
      i.sent_at, i.valid_since_s, i.ended_at, \(Pool.columns)
    """

  init(_ row: inout Row) throws {
    id = try row.next()
    (account, accountName) = (ID(nonEmpty: try row.next()), try row.next())
    change = DirectoryChange(stored: try row.next())
    let (kind, actor): (String, String) = (try row.next(), try row.next())
    requesterName = try row.next()
    author = Author(
      actor: kind == Actor.Kind.administrator.rawValue
        ? .administrator(ID(actor), name: requesterName) : .commandLine,
      address: try row.next(), requestID: try row.next())
    reason = SupportReason(rawValue: try row.next())
    (note, ticket, proof) = (try row.next(), try row.next(), try row.next())
    (callerVerification, approver) = (try row.next(), try row.next())
    state = try row.next()
    let cause: String? = try row.next()
    self.cause = cause.flatMap { try? JSONDecoder().decode(Cause.self, from: Data($0.utf8)) }
    (detail, sender, until) = (try row.next(), try row.next(), try row.next())
    (requestedAt, sentAt) = (try row.next(), try row.next())
    (validSince, endedAt) = (try row.next(), try row.next())
    pool = try Pool(&row)
  }

  /// Reads the intents `i` that meet a condition.
  static func all(
    _ condition: SQL, order: SQL = "", _ connection: borrowing Connection
  ) throws -> [Intent] {
    try connection.all(
      """
      SELECT \(columns) FROM intent i \(SQL.orderedJoin) scope s ON s.scope_key = i.scope_key
        \(SQL.orderedJoin) project p ON p.project_id = s.project_id
      WHERE \(condition) \(order)
      """
    ) { try Intent(&$0) }
  }

  /// Whether a change of an object of a pool is on its way, which stores what the remote then has.
  static func isUnderWay(
    of object: String, in pool: Int64, _ connection: borrowing Connection
  ) throws -> Bool {
    try connection.first(
      """
      SELECT 1 FROM intent
      WHERE scope_key = \(pool) AND uid = \(object) AND state IN ('waiting', 'sent')
      """
    ) { _ in true } ?? false
  }

  /// Deletes those that ended long ago, a limited number at a time.
  static func purgeExpired(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    let oldest = now.advanced(bySeconds: -Int64(daysKept) * 86_400)
    return try connection.deletePart(
      "FROM intent WHERE ended_at IS NOT NULL AND ended_at < \(oldest)", of: "intent",
      by: "intent_id")
  }
}

/// A change of a connected pool before it's stored.
struct NewIntent: Sendable {
  let change: DirectoryChange
  let pool: Pool
  /// The user; nil for a policy.
  let account: Account?
  let author: Author
  var reason: SupportReason?
  var note = ""
  var ticket = ""
  var proof = ""
  var callerVerification: String?
  var approver: String?

  /// The entry that says it's requested, without its author and reason.
  private var entry: AuditEntry {
    var entry =
      account.map { AuditEntry(.changeRequest, of: $0, in: pool) }
      ?? AuditEntry(.changeRequest, .policy, pool.objectID, name: pool.name, in: pool)
    switch change {
    case .policy(let new, _, let seen): entry.compare(seen?.auditFields, new.auditFields)
    case .factorsRemoved(let factor, _):
      let lost = account?.factors.filter { factor == nil || $0.id == factor } ?? []
      entry.add(.factors, lost: .of(lost))
    case .disabled(let new, let seen): entry.add(.disabled, from: .flag(seen), to: .flag(new))
    case .sessionsEnded: break
    }
    return entry
  }

  /// Stores the intent, which the process sends, after its entry, which the closure records; returns its
  /// number.
  ///
  /// - Throws: ``ActionDenial/changeUnderWay`` if another one of the user or the policy isn't over,
  ///   ``ActionDenial/connectionStopped``, and what the closure throws.
  func store(
    in store: Store, at now: Instant, _ connection: borrowing Connection,
    recording record: (AuditEntry) throws -> Void
  ) throws -> Int64 {
    let isConnected = try connection.first(
      """
      SELECT 1 FROM connection
      WHERE project_id = \(pool.project) AND state IN ('working', 'failing')
      """
    ) { _ in true }
    guard isConnected != nil else { throw ActionDenial.connectionStopped }
    // What was seen may be what the other one changes.
    guard try !Intent.isUnderWay(of: account?.id.text ?? "", in: pool.key, connection) else {
      throw ActionDenial.changeUnderWay
    }
    try record(entry)
    let id = try connection.first(
      """
      INSERT INTO intent (intent_id, scope_key, uid, user_name, change, requester_kind, requester_id,
        requester_name, address, request_id, reason, note, ticket, proof, caller_verification,
        approver_name, state, sender, sender_until, requested_at)
      VALUES (\(SQL.insertedKey), \(pool.key), \(account?.id.text ?? ""), \(account?.label ?? ""),
        \(change.stored), \(author.actor.kind), \(author.actor.id), \(author.actor.name),
        \(author.address), \(author.requestID), \(reason?.rawValue ?? ""), \(note), \(ticket),
        \(proof), \(callerVerification), \(approver), 'waiting', \(store.process),
        \(now.advanced(bySeconds: Intent.step)), \(now))
      RETURNING intent_id
      """
    ) { try $0.next() as Int64 }
    guard let id else { throw Failure("an intent without a number") }
    return id
  }
}

extension DirectoryChange {
  /// Requests the change of a connected pool of its server, for the action of a context.
  ///
  /// - Returns: The number of the intent.
  func request(
    of account: Account?, in pool: Pool, _ store: Store, _ context: ActionContext,
    _ connection: borrowing Connection
  ) throws -> Int64 {
    var new = NewIntent(change: self, pool: pool, account: account, author: context.author)
    if let request = context.request {
      (new.reason, new.note, new.ticket) = (request.reason, request.note, request.ticket)
    }
    (new.note, new.proof) = (context.reason ?? new.note, context.proof)
    (new.callerVerification, new.approver) = (context.callerProof?.rawValue, context.approver)
    return try new.store(in: store, at: context.now, connection) { entry in
      try context.record(entry, connection)
    }
  }
}
