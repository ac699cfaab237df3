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
      let account = try #require(
        try await world.identity.accounts.find(try await world.euScope, ID(World.chiara)))
      let email = try #require(account.email)
      let actions: [(String, Form)] = [
        ("/bounces", ["address": email, "reason": "other", "note": "Mail came back"]),
        ("/working-address", ["address": email, "reason": "mistake"]),
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
}
