import Crypto
import Database
import Identity
import TestDatabases
import TestProvider
import Testing

/// An Identity instance with its own database and a clock controlled by the test.
struct Instance: Sendable {
  let identity: Identity
  let test: TestDatabase
  let clock: FixedClock
  let keys: KeyRing
  let statements: Statements
  /// The provider with which administrators sign in once it's set up.
  let provider: TestProvider
  /// The server of the project that tests connect.
  let remote: TestRemote

  /// The project-level pool of Acme.
  let acme: Pool
  /// A tenant of Acme.
  let east: Pool
  /// Another tenant of Acme.
  let west: Pool
  /// The project-level pool of Globex.
  let globex: Pool

  /// A support agent.
  static let support = Author(
    actor: .administrator(ID("desk"), name: "Dora Support"), address: "198.51.100.7",
    requestID: "request-1")
  /// An administrator who may do anything.
  static let boss = Author(
    actor: .administrator(ID("boss"), name: "Bo the boss"), address: "198.51.100.8",
    requestID: "request-2")
  /// An unauthenticated caller of the application's API.
  static let visitor = Author(actor: .visitor, address: "203.0.113.5", requestID: "request-3")

  /// The public URL of the server.
  static let publicURL = "https://mfa.example.com"

  var database: any Database { test.database }
  var now: Instant { clock.now }

  /// Returns another process's Identity instance for the same database.
  func identity(
    hasher: PasswordHasher = .cheap, keys: KeyRing? = nil, profile: Profile = .standalone
  ) throws -> Identity {
    try Identity(
      database: database, keys: keys ?? self.keys, profile: profile, hasher: hasher,
      mail: TestMail.writer,
      clock: clock.wall, remoteClients: remote.clients(clock))
  }
}

/// Runs a test on a copy of the template, then checks the invariants of every test.
func withInstance(
  hasher: PasswordHasher = .cheap, carriesMail: Bool = false,
  on database: (any Database) -> any Database = { $0 },
  _ body: (Instance) async throws -> Void
) async throws {
  let template = try await Template.shared.value
  let statements = Statements()
  let options = TestDatabase.Options(trace: statements.record)
  try await TestDatabase.with(template.database, options) { test in
    let clock = FixedClock()
    // Its own key ring, because tests run in parallel and some rotate the key.
    let keys = try KeyRing(text: template.keys.text.revealedText)
    let provider = TestProvider { clock.now.seconds }
    let remote = TestRemote()
    let identity = try Identity(
      database: database(test.database), keys: keys, profile: .standalone, hasher: hasher,
      mail: TestMail.writer, clock: clock.wall, random: Dice(seed: 2).source,
      carriesMail: carriesMail, providerTransport: provider,
      remoteClients: remote.clients(clock), remotePatience: TestRemote.patience)
    try await identity.prepare()
    identity.outOfBandCodes.leadLinks(to: Instance.publicURL)
    let (acme, pools) = (Template.acme, identity.pools)
    let instance = Instance(
      identity: identity, test: test, clock: clock, keys: keys, statements: statements,
      provider: provider, remote: remote, acme: try await pools.find(project: acme),
      east: try await pools.find(project: acme, tenant: template.east),
      west: try await pools.find(project: acme, tenant: template.west),
      globex: try await pools.find(project: Template.globex))
    try await body(instance)
    try await instance.expectPlansWithoutScans()
    try await instance.expectSoundData()
  }
}

/// Runs a test on an empty database without a schema.
func withEmptyDatabase(_ body: (any Database) async throws -> Void) async throws {
  try await TestDatabase.with { try await body($0.database) }
}

/// Runs a test in the emulator profile, with only a default project.
func withEmulator(_ body: (Identity) async throws -> Void) async throws {
  try await withEmptyDatabase { database in
    let identity = try Identity(
      database: database, keys: KeyRing(random: .system), profile: .emulator, hasher: .cheap,
      mail: TestMail.writer,
      clock: FixedClock().wall, random: Dice(seed: 3).source, defaultProject: ID("demo-project"))
    try await identity.prepare()
    try await body(identity)
  }
}
