import HTTP
import Identity
import Testing

@testable import Console

/// The number of times an action reads the object that it changes, per request.
@Suite struct ActionReadTests {
  /// Sends a form, and returns the number of statements that read from a table.
  private func reads(
    _ browser: Browser, _ address: String, _ form: Form, csrf: String, from table: String
  ) async throws -> Int {
    var form = form
    form.add("csrf", csrf)
    let before = browser.world.statements.lines.count
    _ = try await browser.post(address, form)
    return browser.world.statements.lines.dropFirst(before)
      .count { $0.hasPrefix("SELECT") && $0.contains(table) }
  }

  @Test func `a policy is read once before the transaction that saves it`() async throws {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let policy = try await world.eu + "/policy"
      let csrf = try await tomas.get(policy).csrf
      let table = "FROM scope s JOIN project"
      let previewed = try await reads(
        tomas, policy, .policy(intervals: "3"), csrf: csrf, from: table)
      // The pool in the path, and its policy.
      #expect(previewed == 2)
      let saved = try await reads(
        tomas, policy + "/changes", .policy(intervals: "3"), csrf: csrf, from: table)
      // The transaction reads the policy once, to choose the action and to change it.
      #expect(saved == previewed + 1)
      #expect(try await world.policy.version == 3)
    }
  }

  @Test func `an action on a user reads the user only in its transaction`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      let csrf = try await nadia.get(user).csrf
      let form: Form = ["reason": "lost"]
      let ended = try await reads(
        nadia, user + "/sessions/end", form, csrf: csrf, from: "FROM account")
      #expect(ended == 1)
      #expect(try await nadia.get(user).says("1 session ended."))
    }
  }
}
