import HTTP
import IdentityToolkitClient
import Synchronization
import Testing

@testable import Console
@testable import Identity

/// The page of a change that the server of a connected project was asked for.
@Suite struct ChangePageTests {
  private static let acme = ID<Project>("acme-retail")

  /// Turns Acme Retail into a project at Google, with an enrolled user.
  private func connected(
    _ world: World
  ) async throws -> (pool: Pool, user: Account, factor: Factor) {
    _ = try await world.projectPool
    try await world.mirror(Self.acme, access: .policy, readAt: world.clock.now)
    let pool = try await world.identity.pools.existing(project: Self.acme)
    let id = try #require(
      try await world.identity.accounts.list(pool, filter: .totp).items.first?.id)
    let user = try #require(try await world.identity.accounts.find(pool, id))
    return (pool, user, try #require(user.factors.first))
  }

  @Test(arguments: [
    (Intent.State.waiting, Intent.Cause?.none, "Asking Google now", [String]()),
    (.sent, nil, "Waiting for Google to confirm", ["Don’t request it again"]),
    (.done, nil, "Factor removed at Google", ["All sessions ended."]),
    (
      .refused, .factorEnrolled("<i>Pixel 9</i>"), "No changes made",
      ["The user enrolled another factor meanwhile", "/removal\">Remove factor…"]
    ),
    (
      .refused, .remote(.factorRefused), "No changes made",
      ["does not keep an authenticator app", "/factors/removal\">Remove all factors…"]
    ),
    (.refused, .isDisabled(true), "No changes made", ["The user was disabled meanwhile."]),
    (
      .unknown, .unconfirmed, "Google didn’t confirm the removal of",
      ["Critical", ">Check again<"]
    ),
    (.lapsed, nil, "Not sent, so no changes made", ["The server stopped before"]),
    (.lapsed, .restored, "Not sent, so no changes made", ["A backup of the database"]),
  ])
  func `the page says how a change went, why, and what's next`(
    _ state: Intent.State, _ cause: Intent.Cause?, _ heading: String, _ texts: [String]
  ) async throws {
    try await World.withSampleData { world in
      let (pool, user, factor) = try await connected(world)
      try await world.addChange(
        7, .factorsRemoved(factor.id, seen: user.factors.map(\.id)), of: user, in: pool, state,
        cause, detail: state == .refused ? "<b>no</b>" : nil)
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get("/projects/acme-retail/changes/7")
      Markup.check(page)
      #expect(page.status == .ok && page.says("Change 7") && page.says(heading))
      for text in texts { #expect(page.text.contains(text), "\(text)") }
      #expect(!page.text.contains("<i>") && !page.text.contains("<b>no"))
      let isRunning = state == .waiting || state == .sent
      #expect(page.response.fields["Refresh"] == (isRunning ? "3" : nil))
      if cause == nil || state == .unknown {
        try Snapshot.check(page.settled, named: "change-\(state).html")
      }
      // The user's page leads to it while it's open.
      let isOpen = isRunning || state == .unknown
      let notice = try await ada.get("/projects/acme-retail/users/\(user.id.text)")
      Markup.check(notice)
      #expect(notice.text.contains("/changes/7\"") == isOpen)
      // What's unknown needs attention.
      for list in ["/projects", "/projects/acme-retail"] {
        let answer = try await ada.get(list)
        #expect(answer.text.contains("/changes/7\"") == (state == .unknown), "\(list)")
      }
    }
  }

  @Test func `a change of the policy says what it is now, and is for those who may read it`()
    async throws
  {
    try await World.withSampleData { world in
      let (pool, user, _) = try await connected(world)
      let policy = try await world.identity.policies.read(pool)
      var (new, other) = (policy.edit, policy.edit)
      new.configuration.totp = TOTPConfiguration(state: .enabled, adjacentIntervals: 2)
      other.configuration.totp = TOTPConfiguration(state: .enabled, adjacentIntervals: 4)
      let stored = DirectoryChange.policy(other, version: 0, seen: nil).stored
      try await world.addChange(
        7, .policy(new, version: policy.version, seen: policy.edit), in: pool, .refused,
        .policyChanged(stored))
      try await world.addChange(8, .sessionsEnded(seen: 1), of: user, in: pool)
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let page = try await tomas.get("/projects/acme-retail/changes/7")
      Markup.check(page)
      #expect(page.says("The policy was changed at Google meanwhile."))
      #expect(page.says("TOTP is on, ±4 intervals") && page.says(">Change policy</a>"))
      #expect(try await tomas.get("/projects/acme-retail/changes/8").status == .forbidden)
      for missing in ["9", "x"] {
        let answer = try await tomas.get("/projects/acme-retail/changes/\(missing)")
        #expect(answer.status == .notFound)
      }
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      #expect(try await nadia.get("/projects/acme-retail/changes/8").status == .notFound)
    }
  }

  @Test func `a form of a connected project is sent, and the page of the change follows`()
    async throws
  {
    try await World.withSampleData { world in
      world.remote.state.withLock {
        $0.users["bea"] = RemoteDouble.user("bea", factors: ["Phone", "Tablet"])
      }
      _ = try await world.connectRemote(access: .policy)
      let ada = try await Browser.signedIn(world)
      try await world.reauthenticate()
      let user = "/projects/remote-app/users/bea"
      let page = try await ada.get(user)
      Markup.check(page)
      for action in ["sessions/end", "disabling", "factors/removal", "factors/id-of-Phone/removal"]
      {
        #expect(page.text.contains("\(user)/\(action)\""), "\(action)")
        let form = try await ada.get("\(user)/\(action)")
        Markup.check(form)
        #expect(form.status == .ok && form.says("All sessions end."), "\(action)")
        #expect(!form.says("temporary code") && !form.says("active sessions"), "\(action)")
      }
      for (action, title) in [
        ("factors/id-of-Phone/removal", "Factor removed at"), ("disabling", "User disabled at"),
        ("enabling", "User enabled at"), ("sessions/end", "Sessions ended at"),
      ] {
        world.clock.advance(seconds: 6)
        let reason = action == "enabling" ? "resolved" : "other"
        let answer = try await ada.submit(
          "\(user)/\(action)", ["reason": reason, "note": "Called from a known number"])
        let change = try #require(answer.location, "\(action)")
        #expect(change.hasPrefix("/projects/remote-app/changes/"), "\(action)")
        #expect(try await ada.get(change).says(title), "\(action)")
      }
      let left = try await ada.get(user)
      #expect(left.says("Tablet") && left.says("1 factor"))
    }
  }

  @Test func `the policy of a connected project is changed in parts`() async throws {
    try await World.withSampleData { world in
      _ = try await world.connectRemote(access: .policy)
      let ada = try await Browser.signedIn(world)
      try await world.reauthenticate()
      let policy = "/projects/remote-app/policy"
      let form = try await ada.get(policy)
      Markup.check(form)
      try Snapshot.check(form.settled, named: "policy-connected.html")
      #expect(form.text.contains("\(policy)/sms\"") && !form.text.contains("name=\"pattern\""))
      func version() async throws -> String {
        let pool = try await world.identity.pools.existing(project: World.remoteApp)
        return String(try await world.identity.policies.read(pool).version)
      }
      let values: Form = ["totp": "on", "intervals": "1", "version": try await version()]
      let review = try await ada.submit(policy, values)
      Markup.check(review)
      #expect(review.says("Review changes") && !review.says("Make this change from code"))
      let saved = try await ada.submit(policy, values, to: policy + "/changes")
      let change = try #require(saved.location)
      #expect(try await ada.get(change).says("Policy changed at"))
      let sms = try await ada.get(policy + "/sms")
      Markup.check(sms)
      #expect(sms.says("Turn on text messages?"))
      let on = try await ada.submit(
        policy + "/sms", ["version": try await version(), "sms": "on"])
      #expect(try await ada.get(try #require(on.location)).says("Policy changed at"))
      #expect(try await ada.get(policy + "/sms").says("Turn off text messages?"))
      let hosted = try await ada.get("/projects/acme-retail/policy/sms")
      #expect(hosted.location == "/projects/acme-retail/policy")
    }
  }
}
