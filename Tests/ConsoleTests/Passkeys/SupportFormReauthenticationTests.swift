import HTTP
import Identity
import TestAuthenticator
import Testing

@testable import Console

/// Support actions and rules that are kept while a passkey is used instead of a code.
@Suite struct SupportFormReauthenticationTests {
  private static let passkeyForm = "/account/reauthentication/passkey/form"
  private static let passkey = "/account/reauthentication/passkey"

  /// Signs Ada in with an app and a passkey, too long ago for support actions.
  private func ada(_ world: World) async throws -> (ada: Browser, TestAuthenticator) {
    let (ada, _) = try await Browser.withApp(world, as: World.ada)
    let authenticator = try await PasskeyPageTests.addPasskey(ada)
    world.clock.advance(seconds: 1_200)
    return (ada, authenticator)
  }

  private func suspension(_ world: World) async throws -> (user: String, action: String) {
    let user = try await world.eu + "/users/\(World.chiara)"
    return (user, user + "/factors/\(try await world.factor(of: World.chiara).text)/suspension")
  }

  @Test func `a passkey can be used instead of a code, after each form's own button`()
    async throws
  {
    try await World.withSampleData { world in
      let pool = try await world.euPool
      let chiara = try #require(try await world.identity.accounts.find(pool, ID(World.chiara)))
      let approval = try await world.waitingRemoval(
        of: [chiara], in: pool, by: World.nadia
      ).approval
      let (ada, _) = try await ada(world)
      let eu = try await world.eu
      let draft = try await ada.submit(
        eu + "/users", ["list": World.chiara], to: eu + "/bulk-removals")
      let pages: [(page: String, forms: [String])] = [
        (eu + "/settings/support", [eu + "/settings/support"]),
        ("/instance-settings", ["/instance-settings/step-up"]),
        (try await suspension(world).action, [try await suspension(world).action]),
        (try #require(draft.location), [try #require(draft.location)]),
        (
          eu + "/approvals/\(approval)",
          [eu + "/approvals/\(approval)/approval", eu + "/approvals/\(approval)/rejection"]
        ),
      ]
      for (address, forms) in pages {
        let page = try await ada.get(address)
        Markup.check(page)
        let kept = page.values(of: "formaction").filter { $0.contains("/reauthentication/") }
        #expect(kept == forms.map { _ in Self.passkeyForm }, "\(address)")
        #expect(page.allValues(of: "form-address") == forms, "\(address)")
        #expect(!page.values(of: "href").contains { $0.hasPrefix(Self.passkey) }, "\(address)")
        // Enter uses a form's first button.
        for form in page.text.split(separator: "<form ").dropFirst() where form.contains("code\"") {
          let own = try #require(form.firstRange(of: "<button"))
          #expect(
            !form[own.lowerBound...].prefix { $0 != ">" }.contains("formaction"), "\(address)")
        }
      }
    }
  }

  @Test func `a suspension is kept while a passkey is used, and requires it`() async throws {
    try await World.withSampleData { world in
      let (ada, authenticator) = try await ada(world)
      let (user, action) = try await suspension(world)
      let page = try await ada.get(action)
      let form: Form = ["reason": "lost", "until": "tomorrow", "note": "Left at home"]
      var kept = form
      kept.add("csrf", try page.csrf)
      kept.add("form-address", try #require(page.value(of: "form-address")))
      let leaving = try await ada.post(Self.passkeyForm, kept)
      let answers = Drafts.address(Drafts.mark(of: action))
      #expect(leaving.location == ReturnAddress.of(Self.passkey, backTo: answers))
      // The kept form is no proof, and a form that's sent is no longer kept.
      let early = try await ada.get(answers)
      var again = form
      again.add("csrf", try early.csrf)
      #expect(try await ada.post(action, again).status == .unprocessableContent)
      #expect(try await !ada.get(user).says("suspended</span>"))
      #expect(try await ada.get(answers).location == "/")
      _ = try await ada.post(Self.passkeyForm, kept)

      let asked = try await ada.get(try #require(leaving.location))
      var proof = try PasskeyPageTests.use(
        authenticator, asked, as: try await world.id(of: World.ada), world)
      proof.add("next", try #require(asked.value(of: "next")))
      #expect(try await ada.post(Self.passkey, proof).location == answers)
      let ready = try await ada.get(answers)
      Markup.check(ready)
      #expect(ready.says("Left at home") && ready.values(of: "action").contains(action))
      var final = form
      final.add("csrf", try ready.csrf)
      #expect(try await ada.post(action, final).location == user)
      #expect(try await ada.get(user).says("suspended</span>"))
    }
  }
}
