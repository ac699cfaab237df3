import Crypto
import Database

/// Removed factors that can be restored for a limited time.
public struct RemovalHold: Sendable {
  public let id: ID<RemovalHold>
  /// The factors at the time of the removal.
  public internal(set) var factors: [Factor]
  public let removedAt: Instant
  /// The administrator who removed them, who can't restore them.
  public let remover: ID<Administrator>
  public let removerName: String
  /// The time they're permanently deleted.
  public let until: Instant
}

package struct NewRemovalHold {
  let id: ID<RemovalHold>
  let agent: Administrator
  let until: Instant

  /// Creates a hold; nil if the factors are deleted permanently because someone else may possess
  /// them or the pool doesn't keep any.
  init?(_ request: ActionRequest, _ settings: SupportRules, at now: Instant, random: RandomSource) {
    self.init(
      request.reason, by: request.agent.administrator, settings, at: now, random: random)
  }

  init?(
    _ reason: SupportReason?, by agent: Administrator, _ settings: SupportRules, at now: Instant,
    random: RandomSource
  ) {
    guard settings.undoHours > 0, reason?.isHostile != true else { return nil }
    id = ID(random.uuid())
    self.agent = agent
    until = now.advanced(bySeconds: Int64(settings.undoHours) * 3_600)
  }
}

/// Stores factors that support agents removed, separately from active factors.
struct RemovedFactors: Sendable {
  let totp: TOTPFactor

  /// The maximum number of factors permanently deleted per transaction.
  static let share = 200

  /// Copies an account's factors to the removed factors before they're deleted.
  func keep(
    _ removal: Removal, _ hold: NewRemovalHold, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    let account = removal.account
    for factor in removal.factors {
      // An expired row may have the same ID, which an import can reuse.
      try Self.delete(factor.id, of: account.key, connection)
      // During a master key rotation, no secret may move from a table still to be re-encrypted to
      // one that's done.
      let sealed = try connection.first(
        """
        INSERT INTO removed_factor (account_key, enrollment_id, removal_id, removed_at, removed_by,
          remover_name, until, position, kind, display_name, enrolled_at, last_used_at, phone,
          sealed_secret, last_step, unused_steps, suspended_until, clock_offset)
        SELECT account_key, enrollment_id, \(hold.id), \(now),
          \(hold.agent.id), \(hold.agent.displayName), \(hold.until), position,
          kind, display_name, enrolled_at, last_used_at, phone, sealed_secret, last_step,
          unused_steps, suspended_until, clock_offset
        FROM factor
        WHERE account_key = \(account.key) AND enrollment_id = \(factor.id)
        RETURNING sealed_secret
        """
      ) { try $0.next() as [UInt8]? }
      try renew(
        sealed ?? nil, in: "removed_factor", factor.id, of: account, in: pool, connection)
    }
  }

  /// Restores factors with their last accepted interval, so that a code used before isn't accepted
  /// again.
  func restore(
    _ hold: RemovalHold, to account: Account, in pool: Pool, _ connection: borrowing Connection
  ) throws {
    for factor in hold.factors {
      try connection.run(
        """
        INSERT INTO factor (account_key, position, enrollment_id, kind, display_name, enrolled_at,
          last_used_at, phone, sealed_secret, last_step, unused_steps, suspended_until,
          clock_offset)
        SELECT account_key, position, enrollment_id, kind, display_name, enrolled_at, last_used_at,
          phone, sealed_secret, last_step, unused_steps, suspended_until, clock_offset
        FROM removed_factor
        WHERE account_key = \(account.key) AND enrollment_id = \(factor.id)
        """)
      let sealed = try connection.first(
        """
        DELETE FROM removed_factor
        WHERE account_key = \(account.key) AND enrollment_id = \(factor.id)
        RETURNING sealed_secret
        """
      ) { try $0.next() as [UInt8]? }
      try renew(sealed ?? nil, in: "factor", factor.id, of: account, in: pool, connection)
    }
    try FactorRecord.reconcile(account.key, in: pool, connection)
  }

  private func renew(
    _ sealed: [UInt8]?, in table: SQL, _ factor: ID<Factor>, of account: Account,
    in pool: Pool, _ connection: borrowing Connection
  ) throws {
    guard let sealed else { return }
    let box = try totp.resealed(
      sealed, project: pool.project.text, tenant: pool.tenant?.text ?? "",
      account: account.id.text, factor: factor.text)
    guard let box else { return }
    try connection.run(
      """
      UPDATE \(table) SET sealed_secret = \(box)
      WHERE account_key = \(account.key) AND enrollment_id = \(factor)
      """)
  }

  /// Ends all of an account's holds; the secrets are deleted in this transaction.
  static func end(_ account: Int64, _ connection: borrowing Connection) throws {
    try connection.run(
      """
      UPDATE removed_factor SET until = 0, sealed_secret = NULL
      WHERE account_key = \(account) AND until > 0
      """)
  }

  /// Deletes the factors of one removal; the database overwrites deleted data.
  static func delete(
    _ hold: RemovalHold, of account: Int64, _ connection: borrowing Connection
  ) throws {
    for factor in hold.factors { try delete(factor.id, of: account, connection) }
  }

  private static func delete(
    _ factor: ID<Factor>, of account: Int64, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      DELETE FROM removed_factor WHERE account_key = \(account) AND enrollment_id = \(factor)
      """)
  }

  /// Lists an account's removals that can be undone, newest first.
  static func list(
    _ account: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws -> [RemovalHold] {
    let rows = try connection.all(
      """
      SELECT \(Factor.columns), removal_id, removed_at, removed_by, remover_name, until, position
      FROM removed_factor WHERE account_key = \(account) AND until > \(now)
      """
    ) { row in
      (
        factor: try Factor(&row),
        hold: RemovalHold(
          id: try row.next(), factors: [], removedAt: try row.next(), remover: try row.next(),
          removerName: try row.next(), until: try row.next()),
        position: try row.next() as Int
      )
    }
    var found: [RemovalHold] = []
    for row in rows.sorted(by: { $0.position < $1.position }) {
      if let index = found.firstIndex(where: { $0.id == row.hold.id }) {
        found[index].factors.append(row.factor)
      } else {
        var hold = row.hold
        hold.factors = [row.factor]
        found.append(hold)
      }
    }
    return found.sorted { ($0.removedAt, $0.id.text) > ($1.removedAt, $1.id.text) }
  }

  /// Permanently deletes factors whose hold has ended, with one audit row per factor.
  static func purge(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    let rows = try connection.all(
      """
      SELECT \(Factor.columns), account_key FROM removed_factor
      WHERE until <= \(now) ORDER BY until LIMIT \(share)
      """
    ) { row in
      (factor: try Factor(&row), account: try row.next() as Int64)
    }
    for row in rows {
      try delete(row.factor.id, of: row.account, connection)
      let pool = try connection.first(
        """
        SELECT \(Pool.columns) FROM scope s \(SQL.orderedJoin) project p USING (project_id)
        WHERE s.scope_key = \(Pool.key(ofAccount: row.account))
        """
      ) { try Pool(&$0) }
      guard let pool, let account = try AccountRecord.find(key: row.account, connection) else {
        continue
      }
      var entry = AuditEntry(.factorPurge, of: account, in: pool)
      entry.add(.factors, lost: .of([row.factor]))
      try entry.record(by: Author(actor: .server), at: now, connection)
    }
    return rows.count == share
  }
}

extension RemovedFactors: ReencryptableStore {
  static let name = "removed factor"

  func reseal(
    after position: String, limit: Int, _ connection: borrowing Connection
  ) throws -> ResealedPart {
    let start = PairPosition(position, least: "")
    let rows = try connection.all(
      """
      SELECT r.account_key, r.enrollment_id, r.sealed_secret, a.uid, s.project_id, s.tenant_id
      FROM removed_factor r \(SQL.orderedJoin) account a ON a.account_key = r.account_key
        \(SQL.orderedJoin) scope s ON s.scope_key = a.scope_key
      WHERE (r.account_key, r.enrollment_id) > (\(start.first), \(start.second))
      ORDER BY r.account_key, r.enrollment_id LIMIT \(limit)
      """
    ) { row in
      (
        account: try row.next() as Int64, factor: try row.next() as String,
        sealed: try row.next() as [UInt8]?, uid: try row.next() as String,
        project: try row.next() as String, tenant: try row.next() as String
      )
    }
    return try ResealedPart(rows, at: { PairPosition($0.account, $0.factor).text }) { row in
      guard let sealed = row.sealed,
        let box = try totp.resealed(
          sealed, project: row.project, tenant: row.tenant, account: row.uid, factor: row.factor)
      else { return false }
      try connection.run(
        """
        UPDATE removed_factor SET sealed_secret = \(box)
        WHERE account_key = \(row.account) AND enrollment_id = \(row.factor)
        """)
      return true
    }
  }
}
