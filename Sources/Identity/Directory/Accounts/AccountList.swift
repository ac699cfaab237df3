import Crypto
import Database
import Text

extension Accounts {
  public enum Filter: String, Sendable, CaseIterable {
    case all
    /// Accounts without a second factor that aren't exempt from MFA.
    case none
    case exempt
    case totp
    case phone
    /// Accounts whose codes aren't checked, either temporarily or until an administrator unlocks
    /// them.
    case locked
    case suspended
    /// Accounts whose last codes showed that the device's clock is off.
    case clockOff = "clock-off"
    /// Accounts whose user reported a change that no owner has decided on.
    case reported
    case disabled
    case unverified
    /// Accounts that are older than ``inactiveDays`` and had no sign-in since.
    case inactive

    public static let inactiveDays = 90

    /// The only order of its list, since no index has another one; nil for any order.
    public var order: Sort? { self == .inactive ? .lastSignIn : nil }

    /// True if few accounts match, so that a list sorts them: no index has them in each order.
    fileprivate var matchesFew: Bool {
      [.exempt, .suspended, .clockOff, .reported].contains(self)
    }

    fileprivate static func lastActive(at now: Instant) -> Instant {
      now.advanced(bySeconds: -Int64(inactiveDays) * 86_400)
    }

    /// Whether an account is old enough to be inactive.
    fileprivate static func isOld(_ createdAt: Instant, at now: Instant) -> Bool {
      createdAt < lastActive(at: now)
    }

    func includes(_ account: Account, exempt: Set<Int64>, at now: Instant) -> Bool {
      switch self {
      case .all: true
      case .none: account.factors.isEmpty && !exempt.contains(account.key)
      case .exempt: exempt.contains(account.key)
      case .totp: account.factors.contains { $0.kind == .totp }
      case .phone: account.factors.contains { $0.kind == .phone }
      case .locked: account.codesBlockedUntil != nil
      case .suspended: account.factors.contains { $0.isSuspended(at: now) }
      case .clockOff: account.isClockOff
      case .reported: account.changesLockedAt != nil
      case .disabled: account.disabled
      case .unverified: account.email != nil && !account.emailVerified
      case .inactive:
        Self.isOld(account.createdAt, at: now)
          && account.lastLoginAt?.day ?? 0 < Self.lastActive(at: now).day
      }
    }
  }

  public enum Sort: String, Sendable, CaseIterable {
    case newest
    /// By email address; accounts without one come last.
    case email
    /// By display name, ignoring case and accents; accounts without one come last.
    case name
    /// By day of last sign-in, most recent first; accounts that never signed in come last.
    ///
    /// Within a page, accounts are sorted by exact time.
    case lastSignIn = "last-sign-in"
  }

  /// Lists accounts a page at a time.
  ///
  /// A page of inactive accounts can be shorter than `limit` with more to come, since a limited number
  /// of accounts is examined for it.
  public func list(
    _ pool: Pool, filter: Filter = .all, sort: Sort = .newest, after: String? = nil,
    limit: Int = 50
  ) async throws -> Page<AccountSummary> {
    let limit = Page<AccountSummary>.size(limit)
    let sort = filter.order ?? sort
    let list = AccountList(
      pool: pool, filter: filter, sort: sort, now: store.clock.now())
    return try await store.read { connection in
      let page = try list.page(
        after: after.flatMap { AccountList.Place($0, sort: sort) }, limit: limit + 1, connection)
      var (rows, next) = (page.rows, page.end?.text)
      if rows.count > limit {
        rows.removeLast(rows.count - limit)
        next = rows.last.map { list.place(of: $0).text }
      }
      if sort == .lastSignIn { rows.sort(by: AccountList.isLater) }
      return Page(items: rows.map(\.account), next: next)
    }
  }
}

/// A list of accounts, read by key from indexes in its sort order.
struct AccountList: Sendable {
  let pool: Pool
  let filter: Accounts.Filter
  let sort: Accounts.Sort
  let now: Instant
  /// The maximum number of accounts without a recent sign-in that a page of inactive ones, or their
  /// count, examines: imported users have none, and no index has when they were created.
  var mostExamined = 5_000

  struct Row {
    let account: AccountSummary
    let value: SQLValue
  }

  /// The position after an account: its sort value and its number in the pool.
  struct Place: Sendable {
    let value: SQLValue
    let number: Int64
  }

  func place(of row: Row) -> Place {
    Place(value: row.value, number: row.account.key - pool.accountKeys.lowerBound)
  }

  /// Returns accounts, and where to continue if there are fewer because
  /// ``mostExamined`` were examined.
  func page(
    after place: Place?, limit: Int, _ connection: borrowing Connection
  ) throws -> (rows: [Row], end: Place?) {
    guard filter == .inactive else {
      return (try rows(after: place, limit: limit, connection), nil)
    }
    var (found, end, left, size): ([Row], Place?, Int, Int) = ([], place, mostExamined, limit)
    while found.count < limit {
      let asked = min(size, left)
      let examined = try rows(after: end, limit: asked, connection)
      found += examined.filter { Accounts.Filter.isOld($0.account.createdAt, at: now) }
      guard examined.count == asked, let last = examined.last else { return (found, nil) }
      end = self.place(of: last)
      left -= asked
      if left == 0, found.count < limit { return (found, end) }
      size *= 2
    }
    return (found, nil)
  }

  /// Counts the inactive accounts; nil if there are more than ``mostExamined`` to examine.
  func countOld(_ connection: borrowing Connection) throws -> Int? {
    var (left, total) = (mostExamined, 0)
    for condition in parts {
      let part = try connection.first(
        """
        SELECT count(*), count(part.old)
        FROM (SELECT CASE WHEN \(Self.isOld(at: now)) THEN 1 END AS old
          FROM account a WHERE \(condition) LIMIT \(left + 1)) part
        """
      ) { (examined: try $0.next() as Int, total: try $0.next() as Int) }
      left -= part?.examined ?? 0
      total += part?.total ?? 0
      if left < 0 { return nil }
    }
    return total
  }

  private func rows(
    after place: Place?, limit: Int, _ connection: borrowing Connection
  ) throws -> [Row] {
    if filter.matchesFew { return try few(after: place, limit, connection) }
    var rows: [Row] = []
    for part in parts {
      rows +=
        sort == .newest
        ? try newest(part, after: place, limit, connection)
        : try sorted(part, after: place, limit, connection)
    }
    guard parts.count > 1 else { return rows }
    return Array(rows.sorted(by: precedes).prefix(limit))
  }

  /// Reads all accounts of a filter that few match, and sorts them.
  private func few(
    after place: Place?, _ limit: Int, _ connection: borrowing Connection
  ) throws -> [Row] {
    let (table, conditions) = source
    var rows: [Row] = []
    for condition in conditions {
      rows += try read(sort == .newest ? "0" : expression, condition, from: table, connection)
    }
    rows.sort(by: precedes)
    guard let place else { return Array(rows.prefix(limit)) }
    let end = (
      value: sort == .newest ? SQLValue.integer(0) : place.value,
      key: pool.accountKeys.lowerBound + place.number
    )
    return Array(rows.filter { precedes(end, ($0.value, $0.account.key)) }.prefix(limit))
  }

  /// The accounts `a` that the filter includes: their tables, and conditions that each have an index.
  var source: (table: SQL, conditions: [SQL]) {
    guard filter == .exempt else { return ("account a", parts) }
    return (
      "exemption e \(SQL.orderedJoin) account a ON a.account_key = e.account_key",
      ["\(Exemptions.current(in: pool, at: now)) AND a.scope_key = \(pool.key)"]
    )
  }

  /// The filter as a list of conditions, each a prefix of an index.
  private var parts: [SQL] {
    let here: SQL = "a.scope_key = \(pool.key)"
    switch filter {
    case .all:
      // In key order, the pool's range covers all accounts; the other indexes begin with the
      // enrollment columns.
      return sort == .newest ? [""] : byFactors
    case .exempt: return []
    case .none:
      return [
        """
        \(here) AND a.has_totp = 0 AND a.has_phone = 0 AND a.account_key NOT IN (
          SELECT e.account_key FROM exemption e WHERE \(Exemptions.current(in: pool, at: now)))
        """
      ]
    case .totp:
      return [0, 1].map { "\(here) AND a.has_totp = 1 AND a.has_phone = \($0)" }
    case .phone: return ["\(here) AND a.has_phone = 1"]
    case .locked: return ["\(here) AND a.codes_blocked_until IS NOT NULL"]
    case .suspended: return ["\(here) AND \(Self.isSuspended(at: now))"]
    case .clockOff: return ["\(here) AND \(Self.isClockOff)"]
    case .reported: return ["\(here) AND \(Self.isReported)"]
    case .disabled: return ["\(here) AND a.disabled = 1"]
    case .unverified: return ["\(here) AND a.email_folded IS NOT NULL AND a.email_verified = 0"]
    case .inactive:
      // Those that are too new are left out later: see ``mostExamined``.
      return byFactors.map {
        "\($0) AND a.last_login_day < \(Accounts.Filter.lastActive(at: now).day)"
      }
    }
  }

  /// The pool's accounts by the columns that the indexes of sorted lists begin with.
  private var byFactors: [SQL] {
    [(0, 0), (0, 1), (1, 0), (1, 1)].map { totp, phone in
      "a.scope_key = \(pool.key) AND a.has_totp = \(totp) AND a.has_phone = \(phone)"
    }
  }

  /// The condition for accounts `a` that are old enough to be inactive.
  private static func isOld(at now: Instant) -> SQL {
    "a.created_at < \(Accounts.Filter.lastActive(at: now))"
  }

  /// The condition for accounts `a` with a factor whose suspension hasn't ended.
  static func isSuspended(at now: Instant) -> SQL { "a.suspended_until > \(now)" }
  static let isClockOff: SQL = "a.clock_off = 1"
  static let isReported: SQL = "a.changes_locked_at IS NOT NULL"

  private func newest(
    _ part: SQL, after place: Place?, _ limit: Int, _ connection: borrowing Connection
  ) throws -> [Row] {
    let keys = pool.accountKeys
    let before = keys.lowerBound + (place?.number ?? Int64(keys.count))
    var condition: SQL = "a.account_key >= \(keys.lowerBound) AND a.account_key < \(before)"
    if filter != .all { condition = "\(part) AND \(condition)" }
    return try read("0", "\(condition) ORDER BY a.account_key DESC LIMIT \(limit)", connection)
  }

  /// The sort expression of the indexes; a blob sorts after any text.
  private var expression: SQL {
    switch sort {
    case .newest: "a.account_key"
    case .email: .orLast("a.email_folded")
    case .name: .orLast("a.name_folded")
    case .lastSignIn: "a.last_login_day"
    }
  }

  private func value(of place: Place) -> SQL {
    if case .blob = place.value { .last } else { "\(place.value)" }
  }

  private func sorted(
    _ part: SQL, after place: Place?, _ limit: Int, _ connection: borrowing Connection
  ) throws -> [Row] {
    let what = expression
    let falls = sort == .lastSignIn
    let order: SQL =
      falls ? "ORDER BY \(what) DESC, a.account_key DESC" : "ORDER BY \(what), a.account_key"
    guard let place else {
      return try read(what, "\(part) \(order) LIMIT \(limit)", connection)
    }
    // Reads in two steps because an index can serve “equal, then after” or “after”, but not both at
    // once.
    let key = pool.accountKeys.lowerBound + place.number
    let same: SQL = "\(part) AND \(what) = \(value(of: place))"
    var rows = try read(
      what,
      falls
        ? "\(same) AND a.account_key < \(key) ORDER BY a.account_key DESC LIMIT \(limit)"
        : "\(same) AND a.account_key > \(key) ORDER BY a.account_key LIMIT \(limit)", connection)
    guard rows.count < limit else { return rows }
    let behind: SQL =
      falls
      ? "\(part) AND \(what) < \(value(of: place))" : "\(part) AND \(what) > \(value(of: place))"
    rows += try read(what, "\(behind) \(order) LIMIT \(limit - rows.count)", connection)
    return rows
  }

  private func read(
    _ value: SQL, _ rest: SQL, from tables: SQL = "account a", _ connection: borrowing Connection
  ) throws -> [Row] {
    try connection.all(
      "SELECT \(AccountSummary.columns), \(value) FROM \(tables) WHERE \(rest)"
    ) { row in
      Row(account: try AccountSummary(&row), value: try row.next())
    }
  }

  /// Compares by exact time; the indexes order by day.
  static func isLater(_ left: Row, _ right: Row) -> Bool {
    let (one, other) = (left.account.lastLoginAt, right.account.lastLoginAt)
    if one == other { return left.account.key > right.account.key }
    guard let one else { return false }
    guard let other else { return true }
    return one > other
  }

  private func precedes(_ left: Row, _ right: Row) -> Bool {
    precedes((left.value, left.account.key), (right.value, right.account.key))
  }

  private func precedes(
    _ left: (value: SQLValue, key: Int64), _ right: (value: SQLValue, key: Int64)
  ) -> Bool {
    let (isNewer, isOlder) = (left.key > right.key, left.key < right.key)
    switch (left.value, right.value) {
    case (.integer(let one), .integer(let other)): return one == other ? isNewer : one > other
    case (.text(let one), .text(let other)):
      if one.isSameBytes(as: other) { return isOlder }
      return one.utf8.lexicographicallyPrecedes(other.utf8)
    case (.text, _): return true
    case (_, .text): return false
    default: return isOlder
    }
  }
}

extension AccountList.Place {
  /// The position as a URL-safe cursor.
  ///
  /// The value is encoded so that no name or address is readable in a URL.
  var text: String {
    switch value {
    case .text(let text): "\(number)-\(Base64URL.encode(Array(text.utf8)))"
    case .integer(let value) where value != 0: "\(number)-\(value)"
    default: String(number)
    }
  }

  /// Parses a cursor; nil if it's invalid, which restarts the list.
  init?(_ text: String, sort: Accounts.Sort) {
    let parts = text.split(separator: "-", maxSplits: 1)
    // The cursor comes from a URL, so the number can be anything.
    guard let first = parts.first, let number = Int64(first) else { return nil }
    self.number = min(max(number, 0), 1 << 40)
    let rest = parts.count > 1 ? String(parts[1]) : nil
    switch sort {
    case .newest: value = .null
    case .lastSignIn: value = .integer(rest.flatMap { Int64($0) } ?? 0)
    case .email, .name:
      guard let rest else {
        value = .blob([0xFF])
        return
      }
      guard let bytes = Base64URL.decode(rest[...]) else { return nil }
      value = .text(String(decoding: bytes, as: UTF8.self))
    }
  }
}
