import Crypto
import Database

/// A report about a pool or the instance; the raw value is its stored name and the end of its address.
public enum Report: String, CaseIterable, Sendable {
  /// The numbers of users and of enrolled users over time.
  case enrollment
  /// Removals of second factors by reason and agent.
  case removals
  /// Current and past exemptions from MFA.
  case exemptions
  /// Accounts whose codes aren't checked.
  case locked
  /// Second factors that have never been used, haven't been used for long, were enrolled long ago,
  /// or share a secret with another user's.
  case factors

  public var permission: Permission {
    switch self {
    case .enrollment: .seePool
    case .removals: .readAudit
    case .exemptions, .locked, .factors: .findUsers
    }
  }

  public var needs: Capability {
    switch self {
    case .enrollment, .exemptions, .factors: .bookkeeping
    case .removals, .locked: .secrets
    }
  }
}

public struct Reports: Sendable {
  let store: Store
}

public enum ReportSubject: Hashable, Sendable {
  case pool(Pool)
  /// A project with its tenants; the pool is that of the project's own users.
  case project(Pool)
  /// All pools whose report the reader can read.
  case instance

  /// The pool, or that of the project's own users; nil for the instance.
  public var basePool: Pool? {
    switch self {
    case .pool(let pool), .project(let pool): pool
    case .instance: nil
    }
  }
}

extension Report {
  /// Whether there's a report about a project with its tenants.
  public var coversTenants: Bool {
    switch self {
    case .enrollment, .removals, .exemptions: true
    case .locked, .factors: false
    }
  }

  /// Whether there's a report about all projects.
  public var coversProjects: Bool { self == .removals || self == .exemptions }
}

extension Administrator {
  public func may(read report: Report, about subject: ReportSubject) -> Bool {
    guard subject.basePool?.offers.contains(report.needs) ?? true else { return false }
    return switch subject {
    case .pool(let pool): may(report.permission, in: pool)
    case .project(let pool):
      report.coversTenants && pool.tenant == nil && may(report.permission, in: pool)
    case .instance: report.coversProjects && maySomewhere(report.permission)
    }
  }
}

/// What makes a second factor worth a look.
public enum FactorCondition: Hashable, Sendable {
  case neverUsed
  /// It has the same secret as a factor of another user of the pool.
  case sharedSecret
  /// It hasn't been used, or enrolled, for this many days.
  case unused(days: Int)
  /// It was enrolled more than this many years ago.
  case enrolled(years: Int)

  /// The condition on a factor `f` of a pool.
  fileprivate func text(in keys: ClosedRange<Int64>, at now: Instant) -> SQL {
    switch self {
    case .neverUsed: return "f.last_used_at IS NULL"
    case .sharedSecret:
      return """
        EXISTS (SELECT 1 FROM factor o WHERE o.secret_digest = f.secret_digest
          AND o.account_key <> f.account_key
          AND o.account_key >= \(keys.lowerBound) AND o.account_key <= \(keys.upperBound))
        """
    case .unused(let days):
      let start = now.advanced(bySeconds: -Int64(days) * 86_400)
      return "coalesce(f.last_used_at, f.enrolled_at) < \(start)"
    case .enrolled(let years):
      let start = now.advanced(bySeconds: -Int64(years) * 31_556_952)
      return "f.enrolled_at < \(start)"
    }
  }
}

public struct ReportedFactor: Sendable {
  public let account: ID<Account>
  /// The user's email address, name, phone number, or ID.
  public let label: String
  public let kind: Factor.Kind
  public let displayName: String?
  public let enrolledAt: Instant
  /// When a code was last accepted; nil if never.
  public let lastUsedAt: Instant?
  /// A part of the keyed digest of the TOTP secret, which is the same for users who share it; nil
  /// while there's none, and for a phone.
  public let secretFingerprint: String?

  package let key: Int64
  let position: Int64
}

extension Reports {
  /// Lists second factors of a pool that meet a condition, by user, oldest user first.
  public func factors(
    in pool: Pool, _ condition: FactorCondition, after: String? = nil, limit: Int = 50
  ) async throws -> Page<ReportedFactor> {
    let (now, limit) = (store.clock.now(), Page<ReportedFactor>.size(limit))
    let keys = pool.accountKeys
    let parts = (after ?? "").split(separator: "-", omittingEmptySubsequences: false)
    let cursor = parts.count == 2 ? parts.compactMap { Int64($0) } : []
    let number = cursor.count == 2 ? min(max(cursor[0], 0), 1 << 40) : 0
    let position = cursor.count == 2 ? cursor[1] : -1
    return try await store.read { connection in
      let found = try connection.all(
        """
        SELECT f.kind, f.display_name, f.enrolled_at, f.last_used_at, f.account_key, f.position,
          \(Account.labelColumns), f.secret_digest
        FROM factor f \(SQL.orderedJoin) account a ON a.account_key = f.account_key
        WHERE (f.account_key, f.position) > (\(keys.lowerBound + number), \(position))
          AND f.account_key <= \(keys.upperBound) AND a.gone_at IS NULL
          AND \(condition.text(in: keys, at: now))
        ORDER BY f.account_key, f.position LIMIT \(limit + 1)
        """
      ) { try ReportedFactor(&$0) }
      return Page(found, limit: limit) { "\($0.key - keys.lowerBound)-\($0.position)" }
    }
  }

  /// Counts what ``factors(in:_:after:limit:)`` lists for each of some conditions, among the first
  /// second factors of a pool.
  public func factorCounts(
    in pool: Pool, _ conditions: [FactorCondition], limit: Int = 50_000
  ) async throws -> FactorCounts {
    let keys = pool.accountKeys
    let gone: SQL = """
      SELECT account_key FROM account WHERE scope_key = \(pool.key) AND gone_at IS NOT NULL
      """
    let present: SQL = pool.kind == .hosted ? "" : "AND account_key NOT IN (\(gone))"
    return try await store.read { now, connection in
      let sums: [SQL] = conditions.map { condition in
        """
        , CAST(coalesce(sum(CASE WHEN \(condition.text(in: keys, at: now)) THEN 1 ELSE 0 END), 0)
          AS BIGINT)
        """
      }
      return try connection.first(
        """
        WITH f AS (SELECT account_key, last_used_at, enrolled_at, secret_digest FROM factor
          WHERE account_key >= \(keys.lowerBound) AND account_key <= \(keys.upperBound) \(present)
          ORDER BY account_key, position LIMIT \(limit + 1))
        SELECT count(*)\(sums.joined(separator: "")) FROM f
        """
      ) { row in
        let all: Int = try row.next()
        let counts = try conditions.map { ($0, min(try row.next() as Int, limit)) }
        return FactorCounts(
          all: min(all, limit), isCut: all > limit, counts: Dictionary(counts) { $1 })
      } ?? FactorCounts(all: 0, isCut: false, counts: [:])
    }
  }
}

/// How many second factors of a pool meet conditions.
public struct FactorCounts: Sendable {
  /// The number of second factors that were looked at.
  public let all: Int
  /// Whether the pool has more, so that the numbers are lower bounds.
  public let isCut: Bool
  fileprivate let counts: [FactorCondition: Int]

  /// The number of second factors that meet a condition; 0 for one that wasn't asked for.
  public subscript(condition: FactorCondition) -> Int { counts[condition] ?? 0 }
}

extension Reports {
  /// Returns why the codes of accounts, by key, aren't checked: the number of consecutive incorrect
  /// codes, and when the last of them was entered if that's known.
  ///
  /// Codes that weren't checked since share one attempt, which follows the one that locked.
  public func lockCauses(
    of accounts: [Int64]
  ) async throws -> [Int64: (wrongCodes: Int, since: Instant?)] {
    guard !accounts.isEmpty else { return [:] }
    let unchecked = [CodeAttempt.Result.blocked, .closed].map(\.rawValue)
    return try await store.read { connection in
      let causes = try connection.all(
        """
        SELECT a.account_key, a.wrong_codes,
          CASE WHEN v.result IN (\(list: unchecked)) THEN v.previous ELSE v.at END
        FROM account a LEFT JOIN code_attempt v ON v.scope_key = a.scope_key
          AND v.at = a.last_code_attempt_at AND v.account_key = a.account_key
        WHERE a.account_key IN (\(list: accounts))
        """
      ) { row in
        (try row.next() as Int64, (try row.next() as Int, try row.next() as Instant?))
      }
      return Dictionary(causes) { $1 }
    }
  }
}

extension ReportedFactor {
  fileprivate init(_ row: inout Row) throws {
    kind = try row.next()
    displayName = try row.next()
    enrolledAt = try row.next()
    lastUsedAt = try row.next()
    key = try row.next()
    position = try row.next()
    (account, label) = try Account.labeled(&row)
    secretFingerprint = (try row.next() as [UInt8]?).map { Hex.encode($0.suffix(4)) }
  }
}
