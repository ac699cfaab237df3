import Identity
import Testing

@testable import Console

/// Details of the guides' code samples that applications depend on.
@Suite struct GuideSampleTests {
  @Test(arguments: ["mandatory", "step-up"])
  func `a backend's sample refuses the tokens of other user pools`(name: String) async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let tenant = try await world.euShop.text
      for (query, claim, sentence) in [
        ("", "&quot;TENANT_ID&quot;", "TENANT_ID below is a placeholder: replace it"),
        (
          "?project=acme-retail", "undefined",
          "own users, as here, the comparison is with undefined."
        ),
        (
          "?project=acme-retail&tenant=\(tenant)", "&quot;\(tenant)&quot;",
          "The comparison is with the ID of this tenant."
        ),
      ] {
        let guide = try await browser.get("/guidance/\(name)" + query)
        #expect(guide.says("claims.firebase.tenant === \(claim);"), "\(query)")
        #expect(guide.says("(!isOfThisPool(claims))"), "\(query)")
        #expect(guide.says(sentence), "\(query)")
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
      let account = try await browser.get("/guidance/account")
      let enroll = try account.sample("Enroll", platform)
      #expect(enroll.contains(refresh))
      #expect(enroll.ranges(of: fresh).count >= 3)
      // Only the function that says so if nobody is signed in reads the user.
      #expect(enroll.ranges(of: unchecked).count == 1)
      var samples = ["Remove": try account.sample("Remove", platform)]
      for (name, own) in GuidanceTests.owns {
        samples[own] = try await browser.get("/guidance/\(name)").sample(own, platform)
      }
      for (name, sample) in samples {
        #expect(sample.contains("\(fresh) // from &quot;Enroll a user&quot;"), "\(name)")
        #expect(!sample.contains(unchecked), "\(name)")
      }
    }
  }

  @Test(arguments: ["account", "skippable", "step-up"])
  func `a sample reloads the user before it reads the factors`(name: String) async throws {
    try await World.withSampleData { world in
      let guide = try await Browser.signedIn(world).get("/guidance/\(name)")
      for platform in GuidePlatform.allCases where platform != .rest {
        let sample = try guide.sample(GuidanceTests.owns[name] ?? "", platform).lowercased()
        let reload = try #require(sample.firstRange(of: "reload"), "\(platform)")
        let factors = try #require(sample.firstRange(of: "enrolledfactors"), "\(platform)")
        #expect(reload.lowerBound < factors.lowerBound, "\(platform)")
      }
    }
  }

  @Test func `a gate can reload the user and force a refresh of the token`() async throws {
    try await World.withSampleData { world in
      let guide = try await Browser.signedIn(world).get("/guidance/mandatory")
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
      let guide = try await Browser.signedIn(world).get("/guidance/skippable")
      for platform in GuidePlatform.allCases where platform != .rest {
        let sample = try guide.sample("Offer", platform).lowercased()
        #expect(sample.contains("emailverified") && sample.contains("offerisdue"), "\(platform)")
      }
    }
  }

  @Test func `on iOS, the QR code is shown whether or not an app can be opened`() async throws {
    try await World.withSampleData { world in
      let guide = try await Browser.signedIn(world).get("/guidance/account")
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
      let guide = try await Browser.signedIn(world).get("/guidance/account")
      let sample = try guide.sample("Enroll", .web)
      for part in ["providerData", "new OAuthProvider", "credentialWithLink"] {
        #expect(sample.contains(part), "\(part)")
      }
    }
  }

  @Test func `users without a password are told what their platform calls`() async throws {
    try await World.withSampleData { world in
      let text = try await Browser.signedIn(world).get("/guidance/account").text
      let start = try #require(text.firstRange(of: "<p>Users who sign in with an email link"))
      let end = try #require(text[start.upperBound...].firstRange(of: "<h3 id="))
      let panes = text[start.lowerBound..<end.lowerBound].split(separator: "<div class=\"pane\" ")
      let everyone = try #require(panes.first)
      #expect(!everyone.contains("<code>"))
      for (platforms, call) in [
        ("web", "signInWithEmailLink"), ("kotlin java swift objc", "finishSignIn"),
        ("rest", "accounts:signInWithIdp"),
      ] {
        let pane = panes.first { $0.hasPrefix("data-for=\"\(platforms)\"") }
        #expect(pane?.contains("<code>\(call)</code>") == true, "\(platforms)")
      }
      for name in ["signInWithCredential", "reauthenticateWithPopup", "<code>catch</code>"] {
        let all = panes.filter { $0.contains(name) }
        #expect(all.allSatisfy { $0.hasPrefix("data-for=\"web\"") }, "\(name)")
      }
    }
  }

  @Test func `a tenant's guide has the tenant's address of the enrollment policy`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let tenant = try await world.euShop.text
      for pool in ["", "/tenants/\(tenant)"] {
        let query = "?project=acme-retail" + (pool.isEmpty ? "" : "&tenant=\(tenant)")
        let guide = try await browser.get("/guidance/mandatory" + query)
        #expect(guide.says("/v2/projects/acme-retail\(pool)/enrollmentPolicy?key="))
      }
    }
  }
}

extension Answer {
  /// The code sample of a platform, without its markup.
  fileprivate func sample(_ name: String, _ platform: GuidePlatform) throws -> String {
    let start = try #require(
      text.firstRange(of: "aria-label=\"\(name): \(platform.heading)\"><code>"))
    let rest = text[start.upperBound...]
    let end = try #require(rest.firstRange(of: "</code>"))
    return String(rest[..<end.lowerBound]).replacing(/<[^>]*>/, with: "")
  }
}
