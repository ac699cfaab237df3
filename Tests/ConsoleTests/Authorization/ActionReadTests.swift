import HTTP
import Identity
import Testing

@testable import Console

/// How often an action reads what it acts on, from the request to the response.
@Suite struct ActionReadTests {
  /// Sends a form and returns the number of statements that read.
  private func reads(
    _ browser: Browser, _ address: String, _ form: Form, csrf: String, _ status: Int
  ) async throws -> (all: Int, policy: Int, account: Int, approval: Int, rules: Int) {
    var form = form
    form.add("csrf", csrf)
    let before = browser.world.statements.lines.count
    let answer = try await browser.post(address, form)
    #expect(Int(answer.status.code) == status, "\(address)")
    let read = browser.world.statements.lines.dropFirst(before).filter {
      $0.hasPrefix("SELECT") || $0.hasPrefix("WITH")
    }
    return (
      read.count, read.count { $0.contains("FROM scope s JOIN project") },
      read.count { $0.contains("FROM account") }, read.count { $0.contains("FROM approval") },
      read.count { $0.contains("FROM support_setting") || $0.contains("support_rules") }
    )
  }

  @Test func `an action reads what it acts on once for its answer`() async throws {
    try await World.furnished { world in
      let eu = try await world.eu
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let ada = try await Browser.signedIn(world)
      var csrf = try await tomas.get(eu).csrf
      let policy = eu + "/policy"
      func say(_ name: String, _ counts: (Int, Int, Int, Int, Int)) { print("READS", name, counts) }
      say(
        "policy preview", try await reads(tomas, policy, .policy(intervals: "3"), csrf: csrf, 200))
      say(
        "policy invalid", try await reads(tomas, policy, .policy(intervals: "x"), csrf: csrf, 422))
      say(
        "policy edit",
        try await reads(tomas, policy + "/edit", .policy(intervals: "3"), csrf: csrf, 200))
      say(
        "policy save unnamed",
        try await reads(tomas, policy + "/changes", .policy(totp: "off"), csrf: csrf, 422))
      say(
        "policy save",
        try await reads(tomas, policy + "/changes", .policy(intervals: "3"), csrf: csrf, 303))
      say(
        "policy late",
        try await reads(tomas, policy + "/changes", .policy(intervals: "2"), csrf: csrf, 409))
      csrf = try await nadia.get(eu).csrf
      let user = eu + "/users/\(World.chiara)"
      say(
        "end sessions invalid",
        try await reads(nadia, user + "/sessions/end", ["reason": ""], csrf: csrf, 422))
      say(
        "end sessions",
        try await reads(nadia, user + "/sessions/end", ["reason": "lost"], csrf: csrf, 303))
      say(
        "unlock nothing",
        try await reads(nadia, user + "/unlock", ["reason": "locked"], csrf: csrf, 303))
      say(
        "note",
        try await reads(
          nadia, user + "/notes/new", ["reason": "other", "note": "x"], csrf: csrf, 303))
      try await world.setSupportRules { $0.approvalForLastFactor = true }
      _ = try await world.identity.policies.change(
        try await world.euScope, by: Author(actor: .commandLine)
      ) { edit throws(PolicyError) in
        edit.pattern = .mandatory
      }
      say(
        "temporary code invalid",
        try await reads(
          nadia, user + "/temporary-code", ["reason": "", "hours": "1"], csrf: csrf, 422))
      say(
        "remove all invalid",
        try await reads(nadia, user + "/factors/removal", ["reason": ""], csrf: csrf, 422))
      say(
        "remove all",
        try await reads(nadia, user + "/factors/removal", ["reason": "lost"], csrf: csrf, 303))
      let list = try await ada.get("/approvals")
      let request = try #require(list.values(of: "href").first { $0.contains("/approvals/") })
      csrf = try await ada.get(request).csrf
      say(
        "reject invalid",
        try await reads(ada, request + "/rejection", ["answer": ""], csrf: csrf, 422))
      say("approve", try await reads(ada, request + "/approval", [:], csrf: csrf, 303))
      say("approve late", try await reads(ada, request + "/approval", [:], csrf: csrf, 303))
      let editor = eu + "/guidance/edit"
      say(
        "guidance preview",
        try await reads(ada, editor, ["text": "x", "version": "0"], csrf: csrf, 200))
      say(
        "guidance save",
        try await reads(
          ada, eu + "/guidance/versions", ["text": "x", "version": "0"], csrf: csrf, 303))
    }
  }
}
