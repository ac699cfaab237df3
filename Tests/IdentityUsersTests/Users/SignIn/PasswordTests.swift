import Crypto
import Database
import Identity
import Testing

@testable import TestIdentity

struct PasswordSignInTests {
  private func signIn(
    _ instance: Instance, email: String = Person.alice.email,
    password: Secret = Person.alice.password, in pool: Pool? = nil
  ) async throws -> SignInOutcome {
    try await instance.identity.signIns.password(
      pool ?? instance.acme, email: email, password: password, address: "203.0.113.5")
  }

  @Test func `the correct password signs in, and the email is case-insensitive`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      instance.clock.advance(7)
      guard case .signedIn(let grant) = try await signIn(instance, email: "Alice@EXAMPLE.com")
      else { throw Unexpected("a second factor") }
      #expect(grant.account.id == alice.id)
      #expect(grant.session.authTime == instance.now.seconds)
      #expect(grant.session.provider == .password)
      #expect(grant.session.secondFactor == nil)
      #expect(grant.account.lastLoginAt == instance.now)
      #expect(try await instance.reload(alice).lastLoginAt == instance.now)
      _ = try await instance.identity.sessions.check(grant.session)
    }
  }

  @Test func `a wrong password, an unknown email, and another pool are refused`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      var new = NewAccount()
      new.email = Person.bob.email
      _ = try await instance.identity.accounts.create(
        instance.acme, new, by: .program(Instance.boss))
      await expect("wrongPassword") { try await signIn(instance, password: Person.wrong) }
      await expect("wrongPassword") { try await signIn(instance, password: Secret("")) }
      await expect("wrongPassword") { try await signIn(instance, email: Person.bob.email) }
      await expect("emailNotFound") { try await signIn(instance, email: "nobody@example.com") }
      await expect("invalidEmail") { try await signIn(instance, email: "") }
      await expect("emailNotFound") { try await signIn(instance, in: instance.east) }
      await expect("emailNotFound") { try await signIn(instance, in: instance.globex) }
    }
  }

  @Test func `a disabled user is reported only with the correct password`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      var change = AccountChange()
      change.disabled = true
      _ = try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      await expect("wrongPassword") { try await signIn(instance, password: Person.wrong) }
      await expect("userDisabled") { try await signIn(instance) }
      #expect(try await instance.identity.sessions.count(alice) == 0)
    }
  }

  @Test func `sign-in fails while passwords or the pool are disabled`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      let pools = instance.identity.pools
      _ = try await pools.update(project: instance.acme.project, by: .program(Instance.boss)) {
        $0.signIn.password = false
      }
      await expect("passwordLoginDisabled") { try await signIn(instance) }
      let off = try await pools.update(project: instance.acme.project, by: .program(Instance.boss))
      {
        $0.signIn.password = true
        $0.disableAuth = true
      }.value
      await expect("poolDisabled") { try await signIn(instance, in: off.pool) }
    }
  }

  @Test func `an enrolled user needs the second factor before a session starts`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let before = try await instance.reload(device.account)
      guard
        case .secondFactorDue(let account, let pending, let factors) = try await signIn(instance)
      else { throw Unexpected("no second factor") }
      #expect(account.id == device.account.id)
      #expect(factors.map(\.id) == [device.factor])
      #expect(!pending.isEmpty)
      let after = try await instance.reload(device.account)
      #expect(after.lastLoginAt == before.lastLoginAt)
      #expect(
        try await instance.identity.sessions.count(after)
          == instance.identity.sessions.count(before))
    }
  }

  @Test func `a hash with another cost is replaced, and concurrent sign-ins all succeed`()
    async throws
  {
    let costly = PasswordHasher(
      width: 4, waiting: 100, cost: PasswordHash.Cost(memory: 128, passes: 2))
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let identity = try instance.identity(hasher: costly)
      let outcomes = try await concurrently(8) { _ in
        await outcome {
          try await identity.signIns.password(
            instance.acme, email: Person.alice.email, password: Person.alice.password,
            address: "a")
        }
      }
      #expect(outcomes.tally == ["done": 8])
      let hash = try await instance.passwordHash(of: alice)
      #expect(hash.hasPrefix("$argon2id$v=19$m=128,t=2,p=1$"))
    }
  }

  @Test func `sign-up turned off while the password is being hashed creates no account`()
    async throws
  {
    try await withInstance { instance in
      let latch = Latch()
      let identity = try instance.identity(hasher: latch.hasher())
      let signUp = Task {
        var new = NewAccount()
        (new.email, new.password) = (Person.alice.email, Person.alice.password)
        let account = new
        return await outcome {
          try await identity.signIns.signUp(instance.acme, account, by: Instance.visitor)
        }
      }
      await latch.isReached()
      try await instance.allow(password: false)
      latch.open()
      #expect(await signUp.value == "operationNotAllowed")
      let found = try await instance.identity.accounts.lookup(
        instance.acme, emails: [Person.alice.email])
      #expect(found.isEmpty)
    }
  }

  @Test(arguments: ["disabled", "no password", "deleted", "another password", "method off"])
  func `changes made while the password is being hashed take effect`(what: String) async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let latch = Latch()
      let identity = try instance.identity(hasher: latch.hasher())
      let signIn = Task {
        // The password is correct and is rehashed with the cost of this hasher.
        await outcome {
          try await identity.signIns.password(
            instance.acme, email: Person.alice.email, password: Person.alice.password,
            address: "a")
        }
      }
      await latch.isReached()
      var change = AccountChange()
      switch what {
      case "disabled": change.disabled = true
      case "no password": change.password = .clear
      case "method off": try await instance.allow(password: false)
      case "another password": change.password = .set(Secret("another password"))
      default:
        try await instance.identity.accounts.delete(instance.acme, alice.id, by: Instance.boss)
      }
      if what != "deleted", what != "method off" {
        _ = try await instance.identity.accounts.update(
          instance.acme, alice.id, change, by: Instance.boss)
      }
      // A missing password takes as much work as an existing one.
      for _ in 0..<3 { latch.open() }
      let expected =
        ["disabled": "userDisabled", "method off": "passwordLoginDisabled"][what]
        ?? "wrongPassword"
      #expect(await signIn.value == expected)
      #expect(try await instance.identity.sessions.count(alice) == 0)
    }
  }

  @Test(
    arguments: [
      ("disabled", false), ("disabled", true), ("deleted", false), ("deleted", true),
    ])
  func `a tenant disabled or deleted while the password is being hashed starts no session`(
    what: String, isSignUp: Bool
  ) async throws {
    try await withInstance { instance in
      let east = instance.east
      let alice = try await instance.account(.alice, in: east)
      let latch = Latch()
      let identity = try instance.identity(hasher: latch.hasher())
      let signIn = Task {
        await outcome {
          if isSignUp {
            var new = NewAccount()
            (new.email, new.password) = (Person.bob.email, Person.bob.password)
            _ = try await identity.signIns.signUp(east, new, by: Instance.visitor)
          } else {
            _ = try await identity.signIns.password(
              east, email: Person.alice.email, password: Person.alice.password, address: "a")
          }
        }
      }
      await latch.isReached()
      let (pools, tenant) = (instance.identity.pools, try #require(east.tenant))
      if what == "deleted" {
        try await pools.delete(project: east.project, tenant: tenant, by: .program(Instance.boss))
      } else {
        _ = try await pools.update(
          project: east.project, tenant: tenant, by: .program(Instance.boss)
        ) {
          $0.disableAuth = true
        }
      }
      for _ in 0..<3 { latch.open() }
      #expect(await signIn.value == (what == "deleted" ? "poolDeleted" : "poolDisabled"))
      #expect(try await instance.identity.sessions.count(alice) == 0)
      let other = try await instance.identity.accounts.lookup(east, emails: [Person.bob.email])
      #expect(other.isEmpty)
    }
  }

  @Test func `a password of the user's own that's hashed while the pool is disabled isn't set`()
    async throws
  {
    try await withInstance { instance in
      let east = instance.east
      let alice = try await instance.account(.alice, in: east)
      let session = try await instance.session(.alice, in: east).session
      let latch = Latch()
      let identity = try instance.identity(hasher: latch.hasher())
      let update = Task {
        await outcome {
          var change = AccountChange()
          change.password = .set(Person.bob.password)
          _ = try await identity.accounts.update(
            east, alice.id, change, by: Author(actor: .user(alice.id)), in: session)
        }
      }
      await latch.isReached()
      _ = try await instance.identity.pools.update(
        project: east.project, tenant: east.tenant, by: .program(Instance.boss)
      ) { $0.disableAuth = true }
      latch.open()
      #expect(await update.value == "tokenExpired")
      #expect(try await instance.identity.sessions.count(alice) == 1)
    }
  }
}

extension Instance {
  func passwordHash(of account: Account) async throws -> String {
    try await database.read { connection in
      try connection.first(
        "SELECT /* test */ password_hash FROM account WHERE uid = \(account.id)"
      ) { try $0.next() } ?? ""
    }
  }
}
