import Identity
import Testing

@testable import Console

/// Details of the guides' code samples that applications depend on.
@Suite struct GuideSampleTests {
  /// The title of each guide's own code sample, for every platform.
  private static let owns = [
    "mandatory": "Gate", "skippable": "Offer", "account": "Section", "step-up": "Guard",
  ]

  @Test(arguments: [("mandatory", "Gate"), ("step-up", "Guard"), ("common", "Check tokens")])
  func `a backend's sample refuses the tokens of other user pools`(
    guide: String, sample: String
  ) async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let tenant = try await world.euShop.text
      for (query, claim) in [
        ("", "&quot;TENANT_ID&quot;"), ("?project=acme-retail", "undefined"),
        ("?project=acme-retail&tenant=\(tenant)", "&quot;\(tenant)&quot;"),
      ] {
        let page = try await browser.get("/guides/\(guide)/build" + query)
        let code = try page.sample("\(sample): your backend")
        #expect(code.contains("if (claims.firebase.tenant !== \(claim)) "), "\(query)")
      }
    }
  }

  @Test(arguments: GuidePlatform.allCases)
  func `the sample for signing in has three branches and accepts another code`(
    platform: GuidePlatform
  ) async throws {
    try await World.withSampleData { world in
      let guide = try await Browser(world).get("/guides/common/build")
      let text = try guide.sample("Sign in", platform).lowercased()
      guard platform != .rest else {
        #expect(text.contains("mfasignin:finalize") && guide.says("phoneVerificationInfo"))
        return
      }
      for part in [
        "totpmultifactorgenerator", "phonemultifactorgenerator", "verifyphonenumber", "unsupported",
        "choose", "isretry",
      ] { #expect(text.contains(part), "\(part)") }
      #expect(
        text.contains("invalid-verification-code") || text.contains("invalid_verification_code")
          || text.contains("invalidverificationcode"))
    }
  }

  @Test(arguments: GuidePlatform.allCases)
  func `every platform has every sample`(platform: GuidePlatform) async throws {
    try await World.withSampleData { world in
      let browser = Browser(world)
      let common = try await browser.get("/guides/common/build")
      for name in ["Connect", "Enroll", "Open the app", "Sign in", "Remove"] {
        #expect(!(try common.sample(name, platform)).isEmpty)
      }
      for (guide, name) in Self.owns where platform != .rest {
        let page = try await browser.get("/guides/\(guide)/build")
        #expect(!(try page.sample(name, platform)).isEmpty)
      }
    }
  }

  @Test(arguments: [
    (GuidePlatform.swift, "_ = try await user.getIDToken()", "currentUser()"),
    (.objc, "[user getIDTokenWithCompletion:", "[self withUser:^(FIRUser *user) {"),
  ])
  func `on iOS, each call has the current user and a refreshed token`(
    platform: GuidePlatform, refresh: String, fresh: String
  ) async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let unchecked = /(Auth\.auth\(\)|FIRAuth\.auth)\.currentUser/
      let common = try await browser.get("/guides/common/build")
      let enroll = try common.sample("Enroll", platform)
      #expect(enroll.contains(refresh))
      #expect(enroll.ranges(of: fresh).count >= 3)
      // Only the function that says so if nobody is signed in reads the user.
      #expect(enroll.ranges(of: unchecked).count == 1)
      var samples = ["Remove": try common.sample("Remove", platform)]
      for (name, own) in Self.owns {
        samples[own] = try await browser.get("/guides/\(name)/build").sample(own, platform)
      }
      for (name, sample) in samples {
        #expect(sample.contains(fresh), "\(name)")
        #expect(!sample.contains(unchecked), "\(name)")
      }
    }
  }

  @Test(arguments: ["account", "skippable", "step-up"])
  func `a sample reloads the user before it reads the factors`(name: String) async throws {
    try await World.withSampleData { world in
      let guide = try await Browser.signedIn(world).get("/guides/\(name)/build")
      for platform in GuidePlatform.allCases where platform != .rest {
        let sample = try guide.sample(Self.owns[name] ?? "", platform).lowercased()
        let reload = try #require(sample.firstRange(of: "reload"), "\(platform)")
        let factors = try #require(sample.firstRange(of: "enrolledfactors"), "\(platform)")
        #expect(reload.lowerBound < factors.lowerBound, "\(platform)")
      }
    }
  }

  @Test func `a gate can reload the user and force a refresh of the token`() async throws {
    try await World.withSampleData { world in
      let guide = try await Browser.signedIn(world).get("/guides/mandatory/build")
      for platform in GuidePlatform.allCases where platform != .rest {
        let sample = try guide.sample("Gate", platform)
        #expect(sample.contains("reload"), "\(platform)")
        let refresh = /getIdToken\((true|isAgain)\)|[fF]orcingRefresh: ?isAgain/
        #expect(sample.contains(refresh), "\(platform)")
      }
    }
  }

  @Test func `the offer is made when the address is verified and it's due`() async throws {
    try await World.withSampleData { world in
      let guide = try await Browser.signedIn(world).get("/guides/skippable/build")
      for platform in GuidePlatform.allCases where platform != .rest {
        let sample = try guide.sample("Offer", platform).lowercased()
        #expect(sample.contains("emailverified") && sample.contains("offerisdue"), "\(platform)")
      }
    }
  }

  @Test func `on iOS, the QR code is shown whether or not an app can be opened`() async throws {
    try await World.withSampleData { world in
      let guide = try await Browser.signedIn(world).get("/guides/common/build")
      for platform in [GuidePlatform.swift, .objc] {
        let sample = try guide.sample("Open the app", platform)
        let code = try #require(sample.firstRange(of: "showQRCode"))
        let condition = try #require(sample.firstRange(of: "canOpenURL"))
        #expect(code.lowerBound < condition.lowerBound)
      }
    }
  }

  @Test func `users without a password can re-authenticate on the web`() async throws {
    try await World.withSampleData { world in
      let guide = try await Browser.signedIn(world).get("/guides/common/build")
      let sample = try guide.sample("Enroll", .web)
      for part in ["providerData", "new OAuthProvider", "credentialWithLink"] {
        #expect(sample.contains(part), "\(part)")
      }
    }
  }
}

extension Answer {
  /// The code sample of a platform, without its markup.
  fileprivate func sample(_ name: String, _ platform: GuidePlatform) throws -> String {
    try sample("\(name): \(platform.heading)")
  }

  fileprivate func sample(_ label: String) throws -> String {
    let start = try #require(text.firstRange(of: "aria-label=\"\(label)\"><code>"))
    let rest = text[start.upperBound...]
    let end = try #require(rest.firstRange(of: "</code>"))
    return String(rest[..<end.lowerBound]).replacing(/<[^>]*>/, with: "")
  }
}
