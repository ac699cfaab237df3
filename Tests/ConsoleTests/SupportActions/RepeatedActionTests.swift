import HTTP
import Identity
import Testing

@testable import Console

/// Actions on users that have nothing left to act on, such as those of a form that was sent twice.
@Suite struct RepeatedActionTests {
  @Test func `an action that finds nothing left to do says so on the user's page`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let user = try await world.filled("{eu}/users/\(World.chiara)")
      let actions: [(String, Form)] = [
        ("/disabling", ["reason": "left"]), ("/enabling", ["reason": "found"]),
      ]
      for (address, form) in actions {
        #expect(try await ada.submit(user + address, form).location == user, "\(address)")
        #expect(!(try await ada.get(user)).says("No changes made."), "\(address)")
        let again = try await ada.submit(user, form, to: user + address)
        #expect(again.location == user, "\(address)")
        #expect(try await ada.get(user).says("No changes made."), "\(address)")
      }
    }
  }

  @Test func `a form that is sent twice doesn't reverse the protection of an account`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let user = try await world.filled("{eu}/users/\(World.chiara)")
      let address = user + "/protection"
      for (isProtected, reason) in [(true, "compromised"), (false, "mistake")] {
        let page = try await ada.get(address)
        let wanted = try #require(page.value(of: "protected"))
        let form: Form = ["csrf": try page.csrf, "reason": reason, "protected": wanted]
        #expect(try await ada.post(address, form).location == user)
        #expect(!(try await ada.get(user)).says("No changes made."))
        #expect(try await ada.post(address, form).location == user)
        #expect(try await ada.get(user).says("No changes made."))
        // With an error, too, the form leads to what it led to when it was opened.
        let again = try await ada.post(address, ["csrf": try page.csrf, "protected": wanted])
        #expect(again.status == .unprocessableContent)
        #expect(again.says("No changes to make."))
        let account = try await world.identity.accounts.find(
          try await world.euPool, ID(World.chiara))
        #expect(account?.isProtected == isProtected)
      }
    }
  }
}
