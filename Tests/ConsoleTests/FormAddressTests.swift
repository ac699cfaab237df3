import HTTP
import Identity
import Testing

@testable import Console

/// URLs that only accept forms: what they do, and where a GET request leads.
@Suite struct FormAddressTests {
  @Test func `opening a form's action URL redirects to the form's page`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let eu = try await world.eu
      for (address, page) in [
        (eu + "/policy/changes", eu + "/policy"), (eu + "/policy/edit", eu + "/policy"),
        (eu + "/guidance/versions", eu + "/guidance"),
        (eu + "/approvals/1/approval", eu + "/approvals/1"),
        (eu + "/settings/sign-in/disabling", eu + "/settings/sign-in"),
        ("/account/sessions/others?x=1", "/account"),
        ("/instance-settings/step-up", "/instance-settings"),
      ] {
        let answer = try await ada.get(address)
        #expect(answer.status == .seeOther && answer.location == page, "\(address)")
      }
      #expect(try await ada.get(eu + "/users.csv").status == .methodNotAllowed)
      #expect(try await ada.send(.put, eu + "/policy/changes").status == .methodNotAllowed)
    }
  }

  @Test func `a form submitted after the session expired leads back to its page`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let policy = try await world.eu + "/policy"
      world.clock.advance(seconds: SessionLimits.standard.idle + 61)
      let answer = try await browser.post(policy + "/changes", .policy(intervals: "1"))
      let signInAddress = try #require(answer.location)
      #expect(signInAddress.hasPrefix("/sign-in?next="))
      let form = try await browser.get(signInAddress)
      let signedIn = try await browser.post(
        "/sign-in",
        [
          "csrf": try form.csrf, "email": World.ada, "password": World.password,
          "next": policy + "/changes",
        ])
      #expect(signedIn.location == policy)
    }
  }

  @Test func `a preview changes nothing, and the policy form submits to one by default`()
    async throws
  {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let eu = try await world.eu
      let page = try await tomas.get(eu + "/policy")
      #expect(page.says("<form class=\"stack\" method=\"post\" action=\"\(eu)/policy\""))
      let before = try await world.auditedActions()
      for form in [
        Form.policy(intervals: "1"), .policy(totp: "off", more: ["confirmation": "eu-shop"]),
      ] {
        let review = try await tomas.submit(eu + "/policy", form)
        #expect(review.says("<h1>Review changes</h1>"))
        #expect(review.values(of: "formaction") == [eu + "/policy/edit"])
        _ = try await tomas.submit(eu + "/policy", form, to: eu + "/policy/edit")
      }
      _ = try await tomas.submit(eu + "/guidance/edit", ["text": "x", "version": "0"])
      #expect(try await world.auditedActions() == before)
      #expect(try await world.policy.version == 2)
      #expect(try await world.identity.guidance.read(try await world.euPool) == nil)
    }
  }

  @Test
  func `each route performs one action, or a change and its stricter variants`()
    async throws
  {
    try await World.empty { world in
      let several = Set(world.console.routes.filter { $0.actions.count > 1 }.map(\.actions))
      #expect(
        several == [
          [.changePolicy, .weakenPolicy], [.changeSettings, .weakenSettings, .narrowSignIn],
          [.changeIdentityProvider, .narrowProvider], [.removeIdentityProvider, .narrowProvider],
        ])
    }
  }
}
