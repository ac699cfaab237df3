import HTTP
import Identity
import Testing

@testable import Console

/// Snapshots of the responses to forms.
@Suite struct FormPageTests {
  @Test func `responses to the policy form match their snapshots`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let policy = try await world.eu + "/policy"
      let narrower = try await browser.submit(policy, .policy(intervals: "1", pattern: "mandatory"))
      try Snapshot.check(narrower.text, named: "policy-check.html")
      #expect(narrower.says("<ol class=\"crumbs\">"))
      let off = try await browser.submit(policy, .policy(totp: "off"))
      try Snapshot.check(off.text, named: "policy-check-off.html")
      let misnamed = try await browser.save(
        policy, .policy(totp: "off", more: ["confirmation": "eu-shopp"]))
      try Snapshot.check(misnamed.text, named: "policy-check-misnamed.html")
      let wrong = try await browser.submit(policy, .policy(totp: "", intervals: "abc"))
      try Snapshot.check(wrong.text, named: "policy-wrong.html")
      let same = try await browser.submit(policy, .policy())
      try Snapshot.check(same.text, named: "policy-unchanged.html")
      let saved = try await browser.save(
        policy, .policy(intervals: "2"))
      #expect(saved.location == policy)
      try Snapshot.check(try await browser.get(policy).text, named: "policy-saved.html")
      let late = try await browser.submit(policy, .policy(intervals: "1", version: 2))
      try Snapshot.check(late.text, named: "policy-race.html")
    }
  }

  @Test func `responses to a removal form match their snapshots`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      let removal = "\(user)/factors/\(try await world.factor(of: World.chiara).text)/removal"
      let wrong = try await browser.submit(removal, ["reason": "other", "note": ""])
      try Snapshot.check(wrong.text, named: "removal-wrong.html")
      _ = try await browser.submit(removal, ["reason": "lost", "note": "Called back, HD-20817"])
      try Snapshot.check(try await browser.get(user).text, named: "user-removed.html")
    }
  }

  @Test func `error pages of small forms match their snapshots`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let project = try await browser.submit("/projects/new", ["name": "Acme", "id": "Acme"])
      try Snapshot.check(project.text, named: "project-wrong.html")
      let tenant = try await browser.submit(
        "/projects/globex/tenants/new", ["name": "1"])
      try Snapshot.check(tenant.text, named: "tenant-wrong.html")
      let stranger = try await Browser(world).submit(
        "/sign-in", ["email": World.ada, "password": "wrong"])
      try Snapshot.check(stranger.settled, named: "sign-in-wrong.html")
    }
    try await World.empty { world in
      let form: Form = ["code": "AAAA", "name": "Ada", "email": "ada@example.com", "password": "x"]
      let setup = try await Browser(world).submit("/setup", form)
      try Snapshot.check(setup.settled, named: "setup-wrong.html")
    }
  }
}

extension Form {
  /// The initial policy form of eu-shop, with some values changed.
  static func policy(
    totp: String = "on", intervals: String = "5", sms: String = "off",
    pattern: String = "account", from: String = "", version: Int? = nil, more: Form = [:]
  ) -> Form {
    var form: Form = [
      "totp": totp, "intervals": intervals, "sms": sms, "pattern": pattern, "from": from,
      "version": String(version ?? 2),
      "note": "Clocks are off.",
    ]
    for entry in more.entries { form.add(entry) }
    return form
  }
}
