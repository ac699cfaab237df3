import CPostgreSQL
import Database
import Glibc

/// A network connection in pipeline mode, with its prepared statements.
///
/// A connection that fails is never used again.
@safe
final class PostgreSQLLink {
  enum Item {
    case execute(String, PostgreSQLParameters)
    case text(String)
    case prepare(String, String)
    /// Asks for the types of a prepared statement's parameters.
    case describe(String)
  }

  /// The statements prepared on this connection.
  var statements = StatementCache()

  /// Results that were asked for, but not read yet.
  private var owed = 0
  /// What ends a transaction whose outcome doesn't matter, and is sent along with the next items.
  private var ending: Item?

  private let handle: OpaquePointer

  private let notices: UnsafeMutablePointer<countersign_postgresql_notices>

  /// How long a server may take to send a result; nil without a limit.
  ///
  /// A server that hangs doesn't end its own statements.
  var patience: Duration?

  /// Takes ownership of an open connection.
  init(_ handle: OpaquePointer, patience: Duration) {
    unsafe self.handle = handle
    self.patience = patience
    unsafe notices = .allocate(capacity: 1)
    unsafe notices.initialize(to: countersign_postgresql_notices())
    unsafe countersign_postgresql_watch_notices(handle, notices)
  }

  deinit {
    unsafe PQfinish(handle)
    unsafe notices.deallocate()
  }

  /// The process of the server that has this connection.
  var process: Int64 { Int64(unsafe PQbackendPID(handle)) }

  /// The number of warnings that the server has sent.
  var warnings: Int { Int(unsafe notices.pointee.warnings) }

  /// Sends items and returns a result for each.
  ///
  /// They take one round trip. After the first item that fails, the server skips the others.
  ///
  /// - Throws: The first failure, when all results were read or the connection is lost.
  func exchange(_ items: [Item]) throws(PostgreSQLError) -> [PostgreSQLResult] {
    try settle()
    guard let ending = ending.take() else {
      try send(items)
      return try collect(items.count)
    }
    try send([ending] + items)
    do throws(PostgreSQLError) {
      return Array(try collect(1 + items.count).dropFirst())
    } catch {
      var error = error
      error.position -= 1
      throw error.position < 0 ? error.lost() : error
    }
  }

  /// Sends an item whose result ``settle()`` reads.
  func sendOnly(_ item: Item) throws(PostgreSQLError) {
    try settle()
    try send([item])
    owed = 1
  }

  /// Ends a transaction along with the next items, or by ``end()``.
  func endLater(_ item: Item) { ending = item }

  /// Whether ``endLater(_:)`` has left a transaction open.
  var isEnding: Bool { ending != nil }

  /// Ends what ``endLater(_:)`` has left open.
  func end() throws(PostgreSQLError) {
    if isEnding { _ = try exchange([]) }
  }

  /// Reads the result of ``sendOnly(_:)``.
  func settle() throws(PostgreSQLError) {
    guard owed > 0 else { return }
    let count = owed
    owed = 0
    _ = try collect(count)
  }

  private func send(_ items: [Item]) throws(PostgreSQLError) {
    for item in items {
      let result =
        switch item {
        case .execute(let name, let parameters):
          unsafe parameters.withPointers { values, lengths, formats in
            unsafe PQsendQueryPrepared(
              handle, name, parameters.count, values, lengths, formats, 1)
          }
        case .text(let text):
          unsafe PQsendQueryParams(handle, text, 0, nil, nil, nil, nil, 1)
        case .prepare(let name, let text): unsafe PQsendPrepare(handle, name, text, 0, nil)
        case .describe(let name): unsafe PQsendDescribePrepared(handle, name)
        }
      guard result == 1 else { throw loss }
    }
    guard unsafe PQpipelineSync(handle) == 1 else { throw loss }
  }

  private func collect(_ count: Int) throws(PostgreSQLError) -> [PostgreSQLResult] {
    var results: [PostgreSQLResult] = []
    var failure: PostgreSQLError?
    for position in 0..<count {
      let result = try next()
      if result.status == PGRES_FATAL_ERROR, failure == nil {
        failure = PostgreSQLError(result, isLoss: isLost)
        failure?.position = position
      }
      if let failure, failure.isLoss || isLost { throw failure.lost() }
      results.append(result)
      // A null result ends the results of each item.
      while let more = unsafe PQgetResult(handle) { _ = unsafe PostgreSQLResult(more) }
    }
    let end = try next()
    if isLost { throw failure?.lost() ?? PostgreSQLError(end, isLoss: true) }
    guard end.status == PGRES_PIPELINE_SYNC else {
      throw PostgreSQLError(.connection("unexpected response"), isLoss: true)
    }
    if let failure { throw failure }
    return results
  }

  private func next() throws(PostgreSQLError) -> PostgreSQLResult {
    try wait()
    guard let result = unsafe PQgetResult(handle) else { throw loss }
    return unsafe PostgreSQLResult(result)
  }

  private func wait() throws(PostgreSQLError) {
    guard let patience else { return }
    let end = ContinuousClock.now + patience
    while unsafe PQisBusy(handle) != 0 {
      let rest = Int32(max((end - .now) / .milliseconds(1), 0))
      var socket = pollfd(fd: unsafe PQsocket(handle), events: Int16(POLLIN), revents: 0)
      let ready = unsafe poll(&socket, 1, rest)
      if ready < 0, errno == EINTR { continue }
      guard ready > 0 else {
        throw PostgreSQLError(.connection("no response in \(patience)"), isLoss: true)
      }
      guard unsafe PQconsumeInput(handle) == 1 else { throw loss }
    }
  }

  /// Whether the connection is lost, as far as libpq knows.
  var isLost: Bool { unsafe PQstatus(handle) == CONNECTION_BAD }

  /// Whether a transaction is open, after everything sent was received.
  var isInTransaction: Bool {
    let status = unsafe PQtransactionStatus(handle)
    return status == PQTRANS_INTRANS || status == PQTRANS_INERROR
  }

  private var loss: PostgreSQLError {
    var text = ""
    if let message = unsafe PQerrorMessage(handle) { text = unsafe String(cString: message) }
    return PostgreSQLError(.connection(text), isLoss: true)
  }

  /// Returns whether the server closed the connection while it was idle, without asking it.
  func isClosedByServer() -> Bool {
    // A message, such as a changed setting, makes the socket readable as well.
    for _ in 0..<4 {
      guard !isLost, unsafe notices.pointee.is_ended == 0 else { return true }
      var socket = pollfd(fd: unsafe PQsocket(handle), events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&socket, 1, 0) > 0 else { return false }
      guard unsafe PQconsumeInput(handle) == 1 else { return true }
      _ = unsafe PQisBusy(handle)
    }
    return true
  }

}

extension PostgreSQLError {
  /// The same failure on a lost connection.
  fileprivate func lost() -> PostgreSQLError { PostgreSQLError(error, state: state, isLoss: true) }
}

struct StatementCache {
  struct Prepared {
    let name: String
    let parameterTypes: [Oid]
    fileprivate var lastUse: Int
  }

  static let limit = 256

  private var known: [StatementKey: Prepared] = [:]
  private var uses = 0
  private var names = 0

  /// The names of statements to deallocate.
  private(set) var removed: [String] = []

  /// Returns a statement, and notes its use.
  mutating func find(_ key: StatementKey) -> Prepared? {
    guard let index = known.index(forKey: key) else { return nil }
    uses += 1
    known.values[index].lastUse = uses
    return known.values[index]
  }

  mutating func makeName() -> String {
    names += 1
    return "s\(names)"
  }

  /// Adds a statement, in place of the one not used for the longest time when there are too many.
  mutating func add(_ name: String, _ types: [Oid], for key: StatementKey) -> Prepared {
    if known.count >= Self.limit,
      let oldest = known.min(by: { $0.value.lastUse < $1.value.lastUse })
    {
      removed.append(oldest.value.name)
      known[oldest.key] = nil
    }
    uses += 1
    let prepared = Prepared(name: name, parameterTypes: types, lastUse: uses)
    known[key] = prepared
    return prepared
  }

  /// Removes all statements, because the schema changed.
  mutating func removeAll() {
    removed += known.values.map(\.name)
    known = [:]
  }

  /// Returns the names of statements to deallocate, once.
  mutating func takeRemoved() -> [String] {
    defer { removed = [] }
    return removed
  }
}
