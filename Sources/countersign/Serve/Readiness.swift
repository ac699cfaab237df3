import Foundation
import HTTP
import Identity

/// The readiness of the server, as reported by `/readyz`.
///
/// The response names each check in one word and nothing else, since the endpoint is public. The
/// checks run at most once per second, no matter how many requests arrive.
actor Readiness {
  enum Check: String, CaseIterable, Sendable {
    /// The database is writable, and its file is where it was opened.
    case database
    /// A node of a newer version hasn't migrated the database to what this one can't use.
    case version
    /// Neither a statement nor the latest check of the database file found damage; it warns if the
    /// check was long ago.
    case integrity
    /// The clock is trusted; it warns if the clock of the database's server differs.
    case clock
    /// The master key file has the database's key, a signing key exists, and other servers use no
    /// newer master key.
    case keys
    /// There's enough disk space, also for a database on a server.
    case disk
    /// The TLS certificate in use is valid; it warns before it expires.
    case certificate
    /// Emails are sent; it only warns, since requests are served without.
    case mail
    /// The audit log is written to the audit file; it only warns.
    case auditFile = "audit-file"
  }

  struct State: Sendable, Equatable {
    /// Checks without which the server isn't ready.
    var failed: [Check] = []
    /// Checks that need attention while the server is ready.
    var warnings: [Check] = []
    var isDraining = false
  }

  private let identity: Identity
  private let folder: DataFolder
  /// Whether the master key was passed to the program, so that there's no file to check.
  private let isKeyFixed: Bool
  private let start: Instant
  private let certificate: ServedCertificate?
  private let mail: MailHealth?
  private let auditFile: AuditFileWriter?
  private var isDraining = false
  private var last: (at: ContinuousClock.Instant, state: Task<State, Never>)?
  private let database: DatabaseProbe
  private let file: OpenedDatabaseFile?
  private let isDamaged: @Sendable () -> Bool
  private let hasSpace: @Sendable () async -> Bool
  private let log: Log
  /// The result that was logged last; the server starts as one that's ready.
  private var logged = State()

  /// The least free disk space, in bytes, with which the server is ready.
  static let leastSpace = 64 << 20
  /// How long the database may take to store something while the server is ready.
  static let longestWrite = Duration.seconds(10)
  /// The age of the oldest waiting email, in seconds, from which emails are delayed.
  static let longestMailAge: Int64 = 900

  init(
    _ identity: Identity, _ folder: DataFolder, environment: [String: String],
    certificate: ServedCertificate?, mail: MailHealth?, auditFile: AuditFileWriter?,
    file: OpenedDatabaseFile?, isDamaged: @escaping @Sendable () -> Bool,
    hasSpace: @escaping @Sendable () async -> Bool, log: Log
  ) {
    self.identity = identity
    self.folder = folder
    self.certificate = certificate
    self.mail = mail
    self.auditFile = auditFile
    self.file = file
    self.isDamaged = isDamaged
    self.hasSpace = hasSpace
    self.log = log
    isKeyFixed = PassedKey(environment: environment) != nil
    start = identity.clock.now()
    database = DatabaseProbe(longest: Self.longestWrite) { try await identity.checkWritable() }
  }

  /// Reports from now on that the server isn't ready, because it's about to stop.
  func drain() { isDraining = true }

  func state() async -> State {
    var state = await checked()
    state.isDraining = isDraining
    return state
  }

  private func checked() async -> State {
    if let last, ContinuousClock.now - last.at < .seconds(1) { return await last.state.value }
    let task = Task {
      [
        identity, database, file, folder, isKeyFixed, start, certificate, mail, auditFile,
        isDamaged,
        hasSpace
      ] in
      var state = await Self.find(identity, database, file, folder, isKeyFixed, since: start)
      if isDamaged(), !state.failed.contains(.integrity) { state.failed.append(.integrity) }
      if !state.failed.contains(.database), !state.failed.contains(.disk), await !hasSpace() {
        state.failed.append(.disk)
      }
      if let certificate {
        let (isValid, isFine) = certificate.state(at: identity.clock.now().seconds)
        if !isValid { state.failed.append(.certificate) }
        if isValid, !isFine { state.warnings.append(.certificate) }
      }
      if let mail, !state.failed.contains(.database), await Self.isDelayed(mail, identity) {
        state.warnings.append(.mail)
      }
      if await auditFile?.isDelayed == true { state.warnings.append(.auditFile) }
      return state
    }
    last = (.now, task)
    let state = await task.value
    if state != logged {
      logged = state
      log.add(.readiness(state))
    }
    return state
  }

  /// How often a change is looked for while no one asks, in seconds.
  static let interval = 10

  /// Looks for changes, so that each is logged, also without a load balancer.
  func watch() async {
    repeat { _ = await state() } while await slept(.seconds(Self.interval))
  }

  private static func find(
    _ identity: Identity, _ database: DatabaseProbe, _ file: OpenedDatabaseFile?,
    _ folder: DataFolder, _ isKeyFixed: Bool, since start: Instant
  ) async -> State {
    var state = State()
    // A write to a file that was deleted succeeds.
    let isWritable = await database.isWritable() && file?.isInPlace != false
    if !isWritable { state.failed.append(.database) }
    // Only servers of one database migrate it while others run.
    if folder.isOnServer, isWritable, (try? await identity.canUseSchema()) == false {
      state.failed.append(.version)
    }
    // A database that can't be read is reported above.
    let integrity =
      folder.isOnServer || !isWritable
      ? nil : try? await identity.integrityChecks.problem(since: start)
    switch integrity {
    case .damaged: state.failed.append(.integrity)
    case .overdue: state.warnings.append(.integrity)
    case nil: break
    }
    if let doubt = identity.clockGuard.doubt {
      // If the clock of the database's server is the wrong one, all servers differ from it.
      if doubt.isByDatabase { state.warnings.append(.clock) } else { state.failed.append(.clock) }
    } else if isWritable, case .differs? = try? await identity.databaseClock() {
      state.warnings.append(.clock)
    }
    var hasKey = isKeyFixed
    if !hasKey, let kept = try? folder.keptKeys() {
      // A database that can't be read is reported above.
      hasKey = (try? await identity.masterKeys.canAdopt(kept)) ?? true
    }
    let lacksNewest =
      folder.isOnServer && isWritable
      ? (try? await identity.masterKeys.lacksNewest()) == true : false
    if !hasKey || lacksNewest || !identity.hasSigningKey { state.failed.append(.keys) }
    if let free = folder.freeSpace, free < leastSpace { state.failed.append(.disk) }
    return state
  }

  private static func isDelayed(_ mail: MailHealth, _ identity: Identity) async -> Bool {
    do {
      return isDelayed(
        isPaused: mail.isPaused, oldest: try await identity.deliveries.oldest(),
        at: identity.clock.now())
    } catch {
      // A database that can't be read is another check.
      return mail.isPaused
    }
  }

  /// `isPaused` is whether the server couldn't be reached at the last attempt, however long ago:
  /// there's none while nothing waits.
  ///
  /// `oldest` is when the oldest waiting email was created; nil if none waits.
  static func isDelayed(isPaused: Bool, oldest: Instant?, at now: Instant) -> Bool {
    guard let oldest else { return false }
    return isPaused || now.seconds - oldest.seconds > longestMailAge
  }
}

/// Answers health checks from load balancers and service managers.
struct Probes: Sendable {
  /// The readiness checks; nil while the server starts.
  let readiness: Readiness?

  static let routes = ["/healthz", "/livez", "/readyz"].map { Route.Label(.get, $0) }

  /// Answers `/healthz`, `/livez`, and `/readyz`; returns nil for any other path.
  func response(to request: Request) async -> Response? {
    switch request.target.rawPath {
    case "/healthz": readiness == nil ? nil : answer(request, "ok", .ok)
    case "/livez": answer(request, "ok", .ok)
    case "/readyz":
      if let readiness {
        await ready(request, readiness)
      } else {
        unready(request, ["starting"])
      }
    default: nil
    }
  }

  private func ready(_ request: Request, _ readiness: Readiness) async -> Response {
    guard isAllowed(request) else { return answer(request, "", .ok) }
    let state = await readiness.state()
    let reasons = (state.isDraining ? ["draining"] : []) + state.failed.map(\.rawValue)
    guard reasons.isEmpty else { return unready(request, reasons) }
    guard !state.warnings.isEmpty else { return answer(request, "ready", .ok) }
    let warnings = state.warnings.map(\.rawValue).joined(separator: ", ")
    return answer(request, "ready; warnings: \(warnings)", .ok)
  }

  private func unready(_ request: Request, _ reasons: [String]) -> Response {
    answer(request, "not ready: \(reasons.joined(separator: ", "))", .serviceUnavailable)
  }

  private func isAllowed(_ request: Request) -> Bool {
    request.method == .get || request.method == .head
  }

  private func answer(_ request: Request, _ text: String, _ status: Status) -> Response {
    guard isAllowed(request) else {
      var response = Response.text("GET only\n", status: .methodNotAllowed)
      response.fields[.allow] = "GET, HEAD"
      return response
    }
    var response = Response.text("\(text)\n", status: status)
    response.fields[.cacheControl] = "no-store"
    if status == .serviceUnavailable { response.fields[.retryAfter] = "5" }
    return response
  }
}

/// Finds out whether the database can be written, without waiting for it longer than a limit.
///
/// A database that can't be reached takes half a minute to say so.
actor DatabaseProbe {
  private let longest: Duration
  private let write: @Sendable () async throws -> Void
  private var latest: Task<Void, Never>?
  private var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
  private var lastID = 0

  /// `longest` is how long a write may take.
  init(longest: Duration, write: @escaping @Sendable () async throws -> Void) {
    (self.longest, self.write) = (longest, write)
  }

  /// Returns whether a write succeeds in time; the one in progress, if there's one.
  func isWritable() async -> Bool {
    if latest == nil {
      latest = Task {
        complete((try? await write()) != nil)
      }
    }
    lastID += 1
    let id = lastID
    let limit = Task {
      try await Task.sleep(for: longest)
      waiting.removeValue(forKey: id)?.resume(returning: false)
    }
    defer { limit.cancel() }
    return await withCheckedContinuation { waiting[id] = $0 }
  }

  private func complete(_ isWritten: Bool) {
    latest = nil
    let all = waiting.values
    waiting = [:]
    for one in all { one.resume(returning: isWritten) }
  }
}
