import Database

/// A role with the time at which it ends automatically, if it does, and its source.
struct TimedGrant: Sendable {
  let grant: Grant
  let end: Instant?
  /// Whether the administrator has it because of a group at the sign-in provider.
  let isFromProvider: Bool

  static let columns: SQL = "role, project_id, tenant_id, ends_at, is_from_provider"

  static let heldColumns: SQL = "\(columns), administrator_id"

  static func held(
    _ row: inout Row
  ) throws -> (timed: TimedGrant, id: ID<Administrator>) {
    (try TimedGrant(&row), try row.next())
  }

  init(_ row: inout Row) throws {
    grant = try Administrators.grant(&row)
    end = try row.next()
    isFromProvider = try row.next()
  }
}

extension [TimedGrant] {
  var ends: [Grant: Instant] {
    var ends: [Grant: Instant] = [:]
    for timed in self { ends[timed.grant] = timed.end }
    return ends
  }

  var groupGrants: Set<Grant> { Set(filter(\.isFromProvider).map(\.grant)) }
}

extension Administrators {
  /// The maximum time from now until a role ends, in seconds (two years).
  public static let longestGrant: Int64 = 731 * 86_400
  /// How long before its end the holder of a role is reminded, in seconds (a week).
  static let reminderLead: Int64 = 7 * 86_400

  /// Returns whether a role ends so soon that the message about the end date replaces the reminder.
  static func isSoon(_ end: Instant?, at now: Instant) -> Bool {
    guard let end else { return false }
    return end <= now.advanced(bySeconds: reminderLead)
  }

  static func check(
    end: Instant?, at now: Instant
  ) throws(ManagementError) {
    guard let end else { return }
    guard now < end else { throw .endInPast }
    guard end <= now.advanced(bySeconds: longestGrant) else { throw .endTooLate }
  }

  /// Reads the roles in force with their ends.
  static func timedGrants(
    _ id: ID<Administrator>, at now: Instant, _ connection: borrowing Connection
  ) throws -> [TimedGrant] {
    try connection.all(
      """
      SELECT \(TimedGrant.columns) FROM administrator_grant
      WHERE administrator_id = \(id) AND \(inForce(at: now))
      ORDER BY role, project_id, tenant_id
      """
    ) { try TimedGrant(&$0) }
  }
}
