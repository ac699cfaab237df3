import Crypto
import HTTP
import Identity
import Testing

@testable import Console

/// Removals that need a second approver, in two browsers.
@Suite struct ApprovalPageTests {
  /// Requires a second approver in eu-shop for the removal of a user's last factor.
  private func requireApproval(_ world: World) async throws {
    let pool = try await world.euPool
    let author = Author(actor: .commandLine)
    _ = try await world.identity.policies.change(pool, by: .program(author)) {
      edit throws(PolicyError) in
      edit.pattern = .mandatory
    }
    var settings = SupportRules()
    settings.approvalForLastFactor = true
    settings.identityProof = ["called back"]
    try await world.identity.support.change(pool, to: settings, by: .program(author))
  }

  /// Requests the removal of Chiara's factors as Nadia.
  private func ask(_ nadia: Browser) async throws -> (user: String, request: String, page: Answer) {
    let user = try await nadia.world.eu + "/users/\(World.chiara)"
    let answer = try await nadia.submit(
      user + "/factors/removal",
      ["reason": "lost", "note": "<b>Call</b> at 9", "ticket": "HD-1", "proof": "called back"])
    #expect(answer.location == user)
    let page = try await nadia.get(user)
    let list = try await nadia.get("/approvals")
    let request = try #require(list.values(of: "href").first { $0.contains("/approvals/") })
    return (user, request, page)
  }

  @Test func `a pending removal is shown everywhere and runs when approved`() async throws {
    try await World.withSampleData { world in
      try await requireApproval(world)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let ada = try await Browser.signedIn(world)
      let removal = try await nadia.get(
        try await world.eu + "/users/\(World.chiara)/factors/removal")
      #expect(removal.says("Nothing is removed unless a second administrator approves"))
      let (user, request, page) = try await ask(nadia)
      #expect(page.says("Nothing is removed yet. A second administrator must approve"))
      #expect(page.says("Pending approval: ") && page.says(request))
      Markup.check(page)
      #expect(try await ada.get("/projects").says("1 approval pending"))
      #expect(!(try await nadia.get("/projects").says("approval pending")))
      let count = "Approvals <small>1</small>"
      for address in ["/projects", "/account", "/projects/globex/policy", user] {
        #expect(try await ada.get(address).says(count), "\(address)")
      }
      #expect(!(try await nadia.get(user).says(count)), "their own request")
      try Snapshot.check(try await ada.get("/approvals").text, named: "approvals.html")
      let theirs = try await ada.get(request)
      try Snapshot.check(theirs.text, named: "approval.html")
      Markup.check(theirs)
      let own = try await nadia.get(request)
      try Snapshot.check(own.text, named: "approval-own.html")
      #expect(own.says("Withdraw request") && !own.says("Approve and remove"))
      let refused = try await nadia.submit(request, [:], to: request + "/approval")
      #expect(refused.status == .unprocessableContent && refused.says("your own request"))
      Markup.check(refused)
      let withoutReason = try await ada.submit(
        request, ["answer": " "], to: request + "/rejection")
      #expect(
        withoutReason.status == .unprocessableContent
          && withoutReason.says("Enter a reason for rejecting the request."))
      Markup.check(withoutReason)
      #expect(try await ada.submit(request, [:]).status == .methodNotAllowed)
      let approved = try await ada.submit(request, [:], to: request + "/approval")
      #expect(approved.location == user)
      let after = try await ada.get(user)
      #expect(after.says("Approved. Removed 1 factor. 1 session ended."))
      #expect(after.says(">Undo (until Nov 23, 2026, 08:00\u{00A0}UTC)</a>"))
      #expect(after.says("No second factor; mandatory since Nov 20"))
      let late = try await ada.submit(request, [:], to: request + "/approval")
      #expect(late.location == request)
      #expect(try await ada.get(request).says("already decided or has expired"))
      try Snapshot.check(try await ada.get("/approvals").text, named: "approvals-decided.html")
    }
  }

  @Test func `the requester sees why a request was rejected`() async throws {
    try await World.withSampleData { world in
      try await requireApproval(world)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let ada = try await Browser.signedIn(world)
      let (user, request, _) = try await ask(nadia)
      let again = try await nadia.submit(
        user + "/factors/removal", ["reason": "lost", "proof": "called back"])
      #expect(
        again.status == .unprocessableContent
          && again.says("already pending approval"))
      _ = try await ada.submit(
        request, ["answer": "Not her <voice>."], to: request + "/rejection")
      let page = try await nadia.get(request)
      #expect(page.says("Not her &lt;voice&gt;."))
      try Snapshot.check(page.text, named: "approval-refused.html")
      #expect(!(try await nadia.get(user).says("Pending approval: ")))
      let (_, second, _) = try await ask(nadia)
      _ = try await nadia.submit(second, [:], to: second + "/withdrawal")
      #expect(try await nadia.get(second).says("Request withdrawn."))
    }
  }

  @Test func `an approver at the hourly limit is told so, and can't approve`() async throws {
    try await World.withSampleData { world in
      try await requireApproval(world)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let (user, request, _) = try await ask(nadia)
      try await world.setSupportRules { $0.actionsPerHour = 1 }
      let ada = try await Browser.signedIn(world)
      let end = try await ada.submit(
        user + "/sessions/end", ["reason": "lost", "proof": "called back"])
      #expect(end.location == user)
      let limit = try await ada.get(request)
      #expect(limit.says("You’ve reached the limit of 1 action per hour"))
      let warning = "If you try another action before then, you stay blocked until"
      #expect(limit.says("You can continue an hour after it. \(warning) you’re unblocked"))
      #expect(!limit.says("Approve and remove") && !limit.says("Ask to be unblocked"))
      Markup.check(limit)
      let asked = try await ada.submit(request, [:], to: request + "/approval")
      #expect(!asked.says(warning))
      #expect(asked.status == .unprocessableContent && !asked.says("Ask to be unblocked"))
      #expect(asked.text.ranges(of: "Waiting doesn’t end the block.").count == 1)
      Markup.check(asked)
      #expect(try await world.identity.support.held().count == 1)
    }
  }

  @Test func `approving requires a recent code`() async throws {
    try await World.withSampleData { world in
      try await requireApproval(world)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let (_, request, _) = try await ask(nadia)
      let app = try await world.authenticator(of: World.ada).app
      let ada = Browser(world)
      let form = try await ada.get("/sign-in")
      _ = try await ada.post(
        "/sign-in", ["csrf": try form.csrf, "email": World.ada, "password": World.password])
      _ = try await ada.submit("/sign-in/code", ["code": try world.code(of: app)])
      world.clock.advance(seconds: 1_800)
      let page = try await ada.get(request)
      #expect(page.says("autocomplete=\"one-time-code\""))
      let none = try await ada.submit(request, [:], to: request + "/approval")
      #expect(
        none.status == .unprocessableContent
          && none.says("Enter a code from your authenticator app"))
      try Snapshot.check(none.text, named: "approval-code.html")
      let done = try await ada.submit(
        request, ["code": try world.code(of: app)], to: request + "/approval")
      #expect(done.status == .seeOther)
      #expect(try await ada.get("/projects").status == .ok)
    }
  }

  @Test func `a button for a passkey says which decision it continues`() async throws {
    try await World.withSampleData { world in
      try await requireApproval(world)
      let (ada, _) = try await Browser.withApp(world, as: World.ada)
      _ = try await PasskeyPageTests.addPasskey(ada)
      let (_, request, _) = try await ask(try await Browser.signedIn(world, as: World.nadia))
      world.clock.advance(seconds: 1_800)
      let page = try await ada.get(request)
      Markup.check(page)
      for (id, button) in [("approve", "Approve and remove"), ("reject", "Reject request")] {
        #expect(page.says(" id=\"\(id)\">\(button)</button>"))
        #expect(page.says(" aria-describedby=\"\(id)\">Use a passkey instead</button>"))
      }
    }
  }

  @Test func `a bulk removal above the threshold is approved as a whole`() async throws {
    try await World.withSampleData { world in
      let pool = try await world.euPool
      let chiara = try #require(try await world.identity.accounts.find(pool, ID(World.chiara)))
      let (job, approval) = try await world.waitingRemoval(of: [chiara], in: pool)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let (list, request) = try await (
        world.eu + "/bulk-removals/\(job)", world.eu + "/approvals/\(approval)"
      )
      let waiting = try await nadia.get(list)
      #expect(waiting.says("pending approval") && waiting.says(request))
      try Snapshot.check(waiting.text, named: "removal-waiting.html")
      let page = try await nadia.get(request)
      #expect(page.says("exceeds the approval threshold") && page.says(list))
      #expect(page.says("/users/\(World.chiara)\""))
      try Snapshot.check(page.text, named: "approval-list.html")
      let answer = try await nadia.submit(request, [:], to: request + "/approval")
      #expect(answer.location == list)
      #expect(try await nadia.get(list).says("Approved. The removal has started."))
      while try await world.identity.bulkRemovals.step() {}
      #expect(try await nadia.get(list).says("Approved by"))
    }
  }
}
