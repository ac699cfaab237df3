import HTTP
import Identity
import Testing
import Text

@testable import Console

/// Weakening a policy with a second approver, in two browsers.
@Suite struct PolicyApprovalPageTests {
  private func guarded(_ world: World) async throws -> (address: String, wider: Form) {
    try await world.setSupportRules { $0.policyApprovalOverUsers = 0 }
    return (
      try await world.eu + "/policy",
      .policy(intervals: "9", more: ["note": "Clocks are off."])
    )
  }

  @Test func `V7: weakening requires a reason, which the history, the review, and its CSV show`()
    async throws
  {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let address = try await world.eu + "/policy"
      let check = try await tomas.submit(address, .policy(intervals: "9"))
      #expect(check.says("<label for=\"note\">Reason</label>"))
      var form = Form.policy(intervals: "9")
      form = Form(form.entries.filter { $0.name != "note" })
      let without = try await tomas.save(address, form)
      #expect(without.status == .unprocessableContent && without.says("Enter a reason"))
      Markup.check(without)
      #expect(try await world.policy.version == 2)
      form.add("note", "Travelers have <skewed> clocks.")
      #expect(try await tomas.save(address, form).status == .seeOther)
      let review = "/projects/acme-retail/review"
      for page in [address, review] {
        #expect(try await tomas.get(page).says("Travelers have &lt;skewed&gt; clocks."), "\(page)")
      }
      #expect(
        try await tomas.get(review + ".csv").text.contains("Travelers have <skewed> clocks."))
      let overview = try await tomas.get(try await world.eu)
      #expect(overview.says("Policy weakened: "))
      #expect(overview.says("→ 19 valid codes. "))
      #expect(
        !(try await tomas.submit(address, .policy(intervals: "0", version: 3)))
          .says("<label for=\"note\">"), "a stricter policy requires no reason")
    }
  }

  @Test func `a weaker policy is pending, listed for approvers, and in effect once approved`()
    async throws
  {
    try await World.withSampleData { world in
      let (address, wider) = try await guarded(world)
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let ada = try await Browser.signedIn(world)
      let check = try await tomas.submit(address, .policy(intervals: "9"))
      #expect(check.says("a second administrator has to approve it within a day"))
      #expect(check.says("Request approval"))
      Markup.check(check)
      #expect(try await tomas.save(address, wider).location == address)
      #expect(try await tomas.get(address).says("Nothing has changed yet."))
      #expect(try await world.policy.version == 2)
      let again = try await tomas.save(address, wider)
      #expect(again.status == .unprocessableContent)
      #expect(again.says("already pending approval"))
      Markup.check(again)
      #expect(try await ada.get("/projects").says("1 approval"))
      let list = try await ada.get("/approvals")
      #expect(list.says("Weaken MFA policy"))
      let request = try #require(list.values(of: "href").first { $0.contains("-approvals/") })
      let pool = try await world.eu
      #expect(request.hasPrefix(pool + "/policy-approvals/"))
      let page = try await ada.get(request)
      #expect(page.says("Clocks are off.") && page.says("→ 9"))
      Markup.check(page)
      let number = request.dropFirst((pool + "/policy-approvals/").count)
      let other = pool + "/approvals/\(number)"
      #expect(try await ada.get(other).status == .notFound)
      let own = try await tomas.get(request)
      #expect(own.says("Withdraw request") && !own.says("Approve and save"))
      #expect(try await ada.submit(request, [:], to: request + "/approval").location == address)
      let after = try await ada.get(address)
      #expect(after.says("The policy is now in effect."))
      #expect(after.values(of: "href").contains(address + "?change=undo&version=3"))
      #expect(try await world.policy.configuration.totp?.adjacentIntervals == 9)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      #expect(try await nadia.get(request).status == .forbidden)
      #expect(!(try await nadia.get("/approvals").says("Weaken MFA policy")))
    }
  }

  /// Requests a wider window as Tomas.
  private func requested(
    _ world: World
  ) async throws -> (policy: String, tomas: Browser, ada: Browser, request: String) {
    let (address, wider) = try await guarded(world)
    let tomas = try await Browser.signedIn(world, as: World.tomas)
    let ada = try await Browser.signedIn(world)
    _ = try await tomas.save(address, wider)
    let list = try await ada.get("/approvals")
    let request = try #require(list.values(of: "href").first { $0.contains("-approvals/") })
    return (address, tomas, ada, request)
  }

  @Test(arguments: [false, true])
  func `an approver at the hourly limit, or blocked, can approve a policy`(
    isBlocked: Bool
  ) async throws {
    try await World.withSampleData { world in
      let (address, _, ada, request) = try await requested(world)
      try await world.setSupportRules { $0.actionsPerHour = 1 }
      let user = try await world.eu + "/users/\(World.chiara)"
      let end = user + "/sessions/end"
      #expect(try await ada.submit(end, ["reason": "lost"]).location == user)
      if isBlocked { _ = try await ada.submit(end, [:]) }
      #expect(try await world.identity.support.held().count == (isBlocked ? 1 : 0))
      let page = try await ada.get(request)
      #expect(page.says("Approve and save") && !page.says("action per hour"))
      #expect(try await ada.submit(request, [:], to: request + "/approval").location == address)
      #expect(try await world.policy.configuration.totp?.adjacentIntervals == 9)
    }
  }

  @Test func `a request says what was asked and why it is too late after the policy changed`()
    async throws
  {
    try await World.withSampleData { world in
      let (address, tomas, ada, request) = try await requested(world)
      let before = try await ada.get(request)
      #expect(before.says("→ 9") && before.says("Approve and save"))
      #expect(try await ada.save(address, .policy(intervals: "1")).location == address)
      let page = try await ada.get(request)
      Markup.check(page)
      #expect(page.says("→ 9") && !page.says("Approve and save"))
      #expect(
        page.says("This request can’t be approved. The policy has changed since the request."))
      #expect(page.says("Reject request"))
      let own = try await tomas.get(request)
      #expect(own.says("This request can’t be approved.") && own.says("Withdraw request"))
      #expect(
        try await ada.submit(request, ["answer": "Outdated"], to: request + "/rejection").location
          != nil)
      let closed = try await ada.get(request)
      #expect(closed.says("→ 9") && !closed.says("This request can’t be approved."))
    }
  }

  @Test func `the review warns about a past start date and SMS without a gateway`() async throws {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let address = try await world.eu + "/policy"
      let past = try await tomas.submit(
        address, .policy(pattern: "mandatory", from: "2020-02-29"))
      #expect(past.says("is in the past: enrollment is mandatory immediately."))
      #expect(past.says("must enroll at the next sign-in.") && !past.says("must enroll by"))
      let coming = try await tomas.submit(
        address, .policy(pattern: "mandatory", from: "2099-01-01"))
      #expect(!coming.says("is in the past") && coming.says("must enroll by Jan 1, 2099"))
      let sms = try await tomas.submit(address, .policy(sms: "on"))
      #expect(sms.says("There is no SMS gateway"))
      Markup.check(sms)
    }
  }
}
