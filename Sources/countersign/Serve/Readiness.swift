import Foundation
import HTTP
import Identity

/// The readiness of the server, as reported by `/readyz`.
///
/// The response names each check in one word and nothing else, since the endpoint is public. The
/// checks run at most once per second, no matter how many requests arrive, and nobody waits for them
/// longer than a moment.
actor Readiness {
  enum Check: String, CaseIterable, Sendable {
    /// The database is writable, and its file is where it was opened.
    case database
    /// A node of a newer version hasn't migrated the database to what this one can't use.
    case version
    /// Neither a statement nor the latest check of the database file found damage; it warns if the
    /// check was long ago.
    case integrity
    /// The clock is trusted, and agrees with that of the database's server; it only warns, since
    /// requests are answered.
    case clock
    /// A signing key exists, and other servers use no newer master key; it warns if the master key
    /// file doesn't have the key that's in use.
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

  private let checks: LastKnown<State>
  /// Whether a newer program hasn't migrated a database that several servers use.
  private let canUseSchema: @Sendable () async -> Bool
  private let log: Log
  private var isDraining = false
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
    self.log = log
    // With a key that was passed to the program, there's no file to check.
    let isKeyFixed = PassedKey(environment: environment) != nil
    let start = identity.clock.now()
    let isShared = folder.isOnServer
    canUseSchema = {
      guard isShared else { return true }
      return (try? await identity.canUseSchema()) != false
    }
    checks = LastKnown {
      var state = await Self.find(identity, file, folder, isKeyFixed, since: start)
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
      identity.setUsable(state.failed.allSatisfy { $0 != .version && $0 != .integrity })
      return state
    }
  }

  /// Reports from now on that the server isn't ready, because it's about to stop.
  func drain() { isDraining = true }

  func state() async -> State { await stateAndWait().state }

  /// Returns the last known state, and how long the present checks have been waiting for the database.
  func stateAndWait() async -> (state: State, waiting: Duration) {
    let answer = await checks.answer()
    var state = answer.value ?? State(failed: [.database])
    if answer.waiting > Self.longestWrite, !state.failed.contains(.database) {
      state.failed.insert(.database, at: 0)
    }
    state.isDraining = isDraining
    var unlogged = state
    unlogged.isDraining = false
    if unlogged != logged {
      logged = unlogged
      log.add(.readiness(unlogged))
    }
    return (state, answer.waiting)
  }

  /// How often a change is looked for while no one asks, in seconds.
  static let interval = 10

  /// Looks for changes, so that each is logged, also without a load balancer.
  ///
  /// A schema that's for newer programs only is noticed within a second or two.
  func watch() async {
    repeat {
      _ = await state()
      for _ in 0..<Self.interval {
        guard await slept(.seconds(1)) else { return }
        if await !canUseSchema() { break }
      }
    } while !Task.isCancelled
  }

  private static func find(
    _ identity: Identity, _ file: OpenedDatabaseFile?,
    _ folder: DataFolder, _ isKeyFixed: Bool, since start: Instant
  ) async -> State {
    var state = State()
    let began = ContinuousClock.now
    let isWritten = (try? await identity.checkWritable()) != nil
    // A write to a file that was deleted succeeds.
    let isWritable =
      isWritten && ContinuousClock.now - began <= longestWrite && file?.isInPlace != false
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
    var differs = identity.clockGuard.doubt != nil
    if !differs, isWritable, case .differs? = try? await identity.databaseClock() { differs = true }
    if differs { state.warnings.append(.clock) }
    let lacksNewest =
      folder.isOnServer && isWritable
      ? (try? await identity.masterKeys.lacksNewest()) == true : false
    if lacksNewest || !identity.hasSigningKey {
      state.failed.append(.keys)
    } else if !isKeyFixed, isWritable {
      // The key in memory works, whatever the file has.
      let kept = try? folder.keptKeys()
      let isKept =
        if let kept { (try? await identity.masterKeys.canAdopt(kept)) ?? true } else { false }
      if !isKept { state.warnings.append(.keys) }
    }
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

/// The latest answer to a question that the database may take minutes to answer, such as on a disk that
/// hangs or a server that can't be reached.
///
/// The question is asked again if the last one was asked a while ago, once at a time.
actor LastKnown<Value: Sendable> {
  struct Answer: Sendable {
    /// Nil if there's none yet.
    let value: Value?
    /// How long the present question has been waiting for its answer; zero if none is.
    let waiting: Duration
  }

  private let patience: Duration
  private let pause: Duration
  private let ask: @Sendable () async -> Value
  private var value: Value?
  private var asked: ContinuousClock.Instant?
  private var isAsking = false
  private var callers: [Int: CheckedContinuation<Void, Never>] = [:]
  private var lastID = 0

  /// `patience` is how long a caller waits for an answer that's newer than the last known one, and
  /// `pause` how much later than a question the next one is asked.
  init(
    patience: Duration = .milliseconds(800), pause: Duration = .seconds(1),
    ask: @escaping @Sendable () async -> Value
  ) {
    (self.patience, self.pause, self.ask) = (patience, pause, ask)
  }

  func answer() async -> Answer {
    let now = ContinuousClock.now
    if !isAsking, asked.map({ now - $0 >= pause }) ?? true {
      (isAsking, asked) = (true, now)
      Task { complete(await ask()) }
    }
    if isAsking, let asked, now - asked < patience { await wait(until: asked + patience) }
    return Answer(
      value: value, waiting: isAsking ? asked.map { ContinuousClock.now - $0 } ?? .zero : .zero)
  }

  private func wait(until end: ContinuousClock.Instant) async {
    lastID += 1
    let id = lastID
    let limit = Task {
      try await Task.sleep(until: end)
      callers.removeValue(forKey: id)?.resume()
    }
    await withCheckedContinuation { callers[id] = $0 }
    limit.cancel()
  }

  private func complete(_ value: Value) {
    self.value = value
    isAsking = false
    for one in callers.values { one.resume() }
    callers = [:]
  }
}
