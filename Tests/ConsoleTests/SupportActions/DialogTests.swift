import HTTP
import Identity
import Testing

@testable import Console

/// What the console's script needs to show the form of an action over a page.
@Suite struct DialogTests {
  private static let script: Fields = ["X-Requested-With": "fetch"]

  @Test func `a script learns where a redirect leads, and the flash stays for that page`()
    async throws
  {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      let form: Form = ["csrf": try await nadia.get(user).csrf, "reason": "lost"]
      var fields = Self.script
      fields[.origin] = world.origin
      fields[.secFetchSite] = "same-origin"
      let answer = try await nadia.send(.post, user + "/sessions/end", form: form, fields: fields)
      #expect(answer.status == .noContent && answer.location == user)
      #expect(try await nadia.get(user).says("ended"))
    }
  }

  @Test func `an expired session sends a script to the sign-in page`() async throws {
    try await World.withSampleData { world in
      let user = try await world.eu + "/users/\(World.chiara)"
      let visitor = Browser(world)
      let answer = try await visitor.send(.get, user + "/sessions/end", fields: Self.script)
      #expect(answer.status == .noContent)
      #expect(answer.location?.hasPrefix("/sign-in?next=") == true)
      #expect(try await visitor.get(user).status == .seeOther)
    }
  }

  @Test func `only a form that can be sent opens over the page`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      #expect(try await nadia.get(user).says("data-dialog"))
      let form = try await nadia.get(user + "/sessions/end")
      #expect(form.says(" data-action "))
      let ada = try await Browser.signedIn(world)
      let refusal = try await ada.get(user + "/enabling")
      #expect(refusal.says("No changes to make.") && !refusal.says(" data-action "))
    }
  }
}
