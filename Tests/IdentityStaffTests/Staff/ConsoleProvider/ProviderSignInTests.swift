import Crypto
import JSON
import OpenIDConnect
import TestProvider
import Testing

@testable import Identity
@testable import TestIdentity

struct ProviderSignInTests {
  @Test func `V15: a person whose group has a role becomes an administrator`() async throws {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let session = try await instance.providerSession()
      #expect(session.administrator.email == "nora@example.com")
      #expect(session.administrator.grants == [Grant(role: .owner)])
      #expect(session.secondFactor == .enrolled && session.provider.isOrigin)
      #expect(session.provider.name == "Example ID")
      let log = try await instance.wholeLog()
      let row = try #require(log.first)
      #expect(row.action == .administratorSignIn)
      #expect(row.new(.signInProvider) == .text("Example ID"))
      #expect(row.new(.verification) == .code("provider-mfa"))
      #expect(log[1].action == .administratorGrant && log[2].action == .administratorCreate)
      #expect(log[2].new(.subject) == .text("248289761001"))
      let listed = try await instance.identity.consoleSessions.list(of: session.administrator.id)
      #expect(listed.map(\.provider) == ["Example ID"])
      // The client authenticated with its secret, and the code came with its verifier.
      let request = try #require(instance.provider.requests.last { $0.body != nil })
      #expect(request.fields.contains { $0.name == "Authorization" })
    }
  }

  @Test func `the second sign-in is the same administrator, and a password isn't accepted`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let first = try await instance.providerSession()
      let second = try await instance.providerSession()
      #expect(first.administrator.id == second.administrator.id)
      await expect("refused") {
        _ = try await instance.giveConsolePassword(first.administrator, password: Secret(""))
      }
      await expect("refused") { _ = try await instance.giveConsolePassword(first.administrator) }
    }
  }

  @Test func `someone without a role isn't let in, and recorded`() async throws {
    try await withInstance { instance in
      try await instance.setUpProvider()
      instance.provider.change { $0.groups = ["guests"] }
      await expect("noRole") { _ = try await instance.visit() }
      let row = try #require(try await instance.wholeLog().first)
      #expect(row.action == .administratorProviderRefused)
      #expect(row.new(.providerRefusal) == .code("no-role"))
      #expect(row.new(.subject) == .text("248289761001"))
    }
  }

  @Test func `V15: an administrator with the same address is never linked by it`() async throws {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let nora = try await instance.administrator("nora", .auditor)
      await expect("emailTaken") { _ = try await instance.visit() }
      #expect(try await instance.grants(of: nora.id) == [Grant(role: .auditor)])
      // After linking from within, the same person signs in to the same account.
      try await instance.link(nora)
      let session = try await instance.providerSession()
      #expect(session.administrator.id == nora.id)
      instance.provider.change { $0.subject = "another" }
      await expect("emailTaken") { _ = try await instance.visit() }
    }
  }

  @Test func `roles follow the groups, and those granted by hand stay`() async throws {
    try await withInstance { instance in
      let support = GroupRole(
        group: "desk", grant: Grant(role: .support, project: instance.acme.project))
      try await instance.setUpProvider([Instance.owners, support])
      let nora = try await instance.administrator("nora", .auditor)
      try await instance.link(nora)
      #expect(
        try await instance.grants(of: nora.id) == [Grant(role: .auditor), Instance.owners.grant])
      instance.provider.change { $0.groups = ["desk"] }
      _ = try await instance.visit()
      #expect(try await instance.grants(of: nora.id) == [Grant(role: .auditor), support.grant])
      let log = try await instance.wholeLog()
      #expect(log.contains { $0.action == .administratorRevoke })
      // What an owner grants by hand no longer follows the groups.
      try await instance.identity.administrators.grant(
        support.grant, to: nora.id, by: .program(Author(actor: .commandLine)))
      instance.provider.change { $0.groups = [] }
      _ = try await instance.visit()
      #expect(try await instance.grants(of: nora.id) == [Grant(role: .auditor), support.grant])
    }
  }

  @Test func `someone whose groups lost all roles is out, with all sessions`() async throws {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let session = try await instance.providerSession()
      instance.provider.change { $0.groups = nil }
      await expect("noRole") { _ = try await instance.visit() }
      #expect(try await instance.grants(of: session.administrator.id).isEmpty)
      #expect(
        try await instance.identity.consoleSessions.list(of: session.administrator.id).isEmpty)
    }
  }

  @Test func `the last owner keeps the role whatever the groups are`() async throws {
    try await withInstance { instance in
      let olga = try await instance.setUpProvider()
      let session = try await instance.providerSession()
      let administrators = instance.identity.administrators
      try await administrators.revoke(
        Grant(role: .owner), from: olga.administrator.id, by: .program(Author(actor: .commandLine)))
      instance.provider.change { $0.groups = [] }
      _ = try await instance.visit()
      #expect(try await instance.grants(of: session.administrator.id) == [Grant(role: .owner)])
    }
  }

  @Test(arguments: [429, 500, 503])
  func `a provider that's overloaded isn't a failed attempt, and can be asked again`(
    status: Int
  ) async throws {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let (start, answer) = try await instance.leave()
      instance.provider.change { $0.status = status }
      await expect("provider") { _ = try await instance.come(start, answer) }
      instance.provider.change { $0.status = nil }
      guard case .signedIn = try await instance.come(start, answer) else {
        throw Unexpected("not signed in")
      }
    }
  }

  @Test func `keys fetched while the clock was ahead are fetched again once it's set back`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setUpProvider()
      instance.clock.advance(86_400)
      _ = try await instance.providerSession()
      instance.clock.advance(-86_400)
      // The provider withdrew the key, which still signs.
      instance.provider.change { $0.published = [1] }
      await expect("invalidToken.wrongSignature") { _ = try await instance.visit() }
    }
  }

  @Test func `groups can come from the userinfo endpoint of the same person`() async throws {
    try await withInstance { instance in
      try await instance.setUpProvider()
      instance.provider.change { behavior in
        behavior.groups = nil
        behavior.userInfoGroups = ["admins"]
      }
      _ = try await instance.providerSession()
      instance.provider.change { $0.userInfoSubject = "another" }
      await expect("userInfoRefused") { _ = try await instance.visit() }
      instance.provider.change { $0.userInfoStatus = 401 }
      let error = try await thrown(ProviderSignInError.self) { try await instance.visit() }
      #expect(error?.diagnosis == "userinfo-401")
      let row = try #require(try await instance.wholeLog().first)
      #expect(row.new(.providerRefusal) == .code("userinfo-401"))
    }
  }

  @Test func `a new administrator's name and address can come from the userinfo endpoint`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setUpProvider()
      instance.provider.change { behavior in
        behavior.claims = [
          "name": .some(nil), "email": .some(nil), "preferred_username": .some(nil),
        ]
        behavior.userInfoPerson = ("Una Userinfo", "una@example.com")
      }
      let session = try await instance.providerSession()
      #expect(session.administrator.displayName == "Una Userinfo")
      #expect(session.administrator.email == "una@example.com")
    }
  }

  @Test func `roles stay if the provider says that it lists the groups elsewhere`() async throws {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let session = try await instance.providerSession()
      let grants = session.administrator.grants
      instance.provider.change { behavior in
        behavior.groups = nil
        behavior.claims = ["_claim_names": ["groups": "src1"]]
      }
      await expect("groupsNotListed") { _ = try await instance.visit() }
      let record = try await instance.identity.administrators.record(
        email: session.administrator.email)
      #expect(record.administrator.grants == grants && !grants.isEmpty)
    }
  }

  @Test func `V15: a state, a code, and a ticket count once and belong together`() async throws {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let providers = instance.identity.consoleProviders
      let start = try await providers.begin(redirect: Instance.redirect)
      let answer = try instance.provider.signIn(at: start.address)
      let other = try await providers.begin(redirect: Instance.redirect)
      // Another browser's answer, and a forged ticket.
      await expect("ended") { _ = try await instance.come(other, answer) }
      await expect("ended") {
        _ = try await instance.come(
          ProviderStart(address: start.address, ticket: Secret("forged")), answer)
      }
      _ = try await instance.come(start, answer)
      await expect("ended") { _ = try await instance.come(start, answer) }
      // A code that the provider already exchanged.
      let late = try instance.provider.signIn(at: other.address)
      await expect("tokenRefused") {
        _ = try await instance.come(other, (late.state, answer.code))
      }
      let expired = try await providers.begin(redirect: Instance.redirect)
      let third = try instance.provider.signIn(at: expired.address)
      instance.clock.advance(601)
      await expect("ended") { _ = try await instance.come(expired, third) }
    }
  }

  @Test func `V15: of answers that arrive at once, one signs in, and the provider gets one code`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let (start, answer) = try await instance.leave()
      let outcomes = await withTaskGroup(of: String.self) { group in
        for _ in 0..<20 {
          group.addTask { await outcome { _ = try await instance.come(start, answer) } }
        }
        return await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
      }
      #expect(outcomes["done"] == 1)
      #expect(instance.provider.requests.count { $0.address.hasSuffix("/token") } == 1)
    }
  }

  @Test func `an answer of another issuer, or with an error, isn't accepted`() async throws {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let providers = instance.identity.consoleProviders
      @Sendable func finish(_ issuer: String?, _ error: ProviderErrorCode?) async throws {
        let start = try await providers.begin(redirect: Instance.redirect)
        let answer = try instance.provider.signIn(at: start.address)
        _ = try await providers.finish(
          ProviderAnswer(
            state: answer.state, code: error == nil ? answer.code : nil, error: error,
            issuer: issuer),
          ticket: start.ticket.revealedText, session: nil, redirect: Instance.redirect,
          from: Instance.signInOrigin)
      }
      await expect("ended") { try await finish("https://evil.example.com", nil) }
      await expect("refused") { try await finish(nil, ProviderErrorCode("access_denied")) }
      let row = try #require(try await instance.wholeLog().first)
      #expect(row.new(.providerRefusal) == .code("provider-access_denied"))
      instance.provider.change {
        $0.document = ["authorization_response_iss_parameter_supported": true]
      }
      instance.clock.advance(3_600)
      await expect("ended") { try await finish(nil, nil) }
      let accepted = await outcome { try await finish(TestProvider.issuer, nil) }
      #expect(accepted == "done")
    }
  }

  @Test(arguments: [
    ("iss", JSON.string("https://other.example.com"), TokenFault.otherIssuer),
    ("aud", "other", .otherAudience), ("nonce", "other", .wrongNonce),
    ("at_hash", "AAAA", .wrongAccessToken), ("exp", 1, .expired),
    ("iat", 4_000_000_000, .future),
  ])
  func `a token with a wrong claim signs nobody in`(
    _ claim: String, _ value: JSON, _ fault: TokenFault
  ) async throws {
    try await withInstance { instance in
      try await instance.setUpProvider()
      instance.provider.change { $0.claims = [claim: value] }
      await expect("invalidToken.\(fault)") { _ = try await instance.visit() }
      let row = try #require(try await instance.wholeLog().first)
      #expect(row.new(.providerRefusal) == .code("token-\(fault.rawValue)"))
      #expect(try await instance.identity.administrators.records().count == 1)
    }
  }

  @Test func `new keys are fetched when they're needed, but not for every token`() async throws {
    try await withInstance { instance in
      try await instance.setUpProvider()
      _ = try await instance.visit()
      instance.provider.change { behavior in
        behavior.key = 1
        behavior.published = [0, 1]
      }
      _ = try await instance.visit()
      // A key that isn't published is looked for a few times only.
      instance.provider.change { $0.published = [0] }
      instance.clock.advance(3_600)
      for _ in 0..<10 {
        await expect("invalidToken.wrongSignature") { _ = try await instance.visit() }
      }
      let fetches = instance.provider.requests.count { $0.address.hasSuffix("/keys") }
      #expect(fetches == 3)
    }
  }

  @Test func `while the provider is down, nothing is counted as a failed attempt`() async throws {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let (start, answer) = try await instance.leave()
      instance.provider.change { $0.isDown = true }
      await expect("provider") { _ = try await instance.come(start, answer) }
      // The answer counts once the provider can be asked.
      instance.provider.change { $0.isDown = false }
      _ = try await instance.come(start, answer)
      instance.provider.change { $0.isDown = true }
      instance.clock.advance(7_200)
      // Known endpoints are used while new ones can't be fetched.
      _ = try await instance.identity.consoleProviders.begin(redirect: Instance.redirect)
    }
  }

  @Test
  func `an answer to a provider that can't respond can be submitted three times and isn't audited`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let (start, answer) = try await instance.leave()
      let rows = try await instance.wholeLog().count
      instance.provider.change { $0.status = 429 }
      var outcomes: [String] = []
      for _ in 0..<200 {
        outcomes.append(await outcome { _ = try await instance.come(start, answer) })
      }
      #expect(outcomes.prefix(3).allSatisfy { $0 == "provider" })
      // Used answers are counted by network.
      #expect(Set(outcomes.dropFirst(3)) == ["ended", "throttled"])
      #expect(instance.provider.requests.count { $0.address.hasSuffix("/token") } == 3)
      #expect(try await instance.wholeLog().count == rows)
      instance.provider.change { $0.status = nil }
      instance.clock.advance(3_600)
      _ = try await instance.visit()
    }
  }

  @Test func `failed sign-ins from a network are throttled`() async throws {
    try await withInstance { instance in
      try await instance.setUpProvider()
      instance.provider.change { $0.groups = [] }
      var results: Set<String> = []
      for _ in 0..<101 { results.insert(await outcome { _ = try await instance.visit() }) }
      #expect(results == ["noRole", "throttled"])
    }
  }
}
