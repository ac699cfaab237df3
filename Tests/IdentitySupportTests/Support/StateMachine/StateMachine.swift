import Crypto
import Database
import OTP
import TestDatabases
import TestProvider
import Testing

@testable import Identity
@testable import TestIdentity

/// A difference from the model.
struct Broken: Error {
  let what: String
}

/// One run: random actions by random actors, with a model of the expected state.
///
/// After each action, its audit rows and the tables are compared with the model. A refused action
/// must not have changed anything.
final class StateMachine {
  let identity: Identity
  let test: TestDatabase
  let clock: FixedClock
  let world: StateMachineModel
  var dice: Seeded
  var agents: [SimulatedAgent]
  var users: [SimulatedUser]
  var settings: [Int64: SupportRules] = [:]
  /// Users who are chosen more often than others.
  let favorites: Set<Int>
  var approvals: [SimulatedApproval] = []
  var jobs: [SimulatedJob] = []
  /// A description of each action so far.
  var trail: [String] = []
  /// How often each action succeeded and was refused.
  var tally: [String: (done: Int, refused: Int)] = [:]
  private var state = TableState()
  private var lastRow: Int64 = 0

  var database: any Database { test.database }
  var now: Instant { clock.now }
  var pools: [Pool] { world.pools }

  init(
    _ world: StateMachineModel, _ identity: Identity, _ test: TestDatabase, _ clock: FixedClock,
    seed: UInt64
  ) {
    (self.world, self.identity, self.test, self.clock) = (world, identity, test, clock)
    (agents, users) = (world.agents, world.users)
    var dice = Seeded(seed)
    favorites = Set(world.users.indices.shuffled(using: &dice).prefix(2))
    self.dice = dice
    for pool in world.pools { settings[pool.key] = SupportRules() }
  }

  /// Performs the actions of a run, then retries everything that has ended.
  static func run(_ world: StateMachineModel, seed: UInt64) async throws -> StateMachine {
    // In memory if possible, because each action waits for its write.
    let options = TestDatabase.Options(readers: 1, writers: 1, isInMemory: true)
    return try await TestDatabase.with(world.database, options) { test in
      let clock = FixedClock()
      clock.advance(world.age)
      let identity = try Identity(
        database: test.database, keys: KeyRing(text: world.keys.text.revealedText),
        profile: .standalone, hasher: .cheap, mail: TestMail.writer, clock: clock.wall,
        random: Dice(seed: seed &+ 1_000).source)
      identity.outOfBandCodes.leadLinks(to: Instance.publicURL)
      let run = StateMachine(world, identity, test, clock, seed: seed)
      do {
        try await run.run()
        // Checking the whole database takes as long as a run, so only every eighth run does it.
        if seed % 8 == 0 { try await run.instance.expectSoundData() }
      } catch {
        let trail = run.trail.suffix(25).joined(separator: "\n  ")
        let what = (error as? Broken)?.what ?? "\(error)"
        throw Broken(what: "seed \(seed): \(what)\nafter \(run.trail.count) actions:\n  \(trail)")
      }
      return run
    }
  }

  private func run() async throws {
    (state, lastRow) = try await look()
    try compare(state)
    for pool in pools { try await changeSomeSettings(of: pool) }
    for _ in 0..<(30 + dice.below(31)) {
      if dice.chance(22) { try await passTime() }
      try await act()
    }
    try await tryWhatIsOver()
  }

  private var instance: Instance {
    Instance(
      identity: identity, test: test, clock: clock, keys: world.keys, statements: Statements(),
      provider: TestProvider { 0 }, remote: TestRemote(), acme: pools[0], east: pools[1],
      west: pools[2], globex: pools[0])
  }

  // MARK: - One action

  /// The expected effects of an action.
  struct Expectation {
    let name: String
    /// The names of the acceptable errors, or empty for success.
    var refusals: [String] = []
    /// The audit rows in order, whether or not the action is refused.
    var rows: [String] = []
    /// Whether the order of the rows matters.
    var isOrdered = true
    /// The tables that may change even if the action is refused.
    var changes: Set<String> = []
  }

  /// Returns the result of a call.
  func attempt<T>(_ body: () async throws -> T) async -> Result<T, any Error> {
    do { return .success(try await body()) } catch { return .failure(error) }
  }

  /// Compares an action's effects with the expected ones, and the tables with the model.
  func reconcile<T>(_ expectation: Expectation, _ result: Result<T, any Error>) async throws {
    let outcome: String
    switch result {
    case .success: outcome = "done"
    case .failure(let error): outcome = caseName(error)
    }
    trail.append("\(expectation.name): \(outcome)")
    let key = String(expectation.name.prefix { $0 != " " })
    let isDone = outcome == "done"
    tally[key, default: (0, 0)].done += isDone ? 1 : 0
    tally[key, default: (0, 0)].refused += isDone ? 0 : 1
    guard expectation.refusals.isEmpty ? isDone : expectation.refusals.contains(outcome) else {
      let expected = expectation.refusals.isEmpty ? ["done"] : expectation.refusals
      throw Broken(what: "\(expectation.name) was \(outcome), not \(expected)")
    }
    let before = state
    let since = lastRow
    (state, lastRow) = try await look()
    let rows = try await rows(after: since)
    let isAsExpected =
      expectation.isOrdered ? rows == expectation.rows : rows.sorted() == expectation.rows.sorted()
    guard isAsExpected else {
      throw Broken(what: "\(expectation.name) left the rows \(rows), not \(expectation.rows)")
    }
    if !isDone {
      let changed = Set(state.tables.keys.filter { state.tables[$0] != before.tables[$0] })
      guard changed.isSubset(of: expectation.changes) else {
        let table = changed.subtracting(expectation.changes).sorted()[0]
        throw Broken(
          what: """
            \(expectation.name) was refused, and \(table) changed from
            \(before.tables[table] ?? "")
            to
            \(state.tables[table] ?? "")
            """)
      }
    }
    try compare(state)
  }

  // MARK: - The tables

  /// The contents of the tables: those in the model, and the rest as text.
  struct TableState {
    var known: [String: String] = [:]
    var tables: [String: String] = [:]
  }

  private func look() async throws -> (TableState, Int64) {
    try await database.read { connection in
      var found = TableState()
      let rows = try connection.all(TableState.query) { row in
        (try row.next() as String, try row.next() as String?)
      }
      for (name, text) in rows {
        if name.hasPrefix("model ") {
          found.known[String(name.dropFirst(6))] = text ?? ""
        } else {
          // In the order of their texts: that of rows in a table means nothing.
          found.tables[name] = (text ?? "").split(separator: "\n").sorted().joined(separator: "\n")
        }
      }
      let last = try connection.first("SELECT /* test */ max(audit_id) FROM audit") {
        try $0.next() as Int64
      }
      return (found, last ?? 0)
    }
  }

  private func rows(after last: Int64) async throws -> [String] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT /* test */ action || ' by '
          || CASE actor_kind WHEN 'administrator' THEN actor_name ELSE actor_kind END
          || ' on ' || object_id
        FROM audit WHERE audit_id > \(last) ORDER BY audit_id
        """
      ) { try $0.next() as String }
    }
  }

  private func compare(_ state: TableState) throws {
    let expected = try model()
    for (name, text) in state.known.sorted(by: { $0.key < $1.key })
    where expected[name] ?? "" != text {
      throw Broken(
        what: """
          \(name) of the database:
          \(text)
          \(name) of the model:
          \(expected[name] ?? "")
          """)
    }
  }

  /// Returns the expected contents of the tables.
  private func model() throws -> [String: String] {
    var lines: [String: [String]] = [:]
    for user in users where !user.isGone {
      for factor in user.factors {
        lines["factors", default: []].append(
          [
            user.uid, factor.id, factor.secret == nil ? "phone 0" : "totp 1",
            factor.suspendedUntil.map { String($0.microseconds) } ?? "-",
            factor.lastStep.map(String.init) ?? "-",
          ].joined(separator: " "))
      }
      for removal in user.removals {
        lines["removals", default: []] += removal.factors.map { factor in
          "\(user.uid) \(factor.id) \(removal.id.text) \(removal.remover) "
            + "\(removal.until.microseconds) \(factor.secret == nil ? 0 : 1)"
        }
      }
      // Their secrets are already deleted.
      lines["ended", default: []] += user.ended.map { removal, factor in
        "\(user.uid) \(factor.id) \(removal.text) 0"
      }
      lines["sessions", default: []] += user.sessions.filter(\.isAlive).map { session in
        "\(user.uid) \(Hex.encode(Store.digest(session.token)))"
      }
      lines["marks", default: []].append(
        [
          user.uid, user.isProtected ? "1" : "0", user.isLocked ? "1" : "0",
          user.isDisabled ? "1" : "0", String(user.wrongCodes),
          user.blockedUntil.map { String($0.microseconds) } ?? "-",
        ].joined(separator: " "))
      if user.temporary != nil {
        lines["backup codes", default: []].append("\(user.uid) temporary 1")
      }
      if let left = user.recovery {
        lines["backup codes", default: []].append("\(user.uid) recovery \(left.count)")
      }
    }
    return lines.mapValues { $0.sorted().joined(separator: "\n") }
      .merging(["counts": ""]) { first, _ in first }
  }
}
