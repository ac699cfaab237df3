import Crypto
import Database
import OTP
import TestDatabases
import Testing

@testable import Identity
@testable import TestIdentity

/// Administrators of all roles and users with zero to five second factors, created once and copied
/// for each run.
struct StateMachineModel: Sendable {
  let database: DatabaseTemplate
  let keys: KeyRing
  /// The number of seconds from the clock's start to the model's creation.
  let age: Int64
  let agents: [SimulatedAgent]
  let users: [SimulatedUser]
  let pools: [Pool]

  static let shared = Task { try await make() }

  /// Test phone numbers, which receive no messages.
  static let numbers = (0..<8).map { "+4915112345\(600 + $0)" }

  private static func make() async throws -> StateMachineModel {
    var world: StateMachineModel?
    try await withInstance { instance in
      let pools = [instance.acme, instance.east, instance.west]
      try await instance.allowEverything(in: pools)
      var agents: [SimulatedAgent] = []
      let east = instance.east
      for (name, role, project, tenant) in [
        ("olga", .owner, nil, nil), ("otto", .owner, nil, nil), ("piet", .policy, nil, nil),
        ("dora", .support, nil, nil), ("erik", .support, nil, nil), ("alma", .auditor, nil, nil),
        // One with a user's address, and one with access to only one tenant.
        ("bob", .support, east.project, nil), ("tess", .support, east.project, east.tenant),
      ] as [(String, Role, ID<Project>?, ID<Tenant>?)] {
        let grant = Grant(role: role, project: project, tenant: tenant)
        agents.append(try await instance.simulatedAgent(name, grant))
      }
      var users: [SimulatedUser] = []
      for (uid, pool, phones, hasApp) in [
        ("ann", instance.acme, 0, false), ("bob", instance.acme, 0, true),
        ("cyd", instance.acme, 1, true), ("dan", instance.acme, 4, true),
        ("eve", instance.east, 0, true), ("fay", instance.east, 2, false),
        ("gus", instance.west, 1, true),
      ] {
        users.append(
          try await instance.simulatedUser(uid, in: pool, phones: phones, hasApp: hasApp))
      }
      instance.clock.advance(60)
      let now = instance.now
      try await instance.beginAnew(now)
      for index in agents.indices { agents[index].provedAt = now }
      world = StateMachineModel(
        database: try await instance.test.template(), keys: instance.keys,
        age: now.seconds - FixedClock.noon.seconds, agents: agents, users: users, pools: pools)
    }
    return try #require(world)
  }
}

extension Instance {
  /// Enables apps and phones as second factors, with a mandatory enrollment pattern.
  fileprivate func allowEverything(in pools: [Pool]) async throws {
    let numbers = StateMachineModel.numbers.map { #""\#($0)":"\#(Instance.code)""# }
      .joined(separator: ",")
    let setup = Author(actor: .commandLine)
    _ = try await identity.pools.update(project: acme.project, by: .program(setup)) { project in
      project.members = #"{"signIn":{"phoneNumber":{"testPhoneNumbers":{\#(numbers)}}}}"#
      project.configuration.setSMS(true)
      project.project?.importsTOTP = true
    }
    for tenant in [east.tenant, west.tenant] {
      _ = try await identity.pools.update(
        project: acme.project, tenant: tenant, by: .program(setup)
      ) { edit in
        edit.members = #"{"testPhoneNumbers":{\#(numbers)}}"#
        edit.configuration.setSMS(true)
      }
    }
    for pool in pools {
      _ = try await identity.policies.change(pool, by: .program(Self.boss)) {
        $0.pattern = .mandatory
      }
    }
  }

  fileprivate func simulatedAgent(_ name: String, _ grant: Grant) async throws -> SimulatedAgent {
    let administrator = try await identity.administrators.create(
      email: "\(name)@example.com", displayName: name, password: Self.consolePassword,
      grant: grant, by: Author(actor: .commandLine))
    let device = try await enroll(administrator)
    let step = now.seconds / 30
    let new = try await signIn(device)
    clock.advance(30)
    return SimulatedAgent(
      name: name, administrator: new.session.administrator, grants: [grant], secret: device.secret,
      session: new.session,
      provedAt: now, lastStep: step)
  }

  fileprivate func simulatedUser(
    _ uid: String, in pool: Pool, phones: Int, hasApp: Bool
  ) async throws -> SimulatedUser {
    var user = SimulatedUser(uid: uid, pool: pool)
    var new = NewAccount()
    (new.localID, new.email, new.password) = (uid, user.email, user.password)
    new.emailVerified = true
    _ = try await identity.accounts.create(pool, new, by: .program(Self.boss))
    let outcome = try await identity.signIns.password(
      pool, email: user.email, password: user.password, address: "203.0.113.5")
    guard case .signedIn(var grant) = outcome else { throw Unexpected("no session of \(uid)") }
    for number in StateMachineModel.numbers.prefix(phones) {
      grant = try await enrollPhone(grant.session, number: number)
      let factor = try #require(grant.account.factors.last)
      user.factors.append(
        SimulatedFactor(id: factor.id.text, number: number, enrolledAt: factor.enrolledAt))
    }
    if hasApp {
      let device = try await enroll(grant.session)
      user.factors.append(
        SimulatedFactor(
          id: device.factor.text, secret: device.secret, enrolledAt: now,
          lastStep: now.seconds / 30))
    }
    clock.advance(30)
    return user
  }

  /// Deletes what the setup left behind, and marks every agent as just re-authenticated.
  fileprivate func beginAnew(_ now: Instant) async throws {
    try await database.write { connection in
      for table in [
        "DELETE /* test */ FROM session", "DELETE /* test */ FROM outbox",
        "DELETE /* test */ FROM user_link", "DELETE /* test */ FROM oob_code",
        "DELETE /* test */ FROM throttle", "DELETE /* test */ FROM ticket",
        "DELETE /* test */ FROM code_attempt",
        "UPDATE /* test */ account SET last_code_attempt_at = NULL",
      ] as [SQL] {
        try connection.run(table)
      }
      _ = try connection.run(
        "UPDATE /* test */ console_session SET proved_at = \(now)")
    }
  }
}
