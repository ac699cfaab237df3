import HTTP
import Identity
import Testing

@testable import Console

/// Enrollment links to many users in a browser, from the list of users to the result.
@Suite struct BulkLinksPageTests {
  @Test func `users without a second factor are previewed, and sent a link each`() async throws {
    try await World.withSampleData { world in
      var lena = NewAccount()
      lena.email = "lena@example.com"
      lena.emailVerified = true
      _ = try await world.identity.accounts.create(
        try await world.euPool, lena, by: .program(Author(actor: .commandLine)))
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let eu = try await world.eu
      let list = try await nadia.get(eu + "/users?factor=none&q=lena")
      Markup.check(list)
      #expect(list.says("Send links"))
      #expect(try await !nadia.get(eu + "/users?select=all").says("Send links"))
      let nobody = try await nadia.submit(
        eu + "/users", [:], to: eu + "/enrollment-links?factor=none&q=lena")
      #expect(nobody.location == eu + "/users")
      let answer = try await nadia.submit(
        eu + "/users", [:], to: eu + "/enrollment-links?factor=none&q=lena&all=1")
      let address = try #require(answer.location)
      let draft = try await nadia.get(address)
      Markup.check(draft)
      #expect(
        draft.says("Send an enrollment link to 1 user?") && draft.says("Nothing is sent yet."))
      let begun = try await nadia.submit(address, ["reason": "other", "note": "Rollout"])
      #expect(begun.location == address)
      let running = try await nadia.get(address)
      Markup.check(running)
      #expect(running.says("The enrollment link for 1 user is being sent."))
      #expect(running.says("Stop sending"))
      while try await world.identity.bulkRemovals.step() {}
      let done = try await nadia.get(address)
      Markup.check(done)
      #expect(done.says("Link sent") && !done.says("result.csv"))
      #expect(try await nadia.get(eu + "/bulk-removals").says("Enrollment links to 1 user"))
      #expect(try await nadia.get(address + "/result.csv").status == .notFound)
    }
  }

  @Test func `a list without such users leads back to it`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let eu = try await world.eu
      let answer = try await nadia.submit(
        eu + "/users", [:], to: eu + "/enrollment-links?q=nobody-has-this&all=1")
      #expect(answer.location == eu + "/users?factor=none&q=nobody-has-this")
      #expect(
        try await nadia.get(eu + "/users").says("There are no users without a second factor."))
    }
  }
}
