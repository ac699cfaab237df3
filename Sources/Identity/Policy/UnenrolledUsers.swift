import Database

/// The users of a pool without a second factor of a kind that a configuration enables.
public struct UnenrolledUsers: Sendable, Equatable {
  public let total: Int
  public let exempt: Int
  /// The number of them who are anonymous, and not exempt.
  public let anonymous: Int
  /// Whether any of them has a factor of a disabled kind.
  public let haveDisabledFactors: Bool

  /// The number of users who have to enroll where enrollment is mandatory, once their time is over.
  ///
  /// Anonymous users can't enroll; see ``EnrollmentDuty``.
  public var required: Int { max(total - exempt - anonymous, 0) }

  static func count(
    _ policy: Policy, under configuration: MFAConfiguration, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> UnenrolledUsers {
    let (pool, kinds) = (policy.pool, configuration.kinds)
    let total = policy.users(without: kinds)
    let exempt = try connection.first(
      """
      SELECT count(*) FROM exemption e
        \(SQL.orderedJoin) account a ON a.account_key = e.account_key
      WHERE a.scope_key = \(pool.key) AND \(Exemptions.current(in: pool, at: now))
        \(without(kinds))
      """
    ) { try $0.next() as Int }
    let anonymous = try connection.first(
      """
      SELECT count(*) FROM account a \(index: "account_anonymous")
      WHERE a.scope_key = \(pool.key) AND a.anonymous = 1 \(without(kinds))
        AND \(isNotExempt(at: now))
      """
    ) { try $0.next() as Int }
    return UnenrolledUsers(
      total: total, exempt: exempt ?? 0, anonymous: anonymous ?? 0,
      haveDisabledFactors: total != policy.users - policy.enrolledUsers)
  }

  /// The further condition that accounts `a` have no factor of these kinds.
  fileprivate static func without(_ kinds: Set<Factor.Kind>) -> SQL {
    let totp: SQL = kinds.contains(.totp) ? "AND a.has_totp = 0" : ""
    let phone: SQL = kinds.contains(.phone) ? "AND a.has_phone = 0" : ""
    return "\(totp) \(phone)"
  }

  /// The condition that accounts `a` aren't exempt from MFA.
  fileprivate static func isNotExempt(at now: Instant) -> SQL {
    """
    NOT EXISTS (SELECT 1 FROM exemption e
      WHERE e.account_key = a.account_key AND e.ends_at > \(now))
    """
  }
}

extension Policies {
  /// `configuration` is the one that enables kinds of factors; nil for the policy's.
  public func unenrolledUsers(
    _ policy: Policy, under configuration: MFAConfiguration? = nil
  ) async throws -> UnenrolledUsers {
    let now = store.clock.now()
    return try await store.read { connection in
      try UnenrolledUsers.count(
        policy, under: configuration ?? policy.configuration, at: now, connection)
    }
  }

  /// Returns how many users of a pool have no second factor and no exemption, but still have time to
  /// enroll; up to a minute old for pools of more than 10,000 users.
  public func usersInGrace(
    _ policy: Policy, of unenrolled: UnenrolledUsers
  ) async throws -> Int {
    guard let enforcement = policy.edit.effectiveEnforcement else { return 0 }
    let (now, pool) = (store.clock.now(), policy.pool)
    let start = enforcement.start(mandatoryFrom: policy.mandatoryFrom)
    let cutoff = now.advanced(bySeconds: -Int64(enforcement.graceDays) * 86_400)
    guard start <= cutoff else { return unenrolled.required }
    guard enforcement.graceDays > 0 else { return 0 }
    return try await store.read { connection in
      try graceCounts.value(
        of: pool.key, version: policy.version, users: policy.users, at: now
      ) {
        try connection.first(
          """
          SELECT count(*) FROM account a \(index: "account_by_creation")
          WHERE a.scope_key = \(pool.key) AND a.created_at > \(cutoff)
            AND a.anonymous = 0 \(UnenrolledUsers.without(policy.configuration.kinds))
            AND \(UnenrolledUsers.isNotExempt(at: now))
          """
        ) { try $0.next() } ?? 0
      }
    }
  }
}
