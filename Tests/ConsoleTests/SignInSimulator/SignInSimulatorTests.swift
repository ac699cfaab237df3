import HTTP
import Identity
import Testing

@testable import Console

/// The sign-in simulator.
@Suite struct SignInSimulatorTests {
  @Test func `the simulator explains a sign-in by email address or UID`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      #expect(try await Browser.signedIn(world).get("/users").says("href=\"/sign-in-simulator\""))
      let chiara = try await nadia.get("/sign-in-simulator?q=Chiara.Bianchi@Example.com")
      #expect(chiara.says("The password is accepted, then a code is required."))
      #expect(chiara.says("Valid codes at any moment: 11.") && chiara.says("<bdi>Pixel 9</bdi>"))
      #expect(chiara.says("Not allowed: an authenticator app is already enrolled"))
      let jo = try await nadia.get("/sign-in-simulator?q=u77TnC0aPzQ4hW1sGv9M")
      #expect(jo.says("The password alone signs this user in."))
      #expect(jo.says("Not allowed: the email address isn’t verified"))
      let guest = try await nadia.get("/sign-in-simulator?q=zX3eR5tY7uI9oP1aS2dF")
      #expect(guest.says("The sign-in is rejected: this account has no email address."))
      let user = try await world.eu + "/users/\(World.chiara)"
      let factor = try await world.factor(of: World.chiara).text
      _ = try await nadia.submit("\(user)/factors/\(factor)/suspension", ["reason": "lost"])
      let suspended = try await nadia.get("/sign-in-simulator?q=\(World.chiara)")
      #expect(suspended.says("while it’s suspended, including correct ones."))
      #expect(suspended.says("(suspended through "))
      Markup.check(suspended)
      _ = try await world.identity.policies.change(
        try await world.euPool, by: .program(Author(actor: .commandLine))
      ) { $0.configuration.totp?.state = .disabled }
      let off = try await nadia.get("/sign-in-simulator?q=\(World.chiara)")
      #expect(off.says("Not required: TOTP is off, and 1 factor remains stored"))
    }
  }

  @Test func `the simulator requires permission to find users and hides those of other pools`()
    async throws
  {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      #expect(try await tomas.get("/sign-in-simulator").status == .forbidden)
      #expect(try await tomas.get("/projects").says("/sign-in-simulator") == false)
      var new = NewAccount()
      new.email = "far@example.com"
      _ = try await world.identity.accounts.create(
        try await world.identity.pools.existing(project: ID("globex")), new,
        by: .program(Author(actor: .commandLine)))
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let far = try await nadia.get("/sign-in-simulator?q=far@example.com")
      let none = try await nadia.get("/sign-in-simulator?q=xyz@example.com")
      #expect(far.text.replacing("far@", with: "xyz@") == none.text)
      let ada = try await Browser.signedIn(world)
      #expect(
        try await ada.get("/sign-in-simulator?q=far@example.com").says(
          "this account has no password"))
    }
  }
}
