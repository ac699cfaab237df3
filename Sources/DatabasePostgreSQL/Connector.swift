import CPostgreSQL
import Database
import Glibc
import Host
import Synchronization

/// Opens connections to a server, or to the one of several that accepts writes.
final class Connector: Sendable {
  /// How connections are configured.
  struct Limits: Sendable {
    /// How long a statement may run; scripts have no limit.
    var statementTimeout: Duration
    /// How long a transaction may wait for its next statement.
    var idleTimeout: Duration
  }

  /// How long it may take until a connection to a server is open.
  private static let connectTimeout = Duration.seconds(5)

  let address: PostgreSQLAddress
  let passwordFile: String?
  let limits: Limits
  let writes: Bool
  /// Whether a connection holds the lock that says that the database is in use, until it closes.
  let sharesUse: Bool
  private let outage: Outage

  /// How long the server may take to send a result: longer than it takes to end a statement itself.
  var patience: Duration { limits.statementTimeout + .seconds(5) }

  /// The position of the server with the latest connection, and its IP address, which are tried
  /// first.
  private let latest = Mutex((position: 0, ip: nil as String?))

  init(
    address: PostgreSQLAddress, passwordFile: String?, limits: Limits, writes: Bool,
    sharesUse: Bool, outage: Outage
  ) {
    (self.address, self.passwordFile) = (address, passwordFile)
    (self.limits, self.writes) = (limits, writes)
    (self.sharesUse, self.outage) = (sharesUse, outage)
  }

  /// Opens a connection to the first server that accepts it.
  ///
  /// While no server answers, one caller at a time finds out whether that's still so, and the
  /// others fail at once. Throws the failure of the first server tried, with `.busy` when it has
  /// too many connections or is starting, and `.unreachable` when there's no answer.
  func connect() throws(PostgreSQLError) -> PostgreSQLLink {
    try outage.check()
    let start = ContinuousClock.now
    do throws(PostgreSQLError) {
      let link = try connectToAny()
      outage.end()
      return link
    } catch {
      // Those that refuse a connection at once may be asked by everyone.
      let isSlow = ContinuousClock.now - start >= .seconds(1)
      if isSlow { outage.begin(error) } else { outage.end() }
      throw error
    }
  }

  private func connectToAny() throws(PostgreSQLError) -> PostgreSQLLink {
    let (count, first) = (address.servers.count, latest.withLock(\.position))
    var failure: PostgreSQLError?
    for position in (first..<first + count).map({ $0 % count }) {
      do throws(PostgreSQLError) {
        return try connect(toServerAt: position)
      } catch {
        if failure == nil { failure = error }
      }
    }
    throw failure ?? cannotOpen("no server", .unreachable)
  }

  /// Connects to the first IP address of a server that accepts it.
  ///
  /// libpq tries another address only when one refuses, and would wait all the time for one that
  /// doesn't answer. So each gets an equal part of the time that's left.
  private func connect(toServerAt position: Int) throws(PostgreSQLError) -> PostgreSQLLink {
    let (server, last) = (address.servers[position], latest.withLock(\.self))
    var ips: [String?]
    do { ips = try HostLookup.ips(of: server.host) } catch {
      throw cannotOpen(error.reason, .unreachable)
    }
    if last.position == position, let index = ips.firstIndex(of: last.ip) {
      ips.insert(ips.remove(at: index), at: 0)
    }
    let end = ContinuousClock.now + Self.connectTimeout
    var failure: PostgreSQLError?
    for (number, ip) in ips.enumerated() {
      let rest = max(end - .now, .zero)
      do throws(PostgreSQLError) {
        let link = try connect(to: server, at: ip, within: rest / (ips.count - number))
        latest.withLock { $0 = (position, ip) }
        return link
      } catch {
        // What a server says explains more than that there's none.
        let isAnswer = failure?.state.isEmpty == true && !error.state.isEmpty
        if failure == nil || isAnswer { failure = error }
      }
    }
    throw failure ?? cannotOpen("no address", .unreachable)
  }

  private func connect(
    to server: PostgreSQLAddress.Server, at ip: String?, within time: Duration
  ) throws(PostgreSQLError) -> PostgreSQLLink {
    var settings = address.settings(for: server)
    // The host stays, for its name in the certificate and in the password file.
    if let ip { settings.append(("hostaddr", ip)) }
    // A server that can't be reached any longer is given up after about 15 seconds.
    settings += [
      ("client_encoding", "UTF8"), ("gssencmode", "disable"),
      ("keepalives", "1"), ("keepalives_idle", "6"), ("keepalives_interval", "3"),
      ("keepalives_count", "3"), ("tcp_user_timeout", "15000"),
    ]
    if let password = try password() { settings.append(("password", password)) }
    let handle = try unsafe open(settings, within: time)
    let link = unsafe PostgreSQLLink(handle, patience: patience)
    try unsafe check(handle)
    _ = unsafe PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
    guard unsafe PQenterPipelineMode(handle) == 1 else {
      throw PostgreSQLError(.connection("no pipeline mode"), isLoss: true)
    }
    // Poolers reject most settings in the connection's startup packet.
    let controls =
      options.map { PostgreSQLLink.Item.text("SET \($0.name) = '\($0.value)'") }
      + Self.controls.map { .prepare($0.name, $0.text) }
    let results = try link.exchange(controls + (sharesUse ? [.text(Self.use)] : []))
    if sharesUse, let result = results.last {
      let isShared = result.withBytes(0, 0) { $0.count == 1 && $0[0] == 1 }
      guard isShared else { throw cannotOpen("it's being moved", .busy) }
    }
    return link
  }

  /// Shares the use of the database, unless a move has it alone.
  private static let use =
    "SELECT pg_catalog.pg_try_advisory_lock_shared(\(PostgreSQLCatalog.useLock))"

  /// The statements about transactions, prepared on each connection.
  ///
  /// A write may read a count and store the next one, as those of guesses do. With a weaker isolation,
  /// concurrent writes would store the same count, and each would be allowed.
  private static let controls = [
    (name: "begin_read", text: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
    (name: "begin_write", text: "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE"),
    (name: "commit", text: "COMMIT"), (name: "rollback", text: "ROLLBACK"),
  ]

  private var options: [(name: String, value: String)] {
    [
      ("synchronous_commit", "on"), ("standard_conforming_strings", "on"), ("TimeZone", "UTC"),
      ("statement_timeout", Self.milliseconds(limits.statementTimeout)),
      ("idle_in_transaction_session_timeout", Self.milliseconds(limits.idleTimeout)),
      // A commit whose wait for the standby was canceled is known by a warning only.
      ("client_min_messages", "warning"), ("lock_timeout", "0"),
      // Compiling takes longer than any statement, and the planner asks for it when it has to scan
      // a table that it was told not to.
      ("jit", "off"),
    ]
      // A write that scans a table, as PostgreSQL likes to do with small ones, conflicts with every
      // other write to it.
      + (writes ? [("enable_seqscan", "off")] : [])
  }

  private static func milliseconds(_ duration: Duration) -> String {
    String(Int(duration / .milliseconds(1)))
  }

  private func password() throws(PostgreSQLError) -> String? {
    guard let passwordFile else { return nil }
    let bytes: [UInt8]
    do { bytes = try ReadableFile.text(passwordFile, atMost: 1_028) } catch {
      throw cannotOpen("can't read \(passwordFile): \(error)")
    }
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    guard !line.isEmpty, line.count <= 1024, !line.contains(0) else {
      throw cannotOpen("\(passwordFile) doesn't begin with a password of 1 to 1,024 bytes")
    }
    return String(decoding: line, as: UTF8.self)
  }

  private func cannotOpen(
    _ reason: String, _ code: DatabaseError.Code = .cannotOpen
  ) -> PostgreSQLError {
    PostgreSQLError(
      DatabaseError(code, "cannot connect to \(address): \(reason)"), isLoss: true)
  }

  private func open(
    _ settings: [(String, String)], within time: Duration
  ) throws(PostgreSQLError) -> OpaquePointer {
    let names = unsafe settings.map { unsafe strdup($0.0) }
    let values = unsafe settings.map { unsafe strdup($0.1) }
    defer { unsafe (names + values).forEach { unsafe free($0) } }
    let started = unsafe (names + [nil]).map { unsafe UnsafePointer($0) }
      .withUnsafeBufferPointer { names in
        unsafe (values + [nil]).map { unsafe UnsafePointer($0) }
          .withUnsafeBufferPointer { values in
            unsafe PQconnectStartParams(names.baseAddress, values.baseAddress, 0)
          }
      }
    guard let handle = unsafe started else { throw cannotOpen("out of memory", .unreachable) }
    do throws(PostgreSQLError) {
      // In this form, an error has its SQLSTATE.
      _ = unsafe PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
      try unsafe wait(handle, for: time)
      return unsafe handle
    } catch {
      unsafe PQfinish(handle)
      throw error
    }
  }

  private func wait(_ handle: OpaquePointer, for time: Duration) throws(PostgreSQLError) {
    let end = ContinuousClock.now + time
    guard unsafe PQstatus(handle) != CONNECTION_BAD else { throw unsafe refusal(handle) }
    var events = POLLOUT
    while true {
      let rest = Int32(max((end - .now) / .milliseconds(1), 0))
      var socket = pollfd(fd: unsafe PQsocket(handle), events: Int16(events), revents: 0)
      let ready = unsafe poll(&socket, 1, rest)
      if ready < 0, errno == EINTR { continue }
      guard ready > 0 else {
        throw cannotOpen(
          "no answer in \((time / .seconds(0.1)).rounded() / 10) seconds", .unreachable)
      }
      switch unsafe PQconnectPoll(handle) {
      case PGRES_POLLING_OK: return
      case PGRES_POLLING_READING: events = POLLIN
      case PGRES_POLLING_WRITING: events = POLLOUT
      default: throw unsafe refusal(handle)
      }
    }
  }

  /// Returns the error that a server or libpq gives for not opening a connection.
  private func refusal(_ handle: OpaquePointer) -> PostgreSQLError {
    var text = "no reason given"
    if let message = unsafe PQerrorMessage(handle) { text = unsafe String(cString: message) }
    var line = text.split(separator: "\n").first.map(String.init) ?? text
    // "connection to server … failed: FATAL:  53300: sorry, too many clients already"
    guard let match = line.firstMatch(of: #/: {2}([0-9A-Z]{5}): /#) else {
      // libpq's own error: without a password, it doesn't sign in.
      let needsPassword = unsafe PQconnectionNeedsPassword(handle) == 1
      return cannotOpen(line, needsPassword ? .cannotOpen : .unreachable)
    }
    let state = String(match.1)
    line.replaceSubrange(match.range, with: ": ")
    return PostgreSQLError(
      DatabaseError(
        SQLState.refusal(of: state), "cannot connect to \(address): \(line) (SQLSTATE \(state))",
        extendedCode: SQLState.number(of: state)),
      state: state, isLoss: true)
  }

  private func check(_ handle: OpaquePointer) throws(PostgreSQLError) {
    guard unsafe PQserverVersion(handle) >= 140_000 else {
      throw cannotOpen("PostgreSQL 14 or newer is required")
    }
    guard let encoding = unsafe PQparameterStatus(handle, "server_encoding"),
      unsafe String(cString: encoding) == "UTF8"
    else { throw cannotOpen("the database must be created with the encoding UTF8") }
  }
}
