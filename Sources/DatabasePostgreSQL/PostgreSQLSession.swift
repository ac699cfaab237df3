import CPostgreSQL
import Database
import Synchronization

/// A connection with its transaction, which is opened when it's needed.
///
/// It's `@unchecked Sendable` because:
/// 1. libpq allows a connection to move between threads as long as no two use it at the same time;
/// 2. a session is used only on the serial queue of its slot, which orders all accesses;
/// 3. the values it lends (`Connection`, `Row`) are noncopyable and can't leave the closure.
final class PostgreSQLSession: DatabaseSession, @unchecked Sendable {
  let dialect = Dialect.postgreSQL
  var catalog: any DatabaseCatalog { PostgreSQLCatalog() }

  private let connector: Connector
  let watch: UseWatch
  private let trace: (@Sendable (String) -> Void)?
  private var link: PostgreSQLLink? {
    didSet { isLinked.store(link != nil, ordering: .relaxed) }
  }
  private let isLinked = Atomic(false)
  /// Why the server refused the connection, for the transaction that was going to use it.
  private var refusal: PostgreSQLError?
  private var state = State.idle
  /// What is sent along with the next statement: statements about the transaction, and others with
  /// their SQL, each with the number of savepoints that it adds or removes.
  private var lead: [(item: PostgreSQLLink.Item, sql: SQL?, savepoints: Int)] = []

  /// The number of statements after which those that were deferred are sent.
  private static let longestLead = 64
  private var savepoints = 0
  /// The number of statements of the transaction that succeeded.
  private var successes = 0

  /// The first failure of the transaction, after which the server refuses further statements.
  private(set) var failure: PostgreSQLError?

  init(_ connector: Connector, watch: UseWatch, trace: (@Sendable (String) -> Void)?) {
    (self.connector, self.watch, self.trace) = (connector, watch, trace)
  }

  // MARK: - Statements

  func statement(for sql: SQL) throws(DatabaseError) -> any DatabaseStatement {
    try checkTransaction()
    return PostgreSQLStatement(sql, session: self)
  }

  private func checkTransaction() throws(DatabaseError) {
    if case .idle = state { throw DatabaseError(.misuse, "the transaction is over") }
    if let failure { throw failure.error }
  }

  func execute(_ sql: SQL) throws(DatabaseError) -> PostgreSQLResult {
    try checkTransaction()
    trace?(sql.text(in: .postgreSQL))
    do throws(PostgreSQLError) {
      do throws(PostgreSQLError) {
        return try run(sql)
      } catch {
        // Nothing of this transaction depends on the schema before the change.
        guard error.isStalePlan, successes == 0, savepoints == 0 else { throw error }
        restart()
        return try run(sql)
      }
    } catch {
      throw fail(error, sql)
    }
  }

  func runLater(_ sql: SQL) throws(DatabaseError) {
    try checkTransaction()
    trace?(sql.text(in: .postgreSQL))
    do throws(PostgreSQLError) {
      let link = try openLink()
      let item = try item(for: sql, on: link)
      lead.append((item, sql, 0))
      successes += 1
      if lead.count >= Self.longestLead { _ = try perform([], for: [], on: link) }
    } catch {
      throw fail(error, sql)
    }
  }

  private func run(_ sql: SQL) throws(PostgreSQLError) -> PostgreSQLResult {
    let link = try openLink()
    guard let result = try perform([try item(for: sql, on: link)], for: [sql], on: link).last else {
      throw PostgreSQLError(DatabaseError(.misuse, "the text holds no statement"))
    }
    successes += 1
    return result
  }

  private func item(
    for sql: SQL, on link: PostgreSQLLink
  ) throws(PostgreSQLError) -> PostgreSQLLink.Item {
    let key = StatementKey(sql, in: .postgreSQL)
    let known = link.statements.find(key)
    let prepared = if let known { known } else { try prepare(sql, key, on: link) }
    let parameters: PostgreSQLParameters
    do throws(PostgreSQLParameters.Misfit) {
      parameters = try PostgreSQLParameters(sql.values, types: prepared.parameterTypes)
    } catch {
      throw PostgreSQLError(DatabaseError(error.code, error.reason), state: Self.unsent)
    }
    return .execute(prepared.name, parameters)
  }

  /// Prepares a statement on the server, which infers the types of its parameters.
  private func prepare(
    _ sql: SQL, _ key: StatementKey, on link: PostgreSQLLink
  ) throws(PostgreSQLError) -> StatementCache.Prepared {
    let text = sql.text(in: .postgreSQL)
    do { try SQLText.checkSingle(text) } catch { throw PostgreSQLError(error, state: Self.unsent) }
    let name = link.statements.makeName()
    let results = try perform([.prepare(name, text), .describe(name)], for: [sql], on: link)
    let types = results.last?.parameterTypes ?? []
    return link.statements.add(name, types, for: key)
  }

  /// The state of failures that the server doesn't know of, so the transaction continues.
  private static let unsent = "-"

  /// Sends items after what has to precede them.
  ///
  /// `statements` is nil for those of a script, which may take long.
  private func perform(
    _ items: [PostgreSQLLink.Item], for statements: [SQL]?, on link: PostgreSQLLink
  ) throws(PostgreSQLError) -> [PostgreSQLResult] {
    var all: [PostgreSQLLink.Item] = []
    if case .announced(let kind) = state {
      all.append(.execute(kind.begin, PostgreSQLParameters()))
      state = .begun(kind)
    }
    let (first, deferred) = (all.count, lead)
    all += deferred.map(\.item)
    lead = []
    for name in link.statements.takeRemoved() { all.append(.text("DEALLOCATE \(name)")) }
    let number = statements.map { watch.begin(deferred.compactMap(\.sql) + $0, on: link.process) }
    defer { if let number { watch.end(number) } }
    do throws(PostgreSQLError) {
      return try link.exchange(all + items)
    } catch {
      var error = error
      if error.isLoss { throw error }
      let place = error.position - first
      let unreached = deferred.dropFirst(max(place, 0))
      error.savepoints = savepoints - unreached.reduce(0) { $0 + $1.savepoints }
      guard deferred.indices.contains(place), let sql = deferred[place].sql else { throw error }
      throw error.adding(sql: sql.text(in: .postgreSQL))
    }
  }

  private func fail(_ failed: PostgreSQLError, _ sql: SQL) -> DatabaseError {
    let failed = failed.error.sql == nil ? failed.adding(sql: sql.text(in: .postgreSQL)) : failed
    if failed.state != Self.unsent { note(failed) }
    return failed.error
  }

  private func note(_ failed: PostgreSQLError) {
    // A server that became a standby can't store anything: another one accepts writes.
    if failed.isLoss || failed.error.code == .readOnly { link = nil }
    if failed.isStalePlan { link?.statements.removeAll() }
    if failure == nil { failure = failed }
  }

  func runScript(_ text: String) throws(DatabaseError) {
    try checkTransaction()
    let statements = try SQLText.statements(of: text)
    for statement in statements { try SQLText.refuseReserved(statement, in: text) }
    do throws(PostgreSQLError) {
      let link = try openLink()
      // A migration of a large table takes as long as it takes.
      link.patience = nil
      defer { link.patience = connector.patience }
      _ = try perform([.text("SET LOCAL statement_timeout = 0")], for: nil, on: link)
      for statement in statements {
        let text = String(decoding: statement, as: UTF8.self)
        trace?(text)
        do throws(PostgreSQLError) {
          _ = try perform([.text(text)], for: nil, on: link)
        } catch {
          throw error.error.sql == nil ? error.adding(sql: text) : error
        }
        successes += 1
      }
    } catch {
      note(error)
      throw error.error
    }
  }

  // MARK: - Savepoints

  func beginSavepoint() throws(DatabaseError) {
    try checkTransaction()
    savepoints += 1
    lead.append((.text("SAVEPOINT s\(savepoints)"), nil, 1))
  }

  func releaseSavepoint() throws(DatabaseError) {
    try checkTransaction()
    lead.append((.text("RELEASE SAVEPOINT s\(savepoints)"), nil, -1))
    savepoints -= 1
  }

  func rollBackToSavepoint() throws(DatabaseError) {
    defer { savepoints -= 1 }
    if let failure {
      // The whole transaction has to run again, or is gone, or what failed precedes the savepoint.
      guard !failure.isRetryable, !failure.isLoss, savepoints <= failure.savepoints else {
        throw failure.error
      }
      self.failure = nil
    }
    lead.append((.text("ROLLBACK TO SAVEPOINT s\(savepoints)"), nil, 0))
    lead.append((.text("RELEASE SAVEPOINT s\(savepoints)"), nil, -1))
  }

  // MARK: - Transactions

  /// Announces a transaction.
  func begin(_ kind: Kind) {
    state = .announced(kind)
    (failure, lead, savepoints, successes) = (nil, [], 0, 0)
    guard let link else { return }
    if link.isClosedByServer() || link.isInTransaction && !link.isEnding { self.link = nil }
  }

  private func openLink() throws(PostgreSQLError) -> PostgreSQLLink {
    if let link { return link }
    guard case .announced = state else { throw PostgreSQLError(.connection(""), isLoss: true) }
    if let refusal = refusal.take() { throw refusal }
    let new = try connector.connect()
    link = new
    return new
  }

  /// Begins the transaction again after its first statement failed.
  private func restart() {
    guard let link, case .begun(let kind) = state else { return }
    state = .announced(kind)
    link.statements.removeAll()
    if (try? link.exchange([.execute("rollback", PostgreSQLParameters())])) == nil {
      self.link = nil
    }
  }

  /// Ends a transaction whose outcome doesn't matter; the server's answer is read later.
  func end() {
    defer { finish() }
    guard case .begun = state, let link else { return }
    if (try? link.sendOnly(.execute("rollback", PostgreSQLParameters()))) == nil { self.link = nil }
  }

  /// Ends a transaction of reads along with the beginning of the next one, which saves a round
  /// trip, or by ``endLast()``.
  func endReads() {
    guard case .begun = state, failure == nil, let link else { return end() }
    link.endLater(.execute("commit", PostgreSQLParameters()))
    finish()
  }

  private func finish() {
    state = .idle
    lead = []
  }

  /// Whether ``endReads()`` has left a transaction open.
  var isEnding: Bool { link?.isEnding ?? false }

  /// Whether ``endLast()`` is about to be called.
  var willEndLast = false

  /// Ends the transaction that ``endReads()`` has left open, if no other has begun since.
  func endLast() {
    willEndLast = false
    if let link, (try? link.end()) == nil { self.link = nil }
  }

  /// Reads the server's answer to ``end()``.
  func settle() {
    guard let link, (try? link.settle()) == nil else { return }
    self.link = nil
  }

  /// Commits the transaction; throws the failure: retryable or not, nothing was stored unless its
  /// code says that this is unknown.
  func commit() throws(PostgreSQLError) {
    // Only statements to run later may be waiting, or there was none.
    if case .announced = state, !lead.contains(where: { $0.sql != nil }) { return state = .idle }
    guard let link else { throw failure ?? PostgreSQLError(.connection(""), isLoss: true) }
    // Here, unlike after it was sent, nothing can have been committed.
    if link.isClosedByServer() {
      self.link = nil
      throw PostgreSQLError(.connection("the server closed it"), isLoss: true)
    }
    do throws(PostgreSQLError) {
      let items = [PostgreSQLLink.Item.execute("commit", PostgreSQLParameters())]
      let (warnings, start) = (link.warnings, ContinuousClock.now)
      let tag = try perform(items, for: ["COMMIT"], on: link).last?.tag
      watch.noteCommit(since: start)
      state = .idle
      guard tag == "COMMIT" else {
        throw PostgreSQLError(DatabaseError(.misuse, "the transaction was rolled back"))
      }
      // Someone canceled the wait for the standbys, so a failover can undo it.
      if link.warnings > warnings {
        throw PostgreSQLError(.outcomeUnknown("the server sent a warning"))
      }
    } catch {
      if error.isStalePlan { link.statements.removeAll() }
      // After a statement to run later failed, the server skipped the commit: the transaction has
      // to be ended.
      if !error.isLoss, link.isInTransaction { throw error }
      state = .idle
      if !error.isLoss { throw error }
      self.link = nil
      throw PostgreSQLError(
        .outcomeUnknown(error.error.message, extendedCode: error.error.extendedCode),
        state: error.state, isLoss: true)
    }
  }

  /// Whether the connection is open, as far as is known; any thread may ask.
  var isOpen: Bool { isLinked.load(ordering: .relaxed) }

  /// Opens the connection, unless it's open or can't be opened.
  ///
  /// - Returns: False if the server has too many connections.
  func open() -> Bool {
    refusal = nil
    guard link == nil else { return true }
    do throws(PostgreSQLError) {
      link = try connector.connect()
    } catch {
      refusal = error
    }
    return refusal?.state != "53300"
  }

  /// Forgets that the server refused the connection, since no transaction uses it.
  func forgetRefusal() { refusal = nil }

  func check() throws(DatabaseError) {
    if let refusal = refusal.take() { throw refusal.error }
  }

  func close() { link = nil }
}
