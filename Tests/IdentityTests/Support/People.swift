import Crypto
import Database
import DatabaseSQLite
import Identity
import OTP
import Testing

/// People have addresses and passwords; who they are is said by the test.
enum Person: String {
  /// An honest user.
  case alice
  /// Another one.
  case bob
  /// Somebody who wants to be somebody else.
  case mallory

  var email: String { "\(rawValue)@example.com" }
  var password: Secret { Secret("\(rawValue)'s good password") }
  static let wrong = Secret("not that password")
}

/// An authenticator app on somebody's phone.
struct Device: Sendable {
  let account: Account
  let factor: ID<Factor>
  let secret: Secret
  /// The session that enrolled it.
  let session: UserSession

  /// The code that the app shows `steps` time steps from a moment.
  func code(at moment: Instant, steps: Int64 = 0) throws -> String {
    let app = try #require(OneTimePassword(secret: secret))
    return try app.code(step: app.step(at: moment.seconds) + steps)
  }

  /// A code that the app shows at no step anywhere near a moment.
  func wrongCode(at moment: Instant) throws -> String {
    let near = try Set((-12...12).map { try code(at: moment, steps: $0) })
    return try #require((0...30).map { String(100_000 + $0) }.first { !near.contains($0) })
  }
}

extension Instance {
  /// Somebody's account with a verified address and a password.
  func account(
    _ person: Person, in scope: Scope? = nil, isVerified: Bool = true
  ) async throws -> Account {
    var new = NewAccount()
    new.email = person.email
    new.password = person.password
    new.emailVerified = isVerified
    return try await identity.accounts.create(scope ?? acme, new, by: Self.boss)
  }

  /// Signs somebody in who has no second factor.
  func session(_ person: Person, in scope: Scope? = nil) async throws -> SessionGrant {
    let outcome = try await firstFactor(person, in: scope)
    guard case .signedIn(let grant) = outcome else {
      throw Unexpected("a second factor is due for \(person)")
    }
    return grant
  }

  /// Signs somebody in whose address or password is another by now.
  func signedIn(
    _ person: Person, as email: String? = nil, with password: Secret? = nil
  ) async throws -> SessionGrant {
    let outcome = try await identity.signIns.password(
      acme, email: email ?? person.email, password: password ?? person.password,
      address: "203.0.113.5")
    guard case .signedIn(let grant) = outcome else { throw Unexpected("a second factor is due") }
    return grant
  }

  /// Gives somebody's password, who has a second factor.
  func pending(_ person: Person, in scope: Scope? = nil) async throws -> String {
    let outcome = try await firstFactor(person, in: scope)
    guard case .secondFactorDue(_, let credential, _) = outcome else {
      throw Unexpected("no second factor is due for \(person)")
    }
    return credential
  }

  func firstFactor(_ person: Person, in scope: Scope? = nil) async throws -> SignInOutcome {
    try await identity.signIns.password(
      scope ?? acme, email: person.email, password: person.password, address: "203.0.113.5")
  }

  /// Starts and finishes the enrollment of an app for a session.
  func enroll(_ session: UserSession, name: String = "phone") async throws -> Device {
    let start = try await identity.enrollments.start(session)
    let secret = Secret(try #require(Base32.decode(start.sharedSecret.revealedText)))
    let app = try #require(OneTimePassword(secret: secret))
    let grant = try await identity.enrollments.finalize(
      session, sessionInfo: start.sessionInfo, code: app.code(step: app.step(at: now.seconds)),
      displayName: name, by: Self.visitor)
    return Device(
      account: grant.account, factor: try #require(grant.account.factors.last).id, secret: secret,
      session: grant.session)
  }

  /// Somebody's account with an authenticator app; half a minute has passed since, so that the
  /// present code is a new one.
  func enrolled(_ person: Person, in scope: Scope? = nil) async throws -> Device {
    _ = try await account(person, in: scope)
    let device = try await enroll(try await session(person, in: scope).session)
    clock.advance(30)
    return device
  }

  /// Gives a code for a pending credential.
  func finalize(
    _ device: Device, _ pending: String, code: String, in scope: Scope? = nil,
    from origin: RequestOrigin = RequestOrigin()
  ) async throws -> SessionGrant {
    let scope = scope ?? acme
    return try await identity.signIns.finalize(
      project: scope.project, tenant: scope.tenant, pendingCredential: pending,
      enrollment: device.factor.text, code: code, from: origin)
  }

  /// Gives an enrolled user a second app, as a later kind of factor will.
  func addSecondDevice(to device: Device, name: String = "second phone") async throws {
    let now = now
    try await database.write { connection in
      try connection.run(
        """
        INSERT INTO factor (account_key, position, enrollment_id, kind, display_name, enrolled_at)
        SELECT /* test */ account_key, 2, 'second', kind, \(name), \(now.microseconds) FROM factor
        WHERE enrollment_id = \(device.factor.text)
        """)
    }
  }

  /// What became of somebody's last codes, the newest first.
  func codeAttempts(_ account: Account, in scope: Scope? = nil) async throws -> [CodeAttempt] {
    try await identity.codeAttempts.list(try await reload(account, in: scope)).items
  }

  /// Gives a code at a sign-in, whatever becomes of it.
  @discardableResult
  func give(
    _ device: Device, code: String, in scope: Scope? = nil,
    from origin: RequestOrigin = RequestOrigin()
  ) async throws -> String {
    let person = try #require(Person(rawValue: String(device.account.label.prefix { $0 != "@" })))
    let pending = try await pending(person, in: scope)
    return await outcome {
      try await finalize(device, pending, code: code, in: scope, from: origin)
    }
  }

  /// An account as it is now.
  func reload(_ account: Account, in scope: Scope? = nil) async throws -> Account {
    try #require(try await identity.accounts.find(scope ?? acme, account.id))
  }

  /// The audit rows of a scope, the newest first.
  func log(_ scope: Scope? = nil) async throws -> [AuditRow] {
    try await identity.audit.list(AuditFilter(scope: scope ?? acme), limit: 1_000).items
  }

  /// All audit rows of the instance, the newest first.
  func wholeLog() async throws -> [AuditRow] {
    try await identity.audit.list(limit: 100_000).items
  }

  /// The policy of a scope with so many adjacent intervals.
  @discardableResult
  func setWindow(_ intervals: Int?, in scope: Scope? = nil) async throws -> Policy {
    try await identity.policies.change(scope ?? acme, by: Self.boss) { edit in
      edit.configuration.totp = TOTPConfiguration(state: .enabled, adjacentIntervals: intervals)
    }
  }
}

extension Instance {
  /// Closes codes with so many wrong ones in a row.
  func setCodeCap(_ cap: Int, in scope: Scope? = nil) async throws {
    var settings = try await identity.support.settings(scope ?? acme)
    settings.codeCap = cap
    try await identity.support.change(scope ?? acme, to: settings, by: Self.boss)
  }
}

/// Something that a fixture did not expect.
struct Unexpected: Error {
  let description: String
  init(_ description: String) { self.description = description }
}
