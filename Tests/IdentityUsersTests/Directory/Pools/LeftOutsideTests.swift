import Database
import OpenIDConnect
import Testing

@testable import Identity
@testable import TestIdentity

/// Users with a second factor whom a change of sign-in methods leaves without a way to sign in.
struct LeftOutsideTests {
  /// A change of how users sign in, and the users whom it leaves outside.
  struct Change: Sendable, CustomTestStringConvertible {
    let name: String
    let outside: Int
    var pool: (@Sendable (inout PoolEdit) throws(PoolError) -> Void)?
    var provider: (@Sendable (inout ProviderSettings) throws(ProviderError) -> Void)?

    var testDescription: String { name }

    /// Performs the change as a program, or an administrator with a reason.
    func perform(_ instance: Instance, as agent: Agent?, note: String = "") async throws {
      let (acme, providers) = (instance.acme, instance.identity.identityProviders)
      let request = agent?.request(nil, note: note)
      let program = agent == nil ? try await instance.program() : Instance.boss
      if let pool, let request {
        _ = try await instance.identity.pools.update(
          project: acme.project, by: .console(request), edit: pool)
      } else if let pool {
        _ = try await instance.identity.pools.update(
          project: acme.project, by: .program(program), edit: pool)
      } else if let provider, let request {
        _ = try await providers.update(
          acme, "oidc.acme", expecting: nil, by: .console(request), edit: provider)
      } else if let provider {
        try await providers.update(acme, "oidc.acme", by: .program(program), edit: provider)
      } else if let request {
        _ = try await providers.delete(acme, "oidc.acme", by: .console(request))
      } else {
        try await providers.delete(acme, "oidc.acme", by: .program(program))
      }
    }

    /// Returns whom it would leave outside, as pages do.
    func preview(_ instance: Instance) async throws -> Int {
      let acme = instance.acme
      if let pool {
        return try await instance.identity.pools.leftOutside(
          project: acme.project, tenant: nil, by: pool)?.users ?? 0
      }
      return try await instance.identity.identityProviders.leftOutside(
        of: acme, byChanging: "oidc.acme", provider)?.users ?? 0
    }
  }

  /// Whom it leaves outside if a method is turned off while all others are on.
  private static func users(without method: SignInMethods.Method) -> Int {
    switch method {
    // A user with a password has an address, to which links are sent.
    case .password: 0
    case .emailLink: 1
    case .anonymous, .phone: 0
    }
  }

  static let changes: [Change] =
    SignInMethods.Method.allCases.map { method in
      Change(name: "\(method) off", outside: users(without: method)) { $0.signIn.turnOff(method) }
    } + [
      Change(name: "password and email link off", outside: 2) {
        $0.signIn.turnOff(.password)
        $0.signIn.turnOff(.emailLink)
      },
      Change(name: "another setting", outside: 0) { $0.userPermissions.signUp = false },
      Change(name: "provider removed", outside: 1),
      Change(name: "provider off", outside: 1, provider: { $0.isEnabled = false }),
      Change(name: "provider without keys", outside: 1, provider: { $0.keys = KeySet() }),
      Change(
        name: "another issuer", outside: 1, provider: { $0.issuer = "https://other.example" }),
      Change(name: "another client", outside: 0, provider: { $0.clientID = "client-2" }),
      Change(name: "another name", outside: 0, provider: { $0.displayName = "Login" }),
    ]

  /// Imports users who can sign in to Acme in one way each, most with an authenticator app, and
  /// turns all methods on.
  private func populate(_ instance: Instance) async throws {
    try await instance.configureProvider()
    try await instance.allowTOTPImport()
    _ = try await instance.identity.pools.update(
      project: instance.acme.project, by: .program(Instance.boss)
    ) {
      $0.signIn = SignInMethods(password: true, emailLink: true, anonymous: true, phone: true)
      $0.configuration.totp = TOTPConfiguration(state: .enabled, adjacentIntervals: 1)
    }
    func user(_ id: String, _ set: (inout ImportedUser) -> Void = { _ in }) -> ImportRow {
      var user = ImportedUser()
      (user.localID, user.email, user.emailVerified) = (id, "\(id)@example.com", true)
      user.factors = [ImportedFactor(.totp(ImportedFactor.secret), id: "app-\(id)")]
      set(&user)
      return .success(user)
    }
    let identity = ProviderLink(provider: "oidc.acme", rawID: "user-1")
    let rows = [
      user("password") { $0.password = .salted(Person.alice.password) },
      user("link"),
      user("provider") { $0.providers = [identity] },
      // Phone sign-in supports no second factor.
      user("phone") { $0.phoneNumber = "+15555550100" },
      user("custom-token") { $0.isCustomAuth = true },
      user("disabled") { $0.disabled = true },
      user("without-a-factor") { $0.factors = [] },
    ]
    let outcome = try await instance.identity.imports.run(
      instance.acme, rows, .factorless, by: Instance.boss)
    #expect(outcome.refusals.isEmpty)
    // A factor can be added only to a user with an email address, but outlasts it.
    var change = AccountChange()
    change.email = .clear
    for id in ["provider", "phone", "custom-token"] {
      let account = try await instance.identity.accounts.update(
        instance.acme, ID(id), change, by: Instance.boss)
      #expect(account.email == nil && account.factors.count == 1)
    }
  }

  private func listed(_ instance: Instance, _ role: Role = .owner) async throws -> [Int] {
    let administrator = Administrator(
      id: ID("y"), email: "y@example.com", displayName: "Y", grants: [Grant(role: role)])
    return try await instance.identity.pools.leftOutside(visibleTo: administrator, limit: 10)
      .map(\.found.users)
  }

  @Test(arguments: changes)
  func `an administrator's change that leaves users outside requires a reason`(
    change: Change
  ) async throws {
    try await withInstance { instance in
      try await populate(instance)
      #expect(try await change.preview(instance) == change.outside)
      let agent = try await instance.agent("olga", role: .owner)
      let before = try await instance.log().count
      if change.outside > 0 {
        await expect("writtenReasonRequired") {
          try await change.perform(instance, as: agent)
        }
        #expect(try await instance.log().count == before)
      }
      let reason = change.outside > 0 ? "They moved." : ""
      try await change.perform(instance, as: agent, note: reason)
      let rows = try await instance.log()
      #expect(rows.count == before + 1)
      #expect(rows.first?.note ?? "" == reason)
      let left = try await instance.identity.pools.leftOutside(of: instance.acme)?.users
      #expect(left ?? 0 == change.outside)
    }
  }

  @Test(arguments: changes)
  func `a program's change that leaves users outside is made, and owners are told`(
    change: Change
  ) async throws {
    try await withInstance(carriesMail: true) { instance in
      try await populate(instance)
      _ = try await instance.agent("olga", role: .owner)
      let before = try await instance.log().count
      try await change.perform(instance, as: nil)
      #expect(try await instance.log().count > before)
      let mails = try await instance.mails("notice-sign-in-narrowed")
      #expect(mails.map(\.recipient) == (change.outside > 0 ? ["olga@desk.example.com"] : []))
      let count =
        change.outside == 1
        ? "1 user with a second factor has" : "2 users with a second factor have"
      #expect(mails.allSatisfy { $0.body.contains("\(count) no other way to sign in.") })
      let link = "https://mfa.example.com/projects/acme-app/settings/sign-in-methods\n"
      #expect(mails.allSatisfy { $0.body.contains(link) })
    }
  }

  @Test func `owners are told about a pool once a day`() async throws {
    try await withInstance(carriesMail: true) { instance in
      try await populate(instance)
      _ = try await instance.agent("olga", role: .owner)
      func narrow() async throws -> Int {
        let program = try await instance.program()
        for isOn in [false, true] {
          _ = try await instance.identity.pools.update(
            project: instance.acme.project, by: .program(program)
          ) { $0.signIn.emailLink = isOn }
        }
        return try await instance.mails("notice-sign-in-narrowed").count
      }
      #expect(try await narrow() == 1)
      instance.clock.advance(86_000)
      #expect(try await narrow() == 1)
      instance.clock.advance(500)
      #expect(try await narrow() == 2)
    }
  }

  @Test func `users without a way in are counted every hour and listed meanwhile`() async throws {
    try await withInstance { instance in
      try await populate(instance)
      #expect(try await listed(instance) == [])
      try await instance.identity.watchActivity()
      #expect(try await listed(instance) == [1], "the user who signs in by phone")
      #expect(try await listed(instance, .support) == [1])
      let globex = Administrator(
        id: ID("x"), email: "x@example.com", displayName: "X",
        grants: [Grant(role: .owner, project: instance.globex.project)])
      #expect(
        try await instance.identity.pools.leftOutside(visibleTo: globex, limit: 10).isEmpty)
      var change = AccountChange()
      change.email = .set("phone@example.com")
      try await instance.identity.accounts.update(
        instance.acme, ID("phone"), change, by: Instance.boss)
      instance.clock.advance(3_599)
      try await instance.identity.watchActivity()
      #expect(try await listed(instance) == [1])
      instance.clock.advance(1)
      try await instance.identity.watchActivity()
      #expect(try await listed(instance) == [])
      #expect(try await instance.identity.pools.leftOutside(of: instance.acme) == nil)
    }
  }

  @Test func `no more users are counted than may be shown`() async throws {
    try await withInstance { instance in
      try await populate(instance)
      try await instance.allow(password: false)
      let acme = instance.acme
      let counts = try await instance.database.read { connection in
        let ways = try #require(try WaysIn.find(acme.key, .standalone, connection))
        return try [2, 3, 10].map {
          try ways.usersLeftOutside(of: acme.key, atMost: $0, connection).users
        }
      }
      #expect(counts == [2, 3, 3])
      #expect(LeftOutside(users: LeftOutside.most).isCut)
      #expect(!LeftOutside(users: LeftOutside.most - 1).isCut)
    }
  }

  @Test func `in the emulator profile, a provider needs no configuration`() async throws {
    try await withInstance { instance in
      try await populate(instance)
      let acme = instance.acme
      try await instance.identity.identityProviders.delete(
        acme, "oidc.acme", by: .program(Instance.boss))
      let counts = try await instance.database.read { connection in
        try [Profile.standalone, .emulator].map { profile in
          try WaysIn.find(acme.key, profile, connection)?
            .usersLeftOutside(of: acme.key, connection).users
        }
      }
      #expect(counts == [2, 1])
    }
  }

  @Test func `users whose kind of factor is off aren't counted`() async throws {
    try await withInstance { instance in
      try await populate(instance)
      let change = try #require(Self.changes.first { $0.outside == 2 })
      _ = try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss)) {
        $0.configuration.totp?.state = .disabled
      }
      #expect(try await change.preview(instance) == 0)
    }
  }
}

extension SignInMethods {
  fileprivate mutating func turnOff(_ method: Method) {
    switch method {
    case .password: password = false
    case .emailLink: emailLink = false
    case .anonymous: anonymous = false
    case .phone: phone = false
    }
  }
}
