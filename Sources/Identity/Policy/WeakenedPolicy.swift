import Database

/// A policy that was weakened and isn't as strict as before again.
public struct WeakenedPolicy: Sendable, Equatable {
  /// How it's weaker than before it was first weakened, by anyone; never empty.
  public let weakenings: [PolicyWeakening]
  /// When it was last weakened; up to a minute earlier if the same author repeated it.
  public let at: Instant
  /// The name of the administrator, service token, or command line that weakened it last.
  public let by: String
  /// The reason of the last change; nil if none was given, as with REST calls.
  public let reason: String?

  /// How long a weakened policy is listed under “Needs attention”, in seconds.
  static let listed: Int64 = 30 * 86_400
  /// How long owners aren't sent another email about the same policy, in seconds.
  static let quiet: Int64 = 60

  /// Records a weakened policy and notifies the owners, or deletes the record once the policy is as
  /// strict as before again.
  ///
  /// `weakenings` says how the new policy is weaker than the current one; it can be empty.
  static func record(
    _ weakenings: [PolicyWeakening], of new: PolicyEdit, over policy: StoredPolicy,
    usersHaveApps: @autoclosure () throws -> Bool, _ context: ActionContext,
    _ connection: borrowing Connection
  ) throws {
    let (pool, now) = (policy.pool, context.now)
    let kept = try connection.first(
      """
      SELECT \(PolicyEdit.columns("w")), w.at, w.notified_at, w.author_name, w.reason
      FROM policy_weakening w
      WHERE w.scope_key = \(pool.key)
      """
    ) { row in
      (
        before: try PolicyEdit(&row), at: try row.next() as Instant,
        notifiedAt: try row.next() as Instant?,
        by: try row.next() as String, reason: try row.next() as String?
      )
    }
    let recent = kept.flatMap { $0.at > oldest(at: now) ? $0 : nil }
    let before = recent?.before ?? policy.edit
    let isWeaker = try !new.weakenings(since: before, usersHaveApps: try usersHaveApps()).isEmpty
    if kept != nil, recent == nil || !isWeaker {
      try connection.run("DELETE FROM policy_weakening WHERE scope_key = \(pool.key)")
    }
    guard isWeaker else { return }
    // The policy got stricter, but not yet as strict as it was before it was weakened.
    guard !weakenings.isEmpty else { return }
    let isQuiet = recent?.notifiedAt.map { $0.isRecent(within: quiet, at: now) } ?? false
    let by = context.author.actor.name
    // Changes by the same author for the same reason within the quiet time are one weakening.
    if isQuiet, let recent, recent.by == by, recent.reason == context.reason { return }
    let notifiedAt = isQuiet ? recent?.notifiedAt : now
    try connection.run(
      """
      INSERT INTO policy_weakening (scope_key, at, author_name, reason, notified_at,
        \(PolicyEdit.columnNames))
      VALUES (\(pool.key), \(now), \(by), \(context.reason),
        \(notifiedAt), \(before.values))
      ON CONFLICT (scope_key) DO UPDATE SET at = excluded.at, author_name = excluded.author_name,
        reason = excluded.reason, notified_at = excluded.notified_at
      """)
    guard !isQuiet else { return }
    let mail = WeakenedPolicyMail(
      pool: pool, changes: PolicyChange.between(policy.edit, new), by: by,
      reason: context.reason, at: now)
    try context.outbox.notifyOwners(mail, excluding: context.author, connection)
  }

  /// Returns how a pool's policy was weakened; nil if it's as strict as before again or wasn't
  /// weakened recently.
  static func find(
    _ pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws -> WeakenedPolicy? {
    try connection.first(
      """
      SELECT \(columns) FROM policy_weakening w \(SQL.orderedJoin) scope s USING (scope_key)
      WHERE w.scope_key = \(pool.key) AND w.at > \(oldest(at: now))
      """
    ) { try WeakenedPolicy(&$0) } ?? nil
  }

  /// Returns the time before which weakenings are no longer listed.
  static func oldest(at now: Instant) -> Instant { now.advanced(bySeconds: -listed) }

  static let columns: SQL = """
    \(PolicyEdit.columns("w")), \(PolicyEdit.columns("s")), w.at, w.author_name, w.reason,
      s.totp_users
    """

  /// Reads the columns of `columns`; nil if the policy is as strict as before again.
  init?(_ row: inout Row) throws {
    let (before, now) = (try PolicyEdit(&row), try PolicyEdit(&row))
    at = try row.next()
    by = try row.next()
    reason = try row.next()
    let users: Int = try row.next()
    weakenings = now.weakenings(since: before, usersHaveApps: users > 0)
    if weakenings.isEmpty { return nil }
  }
}
