import HTTP
import Identity
import OTP
import Testing

@testable import Console

/// Code samples that set a policy, and the odds of guessing a code.
@Suite struct PolicyCodeTests {
  private func policy(
    _ world: World, _ configuration: MFAConfiguration, project: Bool = false
  ) async throws -> Policy {
    let pool =
      project
      ? try await world.identity.pools.existing(project: ID("globex"))
      : try await world.euPool
    return try await world.identity.policies.change(pool, by: .program(Author(actor: .commandLine)))
    {
      $0.configuration = configuration
    }.value.policy
  }

  @Test func `the Admin SDK sample has the policy's exact values`() async throws {
    try await World.withSampleData { world in
      let tenant = try await world.euShop.text
      let all = try await policy(
        world,
        MFAConfiguration(
          state: .enabled, smsEnabled: true,
          totp: TOTPConfiguration(state: .enabled, adjacentIntervals: 0)))
      #expect(
        PolicyNode.text(all.pool, all.configuration, over: all.configuration) == """
          import { getAuth } from "firebase-admin/auth";

          await getAuth().tenantManager().updateTenant("\(tenant)", {
            multiFactorConfig: {
              state: "ENABLED",
              factorIds: ["phone"],
              providerConfigs: [{
                state: "ENABLED",
                totpProviderConfig: { adjacentIntervals: 0 },
              }],
            },
          });
          """)
      let unstated = try await policy(
        world,
        MFAConfiguration(
          state: .mandatory, totp: TOTPConfiguration(state: .unspecified, adjacentIntervals: nil)),
        project: true)
      #expect(
        PolicyNode.text(unstated.pool, unstated.configuration, over: .initial) == """
          import { getAuth } from "firebase-admin/auth";

          await getAuth().projectConfigManager().updateProjectConfig({
            multiFactorConfig: {
              state: "ENABLED", // the SDK has no MANDATORY
              factorIds: [],
              providerConfigs: [{
                state: "ENABLED", // the SDK requires a state
                totpProviderConfig: {},
              }],
            },
          });
          """)
      let nothing = try await policy(world, MFAConfiguration())
      #expect(
        PolicyNode.text(nothing.pool, nothing.configuration, over: all.configuration)
          .contains(
            """
              multiFactorConfig: {
                state: "DISABLED",
                factorIds: [],
                providerConfigs: [],
              },
            """))
      let url = try #require(PublicURL(World.publicURL))
      let call = PolicyCurl.text(
        nothing.pool, nothing.configuration, over: all.configuration, publicURL: url)
      #expect(call.contains("{\"mfaConfig\": {}}"))
    }
  }

  @Test func `the samples write 5 where no number would keep 0`() async throws {
    try await World.withSampleData { world in
      func configuration(_ intervals: Int?) -> MFAConfiguration {
        MFAConfiguration(
          state: .enabled, totp: TOTPConfiguration(state: .enabled, adjacentIntervals: intervals))
      }
      let (none, byDefault) = (configuration(0), configuration(nil))
      let (pool, url) = (try await world.euPool, try #require(PublicURL(World.publicURL)))
      let text = PolicyCurl.text(pool, byDefault, over: none, publicURL: url)
      #expect(text.contains("\"totpProviderConfig\": {\"adjacentIntervals\": 5}"))
      let node = PolicyNode.text(pool, byDefault, over: none)
      #expect(node.contains("totpProviderConfig: { adjacentIntervals: 5 },"))
      // What the call stores has the effect of the default.
      #expect(byDefault.written(over: none).replacing(none).window == byDefault.window)
      let kept = PolicyNode.text(pool, byDefault, over: configuration(1))
      #expect(kept.contains("totpProviderConfig: {},"))
      // On the review page, the call for the current policy leads back.
      _ = try await policy(world, byDefault)
      let ada = try await Browser.signedIn(world)
      let version = try await world.policy.version
      let review = try await ada.submit(
        try await world.eu + "/policy", .policy(intervals: "0", version: version))
      #expect(review.says("adjacentIntervals: 5") && review.says("adjacentIntervals: 0"))
    }
  }

  @Test(arguments: [
    (0.000005, "0.0005%"), (0.000055, "0.0055%"), (0.000105, "0.0105%"),
    (0.000373938, "0.0374%"),
    (0.09996, "10%"), (0.1, "10%"), (0.5, "50%"), (1, "100%"), (0, "0%"), (0.001, "0.1%"),
    (0.00009999, "0.01%"), (0.01234, "1.23%"),
  ])
  func `a probability is rounded to three significant digits`(chance: Double, words: String) {
    #expect(OddsText.inFile(chance * 100) + "%" == words)
  }

  @Test func `the odds of guessing reflect the window and the throttle`() {
    #expect(
      OddsText.sentence(.standard, cap: 10)?.english
        == "Chance of guessing a code: 1 in 18,182 before the first block (5 incorrect codes; blocks last 30\u{A0}s, doubling up to 1\u{A0}h) and 1 in 9,091 before codes are locked (10 incorrect codes in a row)."
    )
    #expect(OddsText.sentence(nil, cap: 10) == nil)
    #expect(OddsText.chance(0.00003).english == "1 in 33,333")
    #expect(OddsText.chance(0).english == "–")
  }

  @Test func `code is shown only for changes that the API can make`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      let (code, note) = ("adjacentIntervals", "Pattern and enforcement aren’t part of the API.")
      let pattern = try await ada.submit(address, .policy(pattern: "step-up"))
      #expect(pattern.says("<h1>Review changes</h1>") && pattern.says(note))
      #expect(!pattern.says(code))
      let window = try await ada.submit(address, .policy(intervals: "2"))
      #expect(window.says(code) && !window.says(note))
      let both = try await ada.submit(address, .policy(intervals: "2", pattern: "step-up"))
      #expect(both.says(code) && both.says(note))
    }
  }

  @Test(arguments: [false, true])
  func `what happens to text messages depends on the server`(carriesText: Bool) async throws {
    try await World.withSampleData(carriesText: carriesText) { world in
      let ada = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      let page = try await ada.get(address)
      #expect(page.says("has no SMS gateway") != carriesText)
      #expect(page.says("The server sends text messages") == carriesText)
      let check = try await ada.submit(address, .policy(sms: "on"))
      #expect(check.says("There is no SMS gateway") != carriesText)
    }
  }
}
