import Crypto
import Database
import HTTP
import Identity
import Testing

@testable import Console

/// Hostile names, notes, and identity checks on every support page.
@Suite struct HostileDeskTests {
  /// Requires a hostile identity check, enables backup codes, and returns the stored check.
  private func requireProof(_ world: World, _ text: String) async throws -> String {
    var settings = SupportRules()
    settings.identityProof = [String(text.prefix(SupportRules.longestProof))]
    (settings.temporaryCodes, settings.recoveryCodes) = (true, true)
    let pool = try await world.euPool
    try await world.identity.support.change(
      pool, to: settings, by: .program(Author(actor: .commandLine)))
    return try #require(try await world.identity.support.settings(pool).identityProof.first)
  }

  private func colleague(_ world: World, _ name: String) async throws -> Browser {
    _ = try await world.identity.administrators.create(
      email: "omar@example.com", displayName: name.cut(to: 100),
      password: Secret(World.password), grant: Grant(role: .owner),
      by: Author(actor: .commandLine))
    return try await Browser.signedIn(world, as: "omar@example.com")
  }

  @Test(arguments: HostileTests.names.indices)
  func `hostile text is escaped on every action page and after every action`(index: Int)
    async throws
  {
    let name = HostileTests.names[index]
    try await World.withSampleData { world in
      let proof = try await requireProof(world, name)
      var new = NewAccount()
      new.localID = "hostile"
      new.displayName = name.cut(to: Account.longestName)
      new.email = "hostile@example.com"
      new.emailVerified = true
      let pool = try await world.euPool
      let account = try await world.identity.accounts.create(
        pool, new, by: .program(Author(actor: .commandLine))
      ).value
      try await world.enroll(account, name.cut(to: Factor.longestName))
      let (ada, omar) = (try await Browser.signedIn(world), try await colleague(world, name))
      let user = try await world.eu + "/users/hostile"
      let factor = "\(user)/factors/\(try await world.factor(of: "hostile").text)"
      let form: Form = [
        "reason": "other", "note": String(name.prefix(900)), "ticket": String(name.prefix(100)),
        "proof": proof, "confirmation": "hostile",
      ]
      func act(_ address: String, by browser: Browser) async throws {
        Markup.check(try await browser.get(address))
        let typed: Form = ["reason": name, "note": name, "ticket": name]
        let wrong = try await browser.submit(address, typed)
        Markup.check(wrong)
        #expect(wrong.status == .unprocessableContent, "\(address)")
        let done = try await browser.submit(address, form)
        #expect(done.status == .seeOther, "\(address)")
        if let next = done.location { Markup.check(try await browser.get(next)) }
      }
      try await act(factor + "/suspension", by: ada)
      try await act(factor + "/suspension/end", by: ada)
      try await act(user + "/temporary-code", by: ada)
      try await act(user + "/temporary-code/removal", by: ada)
      try await act(user + "/protection", by: ada)
      try await act(user + "/protection", by: ada)
      try await act(user + "/disabling", by: ada)
      try await act(user + "/enabling", by: ada)
      try await act(user + "/sessions/end", by: ada)
      try await act(factor + "/removal", by: omar)
      let removed = try await ada.get(user)
      Markup.check(removed)
      let undo = try #require(removed.values(of: "href").first { $0.hasSuffix("/undo") })
      try await act(undo, by: ada)
      try await act(user + "/factors/removal", by: ada)
      try await act(user + "/enrollment-link", by: ada)
      Markup.check(try await ada.get((["name": name] as Form).query(of: factor + "/name")))
      for address in [
        user, try await world.eu + "/settings/support", try await world.eu + "/audit",
      ] {
        Markup.check(try await ada.get(address))
      }
      try await act(user + "/deletion", by: ada)
    }
  }
}
