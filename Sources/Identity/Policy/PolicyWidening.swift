import Database

/// A wider window than before: more codes are valid at any moment.
public struct PolicyWidening: Sendable, Equatable {
  /// The window before.
  public let from: Window
  /// The window after.
  public let to: Window
  /// When it was widened.
  public let at: Instant
  /// The name of the administrator, service token, or command line that widened it.
  public let by: String

  /// How long a widened window is listed under “Needs attention”, in seconds.
  static let listed: Int64 = 30 * 86_400

  /// The windows of a change that widens one, whether or not TOTP is on; nil for any other change.
  static func windows(
    _ old: MFAConfiguration, _ new: MFAConfiguration
  ) -> (from: Window, to: Window)? {
    guard old.totp != nil, new.totp != nil, old.window.codes < new.window.codes else { return nil }
    return (old.window, new.window)
  }

  /// Records that a change widened the window, with an audit row of its own, or that a later one
  /// took it back.
  static func record(
    _ new: MFAConfiguration, over policy: Policy, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    let scope = policy.scope
    guard let (from, to) = windows(policy.configuration, new) else {
      // Without an entry nothing is accepted, so nothing is wide.
      let reached = new.totp == nil ? -1 : new.window.adjacentIntervals
      try connection.run(
        """
        DELETE FROM policy_widening
        WHERE scope_key = \(scope.key) AND intervals_before >= \(reached)
        """)
      return
    }
    try connection.run(
      """
      INSERT INTO policy_widening
        (scope_key, at, intervals_before, intervals_after, author_name)
      VALUES (\(scope.key), \(now.microseconds), \(from.adjacentIntervals),
        \(to.adjacentIntervals), \(author.actor.name))
      ON CONFLICT (scope_key) DO UPDATE SET at = excluded.at,
        intervals_after = excluded.intervals_after, author_name = excluded.author_name
      """)
    var entry = AuditEntry(
      "policy.widen", "policy window", Policies.objectID(scope), name: scope.name, in: scope)
    entry.from = "adjacent intervals: \(from.adjacentIntervals)"
    entry.to = "adjacent intervals: \(to.adjacentIntervals)"
    try entry.record(by: author, at: now, connection)
  }

  /// The widening that a pool should look at; nil when there was none lately.
  static func find(
    _ scope: Scope, at now: Instant, _ connection: borrowing Connection
  ) throws -> PolicyWidening? {
    try connection.first(
      """
      SELECT \(columns) FROM policy_widening w
      WHERE w.scope_key = \(scope.key) AND w.at > \(oldest(at: now).microseconds)
      """
    ) { try PolicyWidening($0, from: 0) } ?? nil
  }

  /// Widenings from before this moment aren't listed any more.
  static func oldest(at now: Instant) -> Instant { now.advanced(bySeconds: -listed) }

  static let columns: SQL = "w.intervals_before, w.intervals_after, w.at, w.author_name"

  /// Reads the columns of `columns`; nil when the windows are none.
  init?(_ row: borrowing Row, from column: Int) throws {
    guard let from = Window(adjacentIntervals: try row.value(column)),
      let to = Window(adjacentIntervals: try row.value(column + 1))
    else { return nil }
    self.from = from
    self.to = to
    at = Instant(microseconds: try row.value(column + 2))
    by = try row.value(column + 3)
  }
}
