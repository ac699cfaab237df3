import Crypto
import Database
import Identity
import OTP
import TestDatabases

@testable import Console

/// Creates the databases that tests copy, once per run, because creating keys and users is slow.
actor SampleInstances {
  static let shared = SampleInstances()
  private var filled: Task<DatabaseTemplate, any Error>?
  private var empty: Task<DatabaseTemplate, any Error>?

  func template() async throws -> DatabaseTemplate {
    let task = filled ?? Task { try await Self.make { try await $0.addSampleData() } }
    filled = task
    return try await task.value
  }

  func emptyTemplate() async throws -> DatabaseTemplate {
    let task = empty ?? Task { try await Self.make { _ in } }
    empty = task
    return try await task.value
  }

  private static func make(
    _ fill: (World) async throws -> Void
  ) async throws -> DatabaseTemplate {
    let (template, _) = try await DatabaseTemplate.make { database in
      // The sample data is five days old when a test begins.
      let clock = FixedClock(FixedClock.start.advanced(bySeconds: -5 * 86_400))
      try await fill(
        try await World(database, publicURL: World.publicURL, seed: 3, clock: clock))
      // Most roles need a second factor from the second sign-in on, except administrators from
      // before sign-ins were counted. Tests sign in as often as they need as such ones; tests of the
      // factor set one up.
      try await database.write { connection in
        _ = try connection.run("UPDATE administrator SET sign_ins = -1000000")
      }
    }
    return template
  }
}

extension World {
  static let ada = "ada@example.com"
  static let nadia = "nadia@example.com"
  static let tomas = "tomas@example.com"
  static let iris = "iris@example.com"

  /// Creates an owner, support of one tenant, a policy admin of a project, and an auditor of the
  /// instance, with projects, tenants, and users.
  fileprivate func addSampleData() async throws {
    _ = try await identity.setup.complete(
      code: TypedCode(setupCode), email: Self.ada, displayName: "Ada M.",
      password: Secret(Self.password),
      address: "192.0.2.1", userAgent: "test")
    let ada = Author(actor: .commandLine)
    _ = try await identity.pools.createProject(
      id: "acme-retail", displayName: "Acme Retail", by: .program(ada))
    _ = try await identity.pools.createProject(
      id: "globex", displayName: "Globex", by: .program(ada))
    for name in ["eu-shop", "us-shop", "sandbox"] {
      clock.advance(seconds: 60)
      _ = try await identity.pools.createTenant(
        in: ID("acme-retail"),
        PoolEdit(
          displayName: name,
          signIn: SignInMethods(password: true, emailLink: false, anonymous: false)),
        by: .program(ada))
    }
    try await administrator(
      Self.nadia, "Nadia K.", Grant(role: .support, project: ID("acme-retail"), tenant: euShop))
    try await administrator(
      Self.tomas, "Tomás R.", Grant(role: .policy, project: ID("acme-retail")))
    try await administrator(Self.iris, "Iris W.", Grant(role: .auditor))
    try await setPolicy(euShop, .enabled, 3, .account)
    clock.advance(seconds: 86_400)
    try await setPolicy(euShop, .enabled, 5, .account)
    try await setPolicy(try await tenantID("us-shop"), .unspecified, nil, nil)
    try await users()
    try await trust()
  }

  private func administrator(_ email: String, _ name: String, _ grant: Grant) async throws {
    _ = try await identity.administrators.create(
      email: email, displayName: name, password: Secret(Self.password), grant: grant,
      by: Author(actor: .commandLine))
  }

  private func setPolicy(
    _ tenant: ID<Tenant>, _ state: MFAState, _ intervals: Int?, _ pattern: EnrollmentPattern?
  ) async throws {
    let pool = try await identity.pools.existing(project: ID("acme-retail"), tenant: tenant)
    let tomas = Author(
      actor: .administrator(ID("tomas"), name: "Tomás R."), address: "192.0.2.7",
      requestID: "000000000TOM")
    _ = try await identity.policies.change(pool, by: .program(tomas)) { edit throws(PolicyError) in
      edit.configuration.totp = TOTPConfiguration(state: state, adjacentIntervals: intervals)
      edit.pattern = pattern
    }
  }

  private func users() async throws {
    let people: [(uid: String, email: String?, name: String?, device: String?)] = [
      ("kT9w2mQxZ0PbV7yL3c8R", "chiara.bianchi@example.com", "Chiara Bianchi", "Pixel 9"),
      ("b4Lz81WcQm0RtY2pKx7D", "farid@example.com", "فرید رضایی", "گوشی"),
      ("u77TnC0aPzQ4hW1sGv9M", "jo@example.com", nil, nil),
      ("zX3eR5tY7uI9oP1aS2dF", nil, "Guest without address", nil),
    ]
    for (uid, email, name, device) in people {
      clock.advance(seconds: 60)
      var new = NewAccount()
      new.localID = uid
      new.email = email
      new.displayName = name
      new.emailVerified = device != nil
      if email != nil { new.password = Secret("a user's password") }
      let account = try await identity.accounts.create(
        try await euPool, new, by: .program(Author(actor: .commandLine))
      ).value
      if let device { try await enroll(account, device) }
    }
  }

  /// Enrolls an authenticator app as an application would, with an open session.
  func enroll(_ account: Account, _ device: String, in pool: Pool? = nil) async throws {
    let pool = if let pool { pool } else { try await euPool }
    let session = UserSession(
      pool: pool, account: account.id, authTime: clock.now.seconds, provider: .password)
    let start = try await identity.enrollments.start(session)
    guard let secret = Base32.decode(start.sharedSecret.revealedText),
      let password = OneTimePassword(secret: Secret(secret))
    else { throw Missing("secret") }
    _ = try await identity.enrollments.finalize(
      session, sessionInfo: start.sessionInfo,
      code: try TypedCode(password.code(step: password.step(at: clock.now.seconds))),
      displayName: device,
      by: Author(actor: .user(account.id), address: "198.51.100.4", requestID: "000000ENROLL"))
  }

  var euShop: ID<Tenant> { get async throws { try await tenantID("eu-shop") } }

  var euPool: Pool {
    get async throws {
      try await identity.pools.existing(project: ID("acme-retail"), tenant: try await euShop)
    }
  }

  /// The ID of a tenant by its name; IDs end in random letters.
  func tenantID(_ name: String) async throws -> ID<Tenant> {
    let page = try await identity.pools.tenants(project: ID("acme-retail"))
    guard let found = page.items.first(where: { $0.displayName == name }) else {
      throw Missing("tenant \(name)")
    }
    return ID(found.pool.objectID)
  }

  /// The path of eu-shop, the prefix of its pages.
  var eu: String {
    get async throws { "/projects/acme-retail/tenants/\(try await euShop.text)" }
  }

  /// The only factor of a user of eu-shop.
  func factor(of uid: String) async throws -> ID<Factor> {
    guard let factor = try await identity.accounts.find(try await euPool, ID(uid))?.factors.first
    else { throw Missing("factor of \(uid)") }
    return factor.id
  }
}

extension World {
  static let chiara = "kT9w2mQxZ0PbV7yL3c8R"
}
