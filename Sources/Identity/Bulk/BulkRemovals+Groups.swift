import Database

/// A user whom an administrator selected.
public struct BulkSelection: Hashable, Sendable {
  let project: ID<Project>
  let tenant: ID<Tenant>?
  let account: ID<Account>

  /// Creates a selection.
  public init(project: ID<Project>, tenant: ID<Tenant>?, account: ID<Account>) {
    self.project = project
    self.tenant = tenant
    self.account = account
  }
}

extension BulkRemovals {
  /// The maximum number of lines of a list across pools, because each is looked up in every pool.
  public static let mostLinesAcrossPools = 1_000
  private static let linesOfPart = 50

  /// Previews a list across all pools in which the administrator can find users.
  ///
  /// An email address or uid matches a user in each pool that has one. Users of pools in which the
  /// administrator can't remove factors are reported.
  ///
  /// - Returns: The number of the bulk removal.
  /// - Throws: ``BulkError``.
  public func draft(
    across list: BulkList, by author: Author, _ agent: ConsoleSession
  ) async throws(BulkError) -> Int64 {
    guard list.lines.count <= Self.mostLinesAcrossPools else { throw .tooLong }
    let administrator = try await makeRoom(for: agent)
    var matches = Matches()
    var rest = list.lines[...]
    while !rest.isEmpty {
      let part = rest.prefix(Self.linesOfPart)
      rest = rest.dropFirst(Self.linesOfPart)
      let known = matches
      matches = try await store.read(BulkError.self) { connection in
        var matches = known
        let pools = try SearchedPools(administrator, connection)
        for line in part {
          let accounts = try pools.accounts(line.text, connection)
          try matches.add(line, accounts, by: administrator, connection)
        }
        return matches
      }
      guard matches.count <= BulkList.longest else { throw .tooLong }
      // Lets other tasks on this thread run in between.
      await Task.yield()
    }
    return try await keep(matches, lines: list.lines.count, by: administrator, author)
  }

  /// Previews the removal for selected users of several pools.
  ///
  /// - Returns: The number of the bulk removal.
  /// - Throws: ``BulkError``.
  public func draft(
    _ users: [BulkSelection], by author: Author, _ agent: ConsoleSession
  ) async throws(BulkError) -> Int64 {
    guard users.count <= Self.mostLinesAcrossPools else { throw .tooLong }
    let administrator = try await makeRoom(for: agent)
    let matches = try await store.read(BulkError.self) { connection in
      var matches = Matches()
      for (index, user) in users.enumerated() {
        let found = try Self.find(user, visibleTo: administrator, connection)
        let line = BulkList.Line(
          number: index + 1, text: found?.account.label ?? user.account.text)
        try matches.add(line, found.map { [$0] } ?? [], by: administrator, connection)
      }
      return matches
    }
    return try await keep(matches, lines: users.count, by: administrator, author)
  }

  private static func find(
    _ user: BulkSelection, visibleTo administrator: Administrator,
    _ connection: borrowing Connection
  ) throws -> (scope: Scope, account: Account)? {
    guard administrator.may(.findUsers, project: user.project, tenant: user.tenant) else {
      return nil
    }
    let scope: Scope
    do {
      scope = try Scopes.find(project: user.project, tenant: user.tenant, connection)
    } catch is ScopeError { return nil }
    return try AccountRecord.find(scope, user.account, connection).map { (scope, $0) }
  }

  private func makeRoom(for agent: ConsoleSession) async throws(BulkError) -> Administrator {
    let now = store.clock.now()
    return try await store.write(BulkError.self) { connection in
      try Self.makeRoom(for: agent, in: .anywhere, at: now, connection)
    }
  }

  private func keep(
    _ matches: Matches, lines: Int, by administrator: Administrator, _ author: Author
  ) async throws(BulkError) -> Int64 {
    let now = store.clock.now()
    return try await store.write(BulkError.self) { connection in
      let id = try connection.first(
        """
        INSERT INTO bulk_group (administrator_id, administrator_name, created_at, lines)
        VALUES (\(administrator.id.text), \(administrator.displayName), \(now.microseconds),
          \(lines))
        RETURNING group_id
        """
      ) { try $0.value(0) as Int64 }
      guard let id else { throw Failure("a bulk removal without a number") }
      for pool in matches.pools {
        let job = try Self.addDraft(
          pool.sightings, of: id, in: pool.scope, by: administrator, author, at: now, connection)
        for sighting in pool.sightings { try sighting.store(in: job, of: pool.scope, connection) }
      }
      for miss in matches.misses {
        try connection.run(
          """
          INSERT INTO bulk_group_line (group_id, line, scope_key, given, uid)
          VALUES (\(id), \(miss.line.number), \(miss.scope), \(miss.line.text),
            \(miss.account?.text))
          """)
      }
      return id
    }
  }

  /// The users that the lines of a list match.
  private struct Matches: Sendable {
    private var byPool: [Int64: (scope: Scope, sightings: [Sighting])] = [:]
    private var known: Set<Int64> = []
    private(set) var misses: [(line: BulkList.Line, scope: Int64, account: ID<Account>?)] = []
    private(set) var count = 0

    /// The pools with matches, by project and tenant name.
    var pools: [(scope: Scope, sightings: [Sighting])] {
      func order(_ scope: Scope) -> [UInt8] {
        let names = [scope.projectName, scope.tenant == nil ? "" : scope.name]
        return Array(names.joined(separator: "\u{0}").utf8)
      }
      return byPool.values.sorted {
        let (one, other) = (order($0.scope), order($1.scope))
        return one == other
          ? $0.scope.key < $1.scope.key : one.lexicographicallyPrecedes(other)
      }
    }

    mutating func add(
      _ line: BulkList.Line, _ found: [(scope: Scope, account: Account)],
      by administrator: Administrator, _ connection: borrowing Connection
    ) throws {
      if found.isEmpty { misses.append((line, 0, nil)) }
      for (scope, account) in found {
        count += 1
        guard administrator.may(.removeFactors, in: scope) else {
          misses.append((line, scope.key, account.id))
          continue
        }
        var sighting = try Sighting(line, account, in: scope, by: administrator, connection)
        if !known.insert(account.key).inserted { sighting.result = .twice }
        byPool[scope.key, default: (scope, [])].sightings.append(sighting)
      }
    }
  }
}

/// The pools in which an administrator can find users.
private struct SearchedPools {
  /// The pools by their keys; nil for all.
  private let scopes: [Int64: Scope]?

  init(_ administrator: Administrator, _ connection: borrowing Connection) throws {
    guard !administrator.may(.findUsers, in: nil) else {
      scopes = nil
      return
    }
    let pools = try Accounts.scopes(searchableBy: administrator, connection)
    scopes = Dictionary(uniqueKeysWithValues: pools.map { ($0.key, $0) })
  }

  /// Returns the users with an email address, otherwise with a uid.
  func accounts(
    _ text: String, _ connection: borrowing Connection
  ) throws -> [(scope: Scope, account: Account)] {
    if text.utf8.contains(UInt8(ascii: "@")) {
      let folded = AccountRules.folded(email: text)
      let found = try accounts(where: "a.email_folded = \(folded)", connection)
      if !found.isEmpty { return found }
    }
    return try accounts(where: "a.uid = \(text)", connection)
  }

  private func accounts(
    where condition: SQL, _ connection: borrowing Connection
  ) throws -> [(scope: Scope, account: Account)] {
    let keys = try connection.all(
      """
      SELECT a.account_key FROM scope s \(SQL.orderedJoin) account a ON a.scope_key = s.scope_key
      WHERE s.scope_key > 0 AND s.deleted_at IS NULL AND \(condition) ORDER BY s.scope_key
      """
    ) { try $0.value(0) as Int64 }
    var found: [(scope: Scope, account: Account)] = []
    for key in keys {
      let pool = Scope.key(ofAccount: key)
      let scope = try scopes.map { $0[pool] } ?? BulkGroup.scope(pool, connection)
      guard let scope, let account = try AccountRecord.find(key: key, connection) else { continue }
      found.append((scope, account))
    }
    return found
  }
}
