import Crypto
import Database
import HTTP
import Identity
import IdentityToolkitAPI
import JSON
import OTP
import Synchronization
import TestDatabases

/// A server in the test process, with its own database and a stopped clock.
final class TestServer: Sendable {
  let api: IdentityToolkitAPI
  let identity: Identity
  let test: TestDatabase
  let profile: Profile
  /// An API key of the project `acme-mfa`.
  let key: String
  /// A service token with the owner role in `acme-mfa`.
  let owner: String
  private let time: Mutex<Int64>

  static let project = "acme-mfa"
  /// The start time, 2026-09-24T10:00:00.123456Z.
  static let start: Int64 = 1_790_244_000_123_456

  private init(
    _ profile: Profile, _ test: TestDatabase, carriesMail: Bool,
    log: @escaping @Sendable (String) -> Void
  ) async throws {
    let clock = Clock()
    self.test = test
    identity = try Identity(
      database: test.database, keys: Template.keys, profile: profile, hasher: Template.hasher,
      mail: TestMail.writer,
      clock: WallClock { clock.now }, defaultProject: ID(TestServer.project),
      carriesMail: carriesMail)
    api = IdentityToolkitAPI(
      identity: identity, publicURL: "https://mfa.example.com/",
      log: { id, cause in log("request \(id.text): \(cause)") })
    self.profile = profile
    try await identity.prepare()
    key = try await identity.apiKeys.list(ID(TestServer.project)).first?.text ?? ""
    let created = try await identity.serviceTokens.create(
      project: ID(TestServer.project), tenant: nil, role: .owner, name: "tests",
      by: .program(Author(actor: .commandLine))
    ).value
    owner = profile == .emulator ? "owner" : created.secret.revealedText
    self.clock = clock
    time = Mutex(0)
  }

  var database: any Database { test.database }

  private let clock: Clock

  private final class Clock: Sendable {
    private let microseconds = Mutex(TestServer.start)
    var now: Instant { Instant(microseconds: microseconds.withLock { $0 }) }
    func advance(_ by: Int64) { microseconds.withLock { $0 += by } }
  }

  var now: Instant { clock.now }
  func advance(seconds: Int64) { clock.advance(seconds * 1_000_000) }

  /// Runs a test with a new server and deletes its database afterward.
  static func with<T>(
    _ profile: Profile = .standalone, carriesMail: Bool = false,
    log: @escaping @Sendable (String) -> Void = { _ in },
    trace: (@Sendable (String) -> Void)? = nil, _ body: (TestServer) async throws -> T
  ) async throws -> T {
    let options = TestDatabase.Options(trace: trace)
    return try await TestDatabase.with(try await Template.of(profile), options) { test in
      try await body(
        try await TestServer(profile, test, carriesMail: carriesMail, log: log))
    }
  }
}

/// A database that is created once for each profile and copied for each test, since generating a
/// signing key takes longer than most tests.
private enum Template {
  static let keys = KeyRing(random: .system)
  static let hasher = PasswordHasher(
    width: 2, waiting: 1000, cost: PasswordHash.Cost(memory: 64, passes: 1))

  private static let standalone = Task { try await make(.standalone) }
  private static let emulator = Task { try await make(.emulator) }

  static func of(_ profile: Profile) async throws -> DatabaseTemplate {
    try await (profile == .standalone ? standalone : emulator).value
  }

  private static func make(_ profile: Profile) async throws -> DatabaseTemplate {
    let (template, _) = try await DatabaseTemplate.make { database in
      let identity = try Identity(
        database: database, keys: keys, profile: profile, hasher: hasher, mail: TestMail.writer,
        clock: WallClock { Instant(microseconds: TestServer.start) },
        defaultProject: ID(TestServer.project))
      try await identity.prepare()
      if profile == .standalone {
        _ = try await identity.pools.createProject(
          id: TestServer.project, displayName: "Acme", by: .program(Author(actor: .commandLine)))
      }
      _ = try await identity.pools.update(
        project: ID(TestServer.project), by: .program(Author(actor: .commandLine))
      ) { project throws(PoolError) in
        project.project?.allowTenants = true
        project.emailPrivacy = true
        project.signIn.anonymous = true
      }
    }
    return template
  }
}
