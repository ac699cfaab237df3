import Crypto
import Database
import Identity
import OTP
import Testing

/// A test user with an address and a password.
enum Person: String {
  /// An honest user.
  case alice
  /// Another honest user.
  case bob
  /// An attacker.
  case mallory

  var email: String { "\(rawValue)@example.com" }
  var password: Secret { Secret("\(rawValue)'s good password") }
  static let wrong = Secret("not that password")
}

/// A user's authenticator app.
struct Device: Sendable {
  let account: Account
  let factor: ID<Factor>
  let secret: Secret
  /// The session that enrolled it.
  let session: UserSession

  /// Returns the code that the app shows `steps` time steps from a time.
  func code(at time: Instant, steps: Int64 = 0) throws -> String {
    let app = try #require(OneTimePassword(secret: secret))
    return try app.code(step: app.step(at: time.seconds) + steps)
  }

  /// Returns a code that the app doesn't show at any step near a time.
  func wrongCode(at time: Instant) throws -> String {
    let near = try Set((-12...12).map { try code(at: time, steps: $0) })
    return try #require((0...30).map { String(100_000 + $0) }.first { !near.contains($0) })
  }
}

extension Instance {
  /// Creates a user's account with an address and a password.
  func account(
    _ person: Person, in pool: Pool? = nil, isVerified: Bool = true
  ) async throws -> Account {
    var new = NewAccount()
    new.email = person.email
    new.password = person.password
    new.emailVerified = isVerified
    return try await identity.accounts.create(pool ?? acme, new, by: .program(Self.boss)).value
  }

  /// Signs in a user without a second factor.
  func session(_ person: Person, in pool: Pool? = nil) async throws -> SessionGrant {
    let outcome = try await firstFactor(person, in: pool)
    guard case .signedIn(let grant) = outcome else {
      throw Unexpected("a second factor is required for \(person)")
    }
    return grant
  }

  /// Signs in a user whose address or password has changed.
  func signedIn(
    _ person: Person, as email: String? = nil, with password: Secret? = nil
  ) async throws -> SessionGrant {
    let outcome = try await identity.signIns.password(
      acme, email: email ?? person.email, password: password ?? person.password,
      address: "203.0.113.5")
    guard case .signedIn(let grant) = outcome else {
      throw Unexpected("a second factor is required")
    }
    return grant
  }

  /// Enters the password of a user with a second factor and returns the pending credential.
  func pending(_ person: Person, in pool: Pool? = nil) async throws -> String {
    let outcome = try await firstFactor(person, in: pool)
    guard case .secondFactorDue(_, let credential, _) = outcome else {
      throw Unexpected("no second factor is required for \(person)")
    }
    return credential
  }

  func firstFactor(_ person: Person, in pool: Pool? = nil) async throws -> SignInOutcome {
    try await identity.signIns.password(
      pool ?? acme, email: person.email, password: person.password, address: "203.0.113.5")
  }

  /// Starts and finishes the enrollment of an app for a session.
  func enroll(_ session: UserSession, name: String = "phone") async throws -> Device {
    let start = try await identity.enrollments.start(session)
    let secret = Secret(try #require(Base32.decode(start.sharedSecret.revealedText)))
    let app = try #require(OneTimePassword(secret: secret))
    let grant = try await identity.enrollments.finalize(
      session, sessionInfo: start.sessionInfo,
      code: TypedCode(app.code(step: app.step(at: now.seconds))),
      displayName: name, by: Self.visitor)
    return Device(
      account: grant.account, factor: try #require(grant.account.factors.last).id, secret: secret,
      session: grant.session)
  }

  /// Creates a user's account with an authenticator app and advances the clock by 30 seconds, so
  /// that the current code is a new one.
  func enrolled(_ person: Person, in pool: Pool? = nil) async throws -> Device {
    _ = try await account(person, in: pool)
    let device = try await enroll(try await session(person, in: pool).session)
    clock.advance(30)
    return device
  }

  /// Completes a sign-in with a code.
  func finalize(
    _ device: Device, _ pending: String, code: String, in pool: Pool? = nil,
    from origin: RequestOrigin = RequestOrigin()
  ) async throws -> SessionGrant {
    let pool = pool ?? acme
    return try await identity.signIns.finalize(
      project: pool.project, tenant: pool.tenant, pendingCredential: pending,
      enrollment: device.factor.text, code: TypedCode(code), from: origin)
  }

  /// Adds a phone with the enrollment ID `second` to an enrolled user.
  func addSecondDevice(to device: Device) async throws {
    try await addPhone("second", named: "second phone", to: device.account.id)
  }

  /// A program with a service token of the project; the same name is the same token.
  func program(_ name: String = "sync") async throws -> Author {
    let tokens = identity.serviceTokens
    var token = try await tokens.list(acme.project).first { $0.name == name }
    if token == nil {
      token = try await tokens.create(
        project: acme.project, tenant: nil, role: .owner, name: name,
        by: .program(Author(actor: .commandLine))
      ).value.token
    }
    return try #require(token).author(address: "198.51.100.9", requestID: "")
  }

  /// Adds a phone to a user, as a backend does.
  func addPhone(_ id: String, named name: String? = nil, to uid: ID<Account>) async throws {
    var change = AccountChange()
    change.factors = .replace([
      FactorEntry(id: id, displayName: name, phoneNumber: Self.otherNumber)
    ])
    try await identity.accounts.update(acme, uid, change, by: Self.boss)
  }

  /// Returns a user's latest code attempts, newest first.
  func codeAttempts(_ account: Account, in pool: Pool? = nil) async throws -> [CodeAttempt] {
    try await identity.codeAttempts.list(try await reload(account, in: pool)).items
  }

  /// Signs in with a code and returns the outcome.
  @discardableResult
  func enterCode(
    _ device: Device, code: String, in pool: Pool? = nil,
    from origin: RequestOrigin = RequestOrigin()
  ) async throws -> String {
    let person = try #require(Person(rawValue: String(device.account.label.prefix { $0 != "@" })))
    let pending = try await pending(person, in: pool)
    return await outcome {
      try await finalize(device, pending, code: code, in: pool, from: origin)
    }
  }

  /// Returns the current state of an account.
  func reload(_ account: Account, in pool: Pool? = nil) async throws -> Account {
    try #require(try await identity.accounts.find(pool ?? acme, account.id))
  }

  /// Returns what the page of a user shows.
  func records(of account: Account) async throws -> UserRecords {
    try #require(try await identity.records(of: account.id, in: acme, history: false))
  }

  /// Returns the audit rows of a pool, newest first.
  func log(_ pool: Pool? = nil) async throws -> [AuditRow] {
    try await identity.audit.list(AuditFilter(pool: pool ?? acme), limit: 1_000).items
  }

  /// Returns all audit rows of the instance, newest first.
  func wholeLog() async throws -> [AuditRow] {
    try await identity.audit.list(limit: 100_000).items
  }

  /// Enables TOTP in a pool with the given number of adjacent intervals.
  @discardableResult
  func setWindow(_ intervals: Int?, in pool: Pool? = nil) async throws -> Policy {
    try await identity.policies.change(pool ?? acme, by: .program(Self.boss)) { edit in
      edit.configuration.totp = TOTPConfiguration(state: .enabled, adjacentIntervals: intervals)
    }.value.policy
  }
}

extension Instance {
  /// Sets the number of wrong codes in a row that locks codes.
  func setCodeCap(_ cap: Int, in pool: Pool? = nil) async throws {
    var settings = try await identity.support.settings(pool ?? acme)
    settings.codeCap = cap
    try await identity.support.change(pool ?? acme, to: settings, by: .program(Self.boss))
  }
}

/// A result that a test didn't expect.
struct Unexpected: Error {
  let description: String
  init(_ description: String) { self.description = description }
}

extension Instance {
  /// Finalizes an enrollment with a code that is `steps` time steps away from the current one.
  func finish(
    _ start: EnrollmentStart, _ session: UserSession, code: String? = nil, steps: Int64 = 0,
    name: String? = "phone"
  ) async throws -> SessionGrant {
    let secret = try #require(Base32.decode(start.sharedSecret.revealedText))
    let app = try #require(OneTimePassword(secret: Secret(secret)))
    return try await identity.enrollments.finalize(
      session, sessionInfo: start.sessionInfo,
      code: TypedCode(code ?? app.code(step: app.step(at: now.seconds) + steps)), displayName: name,
      by: Self.visitor)
  }
}
