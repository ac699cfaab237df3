import Crypto
import Identity
import Testing

@testable import TestIdentity

struct TenantIsolationTests {
  /// Tries every operation on a pool with the IDs of a user in a different pool.
  ///
  /// - Returns: The name and outcome of each operation.
  private func attempts(
    _ instance: Instance, _ pool: Pool, _ device: Device, _ grant: SessionGrant,
    _ pending: String, _ agent: Agent
  ) async throws -> [(name: String, outcome: String)] {
    let identity = instance.identity
    let id = device.account.id
    let session = UserSession(
      pool: pool, account: id, authTime: instance.now.seconds, provider: .password,
      secondFactor: SecondFactorClaim(kind: .totp, enrollment: device.factor))
    func count(_ number: Int) -> String { number == 0 ? "nothing" : "found" }
    let found = try await identity.accounts.lookup(
      pool, ids: [id.text], emails: [Person.alice.email], phoneNumbers: ["+4912345678"])
    let filter = AuditFilter(pool: pool, object: .account, objectID: id.text)
    return [
      ("find", count(try await identity.accounts.find(pool, id) == nil ? 0 : 1)),
      ("lookup", count(found.count)),
      ("list", count(try await identity.accounts.list(pool).items.count)),
      ("search", count(try await identity.accounts.search(pool, "a").hits.count)),
      ("search by uid", count(try await identity.accounts.search(pool, id.text).hits.count)),
      ("search by part", count(try await identity.accounts.search(pool, "lice@").hits.count)),
      ("by name", count(try await identity.accounts.list(pool, sort: .name).items.count)),
      ("counts", count(try await identity.accounts.counts(pool).users)),
      ("with an app", count(try await identity.accounts.list(pool, filter: .totp).items.count)),
      ("batch", count(try await identity.accounts.export(pool, after: nil, limit: 9).items.count)),
      ("audit", count(try await identity.audit.list(filter).items.count)),
      ("users", count(try await identity.policies.read(pool).users)),
      ("enrolled", count(try await identity.policies.read(pool).enrolledUsers)),
      ("session", await outcome { try await identity.sessions.check(session) }),
      ("enroll", await outcome { try await identity.enrollments.start(session) }),
      (
        "password",
        await outcome { try await instance.firstFactor(.alice, in: pool) }
      ),
      (
        "consequences",
        await outcome { try await identity.factorRemovals.consequences(pool, id, device.factor) }
      ),
      (
        "rename",
        await outcome {
          try await identity.support.rename(
            pool, id, device.factor, to: "mine", agent.request())
        }
      ),
      (
        "finalize",
        await outcome {
          let code = try device.code(at: instance.now, steps: 1)
          return try await instance.finalize(device, pending, code: code, in: pool)
        }
      ),
      (
        "refresh",
        await outcome {
          try await identity.sessions.refresh(
            grant.refreshToken, project: pool.project, tenant: pool.tenant)
        }
      ),
      (
        "withdraw",
        await outcome {
          try await identity.enrollments.withdraw(
            session, enrollment: device.factor.text, by: Instance.visitor)
        }
      ),
      (
        "remove",
        await outcome {
          try await identity.factorRemovals.remove(pool, id, device.factor, agent.request())
        }
      ),
      (
        "remove all",
        await outcome {
          try await identity.factorRemovals.remove(pool, id, nil, agent.request())
        }
      ),
      (
        "end sessions",
        await outcome { try await identity.sessions.endAll(pool, id, by: Instance.support) }
      ),
      (
        "update",
        await outcome {
          var change = AccountChange()
          change.disabled = true
          return try await identity.accounts.update(pool, id, change, by: Instance.boss)
        }
      ),
      (
        "delete",
        await outcome { try await identity.accounts.delete(pool, id, by: Instance.boss) }
      ),
    ]
  }

  /// The outcome for a token of another pool of the same project; nil in another project.
  ///
  /// A request that names no tenant is one in the token's own pool.
  private func tokenUse(of home: Pool, in other: Pool) -> String? {
    guard home.project == other.project else { return nil }
    return other.tenant == nil ? "done" : "tenantMismatch"
  }

  @Test(arguments: 0..<4, 0..<4)
  func `C8: nothing can be found or changed with another pool's IDs`(
    own: Int, other: Int
  ) async throws {
    guard own != other else { return }
    try await withInstance { instance in
      let pools = [instance.acme, instance.east, instance.west, instance.globex]
      let home = pools[own]
      let device = try await instance.enrolled(.alice, in: home)
      var change = AccountChange()
      change.phoneNumber = .set("+4912345678")
      _ = try await instance.identity.accounts.update(
        home, device.account.id, change, by: Instance.boss)
      let grant = try await instance.finalize(
        device, instance.pending(.alice, in: home), code: device.code(at: instance.now), in: home)
      let pending = try await instance.pending(.alice, in: home)
      let attempted = try await instance.pending(.alice, in: home)
      let agent = try await instance.agent()
      let rows = try await instance.wholeLog().count

      let expected = [
        "find": "nothing", "lookup": "nothing", "list": "nothing", "search": "nothing",
        "search by uid": "nothing", "search by part": "nothing", "by name": "nothing",
        "counts": "nothing", "rename": "accountNotFound", "remove all": "accountNotFound",
        "with an app": "nothing", "batch": "nothing",
        "audit": "nothing", "users": "nothing", "enrolled": "nothing", "session": "userNotFound",
        "enroll": "userNotFound", "password": "emailNotFound",
        "withdraw": "userNotFound", "consequences": "accountNotFound",
        "remove": "accountNotFound", "end sessions": "userNotFound", "update": "notFound",
        "delete": "notFound",
        "finalize": tokenUse(of: home, in: pools[other]) ?? "projectMismatch",
        "refresh": tokenUse(of: home, in: pools[other]) ?? "invalidRefreshToken",
      ]
      let results = try await attempts(instance, pools[other], device, grant, attempted, agent)
      #expect(results.count == expected.count)
      for (name, result) in results { #expect(result == expected[name], "\(name)") }

      #expect(try await instance.wholeLog().count == rows)
      let account = try await instance.reload(device.account, in: home)
      #expect(account.factors.count == 1 && !account.disabled)
      _ = try await instance.identity.sessions.check(grant.session)
      instance.clock.advance(60)
      let code = try device.code(at: instance.now)
      _ = try await instance.finalize(device, pending, code: code, in: home)
    }
  }

  @Test func `the same operations succeed in the user's own pool`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let grant = try await instance.finalize(
        device, instance.pending(.alice), code: device.code(at: instance.now))
      let pending = try await instance.pending(.alice)
      let agent = try await instance.agent()
      let results = try await attempts(
        instance, instance.acme, device, grant, pending, agent)
      // The withdrawal removes the only factor.
      let others = [
        "session": "done", "enroll": "alreadyEnrolled", "password": "done", "consequences": "done",
        "rename": "done", "finalize": "done", "refresh": "done", "withdraw": "done",
        "remove": "factorNotFound", "remove all": "factorNotFound", "end sessions": "done",
        "update": "done", "delete": "done",
      ]
      #expect(results.count == 26 && Set(others.keys).isSubset(of: results.map(\.name)))
      for (name, result) in results { #expect(result == others[name] ?? "found", "\(name)") }
    }
  }

  @Test func `a project's keys and tokens aren't visible in another project`() async throws {
    try await withInstance { instance in
      let identity = instance.identity
      let (acme, globex) = (instance.acme.project, instance.globex.project)
      _ = try await identity.serviceTokens.create(
        project: acme, tenant: nil, role: .owner, name: "x",
        by: .program(Author(actor: .commandLine)))
      let tokens = try await identity.serviceTokens.list(globex)
      #expect(tokens.isEmpty)
      let keys = try await identity.apiKeys.list(globex)
      let acmeKeys = try await identity.apiKeys.list(acme)
      #expect(Set(keys.map(\.text)).isDisjoint(with: acmeKeys.map(\.text)))
      let tenants = try await identity.pools.tenants(project: globex)
      #expect(tenants.items.isEmpty)
    }
  }
}
