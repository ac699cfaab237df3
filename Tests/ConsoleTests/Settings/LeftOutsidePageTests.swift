import HTTP
import Identity
import Testing

@testable import Console

/// Changes of sign-in methods that leave users with a second factor without a way to sign in.
@Suite struct LeftOutsidePageTests {
  @Test func `turning off the last sign-in method of enrolled users asks for a reason`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let address = try await world.eu + "/settings/sign-in-methods"
      var form: Form = ["was-password": "on", "anonymous": "on"]
      let asked = try await ada.submit(address, form)
      #expect(asked.status == .unprocessableContent)
      #expect(
        asked.says(
          "2 users with a second factor would have no way to sign in. Nothing is saved yet."))
      #expect(!asked.says("These changes weaken security."))
      #expect(asked.says("id=\"note-error\""))
      Markup.check(asked)
      form.add("note", "They use custom tokens.")
      #expect(try await ada.submit(address, form).location == address)
      let pool = try await world.euPool
      let row = try #require(
        try await world.identity.audit.list(AuditFilter(pool: pool)).items.first)
      #expect(row.action == .tenantChange && row.note == "They use custom tokens.")
      #expect(try await world.identity.pools.leftOutside(of: pool)?.users == 2)
    }
  }

  @Test func `turning off or removing the last way in of enrolled users asks for a reason`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let pool = try await world.euPool
      let one = try await world.eu + "/settings/providers/oidc.staff"
      #expect(!(try await ada.get(one + "/removal")).says("id=\"note\""))
      var change = AccountChange()
      change.link = ProviderLink(provider: "oidc.staff", rawID: "chiara")
      change.password = .clear
      try await world.identity.accounts.update(
        pool, ID(World.chiara), change, by: Author(actor: .commandLine))
      let sentence = "1 user with a second factor would have no way to sign in."
      let page = try await ada.get(one)
      #expect(!page.says(sentence) && !page.says("id=\"note\""))
      var form: Form = [
        "seen": try #require(page.value(of: "seen")), "name": "Acme staff",
        "issuer": "https://login.acme.example", "client": "client-1", "keys": World.publicKey,
      ]
      let asked = try await ada.submit(one, form)
      #expect(asked.status == .unprocessableContent && asked.says(sentence))
      #expect(asked.says("id=\"note-error\""))
      Markup.check(asked)
      let removal = try await ada.get(one + "/removal")
      #expect(removal.says(sentence) && removal.says("id=\"note\""))
      let refused = try await ada.submit(one + "/removal", [:])
      #expect(refused.status == .unprocessableContent && refused.says("id=\"note-error\""))
      form.add("note", "Acme left.")
      #expect(try await ada.submit(one, form).location == one)
      let row = try #require(
        try await world.identity.audit.list(AuditFilter(pool: pool)).items.first)
      #expect(row.action == .providerChange && row.note == "Acme left.")
      // It's off already, so nobody loses anything.
      #expect(!(try await ada.get(one + "/removal")).says(sentence))
    }
  }
}
