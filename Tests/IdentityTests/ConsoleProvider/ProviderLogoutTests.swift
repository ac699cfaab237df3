import Crypto
import Database
import JSON
import OpenIDConnect
import TestProvider
import Testing

@testable import Identity

struct ProviderLogoutTests {
  private static func logOut(_ instance: Instance, _ claims: JSON.Object) async throws -> Int {
    try await instance.identity.consoleProviders.logOut(
      try instance.provider.token(claims, header: ["typ": "logout+jwt"]), address: "192.0.2.20")
  }

  @Test func `V15: a logout ends the named session, or all of the person's`() async throws {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let first = try await instance.providerSession()
      instance.provider.change { $0.session = "session-2" }
      _ = try await instance.providerSession()
      let id = first.administrator.id
      let provider = instance.provider
      #expect(
        try await Self.logOut(
          instance, provider.logoutClaims(session: "session-1", id: "1")) == 1)
      #expect(try await instance.identity.consoleSessions.list(of: id).count == 1)
      let row = try #require(try await instance.wholeLog().first)
      #expect(row.action == .administratorProviderSignOut && row.objectID == id.text)
      #expect(
        try await Self.logOut(
          instance, provider.logoutClaims(subject: "another", session: "session-2", id: "2")) == 0)
      #expect(
        try await Self.logOut(
          instance, provider.logoutClaims(subject: "248289761001", id: "3")) == 1)
      #expect(try await instance.identity.consoleSessions.list(of: id).isEmpty)
    }
  }

  @Test func `a sign-in in progress doesn't begin a session that the provider ended`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let (start, answer) = try await instance.leave()
      let claims = instance.provider.logoutClaims(session: "session-1", id: "1")
      #expect(try await Self.logOut(instance, claims) == 0)
      await expect("ended") { _ = try await instance.come(start, answer) }
      // A later one can, even if the provider keeps the ID.
      instance.clock.advance(1)
      _ = try await instance.providerSession()
    }
  }

  @Test func `a logout leaves sessions that began otherwise`() async throws {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let nora = try await instance.administrator("nora", .auditor)
      try await instance.link(nora)
      _ = try await instance.providerSession()
      let claims = instance.provider.logoutClaims(subject: "248289761001", id: "1")
      #expect(try await Self.logOut(instance, claims) == 1)
      #expect(
        try await instance.identity.consoleSessions.list(of: nora.id).map(\.provider) == [nil])
    }
  }

  @Test func `V15: linking another person ends the sessions of the previous one`() async throws {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let nora = try await instance.administrator("nora", .auditor)
      let sessions = instance.identity.consoleSessions
      let first = try await instance.link(nora)
      _ = try await instance.providerSession()
      guard case .linked(let second) = try await instance.visit(.link(first)) else {
        throw Unexpected("not linked")
      }
      #expect(try await sessions.list(of: nora.id).count == 2)
      instance.provider.change { $0.subject = "another" }
      guard case .linked(let third) = try await instance.visit(.link(second.session)) else {
        throw Unexpected("not linked")
      }
      #expect(try await sessions.list(of: nora.id).map(\.id) == [third.session.id])
      let row = try await instance.wholeLog().first { $0.action == .administratorLinkProvider }
      #expect(row?.new(.sessionsEnded) == .number(1))
    }
  }

  @Test func `a session whose token is replaced while the provider is asked can still be linked`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let nora = try await instance.administrator("nora", .auditor)
      let session = try await instance.giveConsolePassword(nora).session.session
      let (start, answer) = try await instance.leave(.link(session))
      let (now, random) = (instance.now, instance.identity.store.random)
      try await instance.database.write { connection in
        _ = try ConsoleSessions.renewToken(session, at: now, random: random, connection)
      }
      guard case .linked(let new) = try await instance.come(start, answer, session: session) else {
        throw Unexpected("not linked")
      }
      let token = new.token.revealedText
      #expect(try await instance.identity.consoleSessions.find(token: token)?.id == session.id)
    }
  }

  @Test func `V15: a logout of a person while the provider is asked ends that sign-in`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let nora = try await instance.administrator("nora", .auditor)
      try await instance.link(nora)
      let (sessions, provider) = (instance.identity.consoleSessions, instance.provider)
      let (start, answer) = try await instance.leave()
      // A logout before the answer doesn't count, since the person may have signed in after it.
      _ = try await Self.logOut(instance, provider.logoutClaims(subject: "248289761001", id: "1"))
      instance.clock.advance(1)
      guard case .signedIn = try await instance.come(start, answer) else {
        throw Unexpected("not signed in")
      }
      instance.clock.advance(1)
      provider.change { behavior in
        behavior.whileAsked = {
          _ = try? await Self.logOut(
            instance, provider.logoutClaims(subject: "248289761001", id: "2"))
        }
      }
      await expect("ended") { try await instance.visit() }
      #expect(
        try await sessions.list(of: nora.id).allSatisfy { $0.provider == nil })
    }
  }

  @Test func `while the provider's keys can't be fetched, no logout token counts as invalid`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setUpProvider()
      let provider = instance.provider
      provider.change { $0.published = [] }
      instance.clock.advance(3_600)
      let claims = provider.logoutClaims(subject: "248289761001", id: "1")
      var results: Set<String> = []
      for _ in 0..<101 {
        results.insert(await outcome { _ = try await Self.logOut(instance, claims) })
      }
      #expect(results == ["provider"])
      provider.change { $0.published = [0] }
      instance.clock.advance(10)
      #expect(try await Self.logOut(instance, claims) == 0)
    }
  }

  @Test func `V15: a logout token counts once, and invalid ones are throttled`() async throws {
    try await withInstance { instance in
      let claims = instance.provider.logoutClaims(subject: "248289761001", id: "1")
      await expect("notConfigured") { _ = try await Self.logOut(instance, claims) }
      try await instance.setUpProvider()
      _ = try await Self.logOut(instance, claims)
      await expect("replayed") { _ = try await Self.logOut(instance, claims) }
      try await instance.identity.purgeExpired()
      instance.clock.advance(100)
      try await instance.identity.purgeExpired()
      await expect("replayed") { _ = try await Self.logOut(instance, claims) }
      var results: Set<String> = []
      for _ in 0..<101 {
        results.insert(
          await outcome {
            _ = try await instance.identity.consoleProviders.logOut(
              "no token", address: "192.0.2.20")
          })
      }
      #expect(results == ["invalid.malformed", "throttled"])
    }
  }
}
