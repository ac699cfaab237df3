import Database
import OTP

public enum PolicyWeakening: Sendable, Equatable {
  /// A kind of factor is disabled, so users are no longer asked for its codes.
  case factorDisabled(Factor.Kind)
  case widerWindow(from: Int, to: Int)
  case noLongerMandatory
  case looserPattern(from: EnrollmentPattern, to: EnrollmentPattern?)
  /// Enrollment becomes mandatory later; `from` is nil if it was mandatory immediately.
  case laterStart(from: Day?, to: Day)
  /// The server enforces enrollment less strictly, later, or no longer.
  case looserEnforcement(from: Enforcement, to: Enforcement?)

  var isWiderWindow: Bool {
    if case .widerWindow = self { true } else { false }
  }
}

extension PolicyEdit {
  /// Returns how the policy is weaker than another; empty if it isn't.
  ///
  /// `usersHaveApps` says whether any user of the pool has an authenticator app, and is read only if
  /// that matters; see ``Policy/weakenings(by:)``.
  public func weakenings(
    since old: PolicyEdit, usersHaveApps: @autoclosure () throws -> Bool
  ) rethrows -> [PolicyWeakening] {
    try PolicyChange.Field.allCases.flatMap {
      try weakenings(of: $0, since: old, usersHaveApps: try usersHaveApps())
    }
  }

  private func weakenings(
    of field: PolicyChange.Field, since old: PolicyEdit,
    usersHaveApps: @autoclosure () throws -> Bool
  ) rethrows -> [PolicyWeakening] {
    let (was, becomes) = (old.configuration, configuration)
    switch field {
    case .totp:
      if was.isTOTPOn, !becomes.isTOTPOn { return [.factorDisabled(.totp)] }
      let isLess = was.totp?.state == .mandatory && becomes.totp?.state != .mandatory
      return isLess ? [.noLongerMandatory] : []
    case .adjacentIntervals:
      // Compared even while TOTP is disabled, because the stored window applies once TOTP is
      // enabled again. A missing entry is compared as the default window if that matters to anyone;
      // otherwise dropping the entry and adding it again would widen a window unnoticed. One that
      // isn't known is compared as the default, since it can't be wider.
      let (from, to) = (was.window.adjacentIntervals, becomes.window.adjacentIntervals)
      guard to > from, try was.totp != nil && becomes.totp != nil || usersHaveApps() else {
        return []
      }
      return [.widerWindow(from: from, to: to)]
    case .sms:
      return was.isSMSOn && !becomes.isSMSOn ? [.factorDisabled(.phone)] : []
    case .state:
      return was.state == .mandatory && becomes.state != .mandatory ? [.noLongerMandatory] : []
    case .pattern:
      guard let before = old.pattern else { return [] }
      if before.strictness > (pattern?.strictness ?? 0) {
        return [.looserPattern(from: before, to: pattern)]
      }
      guard before == .mandatory, let day = mandatoryFrom else { return [] }
      let isLater = old.mandatoryFrom.map { $0 < day } ?? true
      return isLater ? [.laterStart(from: old.mandatoryFrom, to: day)] : []
    case .enforcement:
      guard let before = old.enforcement else { return [] }
      let isLooser = enforcement?.isLooser(than: before) ?? true
      return isLooser ? [.looserEnforcement(from: before, to: enforcement)] : []
    }
  }
}

extension Policy {
  public func weakenings(by new: PolicyEdit) -> [PolicyWeakening] {
    new.weakenings(since: stored.edit, usersHaveApps: totpUsers > 0)
  }

  /// Returns how many users a weakened policy affects; 0 without any weakening.
  ///
  /// These are users with a factor whose codes are no longer required or for which more codes are
  /// valid, or all users if enrollment requirements are less strict.
  func users(affectedBy weakenings: [PolicyWeakening]) -> Int {
    let counts = weakenings.map { weakening in
      switch weakening {
      case .factorDisabled(let kind): users(with: [kind])
      case .widerWindow: totpUsers
      case .noLongerMandatory, .looserPattern, .laterStart, .looserEnforcement: users
      }
    }
    return counts.max() ?? 0
  }

  /// Returns whether a weakened policy requires a second administrator: if it affects more users
  /// than `limit`, nil for never.
  func needsApproval(of weakenings: [PolicyWeakening], above limit: Int?) -> Bool {
    limit.map { users(affectedBy: weakenings) > $0 } ?? false
  }
}

extension EnrollmentPattern {
  /// How strictly users are asked to enroll; a missing pattern is 0.
  fileprivate var strictness: Int {
    switch self {
    case .mandatory: 4
    case .stepUp: 3
    case .skippable: 2
    case .account: 1
    }
  }
}

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
    try context.outbox.notifyOwners(
      .policyWeakened, .weakenedPolicy(mail), of: pool, excluding: context.author, at: now,
      connection)
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
