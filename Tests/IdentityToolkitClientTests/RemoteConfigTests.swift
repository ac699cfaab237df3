import JSON
import Testing

@testable import IdentityToolkitClient

/// What's read of projects and tenants.
struct RemoteConfigTests {
  @Test func `every recorded configuration and tenant is read`() throws {
    let good = try Recording.all.get().filter { $0.status == 200 }
    let configs = good.filter { $0.path.split(separator: "?")[0].hasSuffix("/config") }
    #expect(configs.count > 20)
    for recording in configs {
      let config = RemoteConfig(recording.response)
      #expect(config.number == 100_000_000_001 && config.hasIdentityPlatform, "\(recording.id)")
      #expect(
        (config.mfa.state == nil) == (recording.response["mfa"]?["state"] == nil),
        "\(recording.id)")
    }
    let tenants = good.flatMap { recording -> [JSON] in
      let one = recording.response.filled("name")?.contains("/tenants/") == true
      return recording.response["tenants"]?.arrayValue ?? (one ? [recording.response] : [])
    }
    #expect(tenants.count > 30)
    for tenant in tenants where !(tenant.filled("name") ?? "").contains("IdpConfigs") {
      let read = try #require(RemoteTenant(tenant))
      #expect(tenant.filled("name")?.hasSuffix("/tenants/\(read.id)") == true)
      #expect(read.displayName == tenant.filled("displayName") ?? "")
      #expect(read.isDisabled == (tenant["disableAuth"] == true))
      #expect(read.mfa == RemoteMFA(tenant["mfaConfig"]))
    }
  }

  @Test(
    arguments: [
      ("absent", nil, nil, false, nil), ("empty", [:], nil, false, nil),
      ("off", ["state": "DISABLED"], .disabled, false, nil),
      (
        "mandatory", ["state": "MANDATORY", "enabledProviders": ["PHONE_SMS"]], .mandatory, true,
        nil
      ),
      (
        "TOTP",
        [
          "state": "ENABLED",
          "providerConfigs": [
            ["state": "ENABLED", "totpProviderConfig": ["adjacentIntervals": 10]]
          ],
        ], .enabled, false, RemoteMFA.TOTP(state: .enabled, adjacentIntervals: 10)
      ),
      (
        "0 or default",
        ["providerConfigs": [["state": "ENABLED", "totpProviderConfig": [:]]]], nil, false,
        RemoteMFA.TOTP(state: .enabled, adjacentIntervals: nil)
      ),
      ("an entry without effect", ["providerConfigs": [["state": "ENABLED"]]], nil, false, nil),
      (
        "what isn't known",
        [
          "state": "SOMETIMES", "enabledProviders": ["FACE", "PHONE_SMS"],
          "providerConfigs": [
            ["state": "ENABLED", "faceProviderConfig": [:]],
            ["state": "LATER", "totpProviderConfig": ["adjacentIntervals": 11, "more": 1]],
          ],
        ], nil, true, RemoteMFA.TOTP(state: nil, adjacentIntervals: nil)
      ),
      (
        "another type", ["state": 1, "enabledProviders": "x", "providerConfigs": [7]], nil, false,
        nil
      ),
    ] as [(String, JSON?, RemoteMFA.State?, Bool, RemoteMFA.TOTP?)])
  func `second factors are read as the remote has them`(
    name: String, mfa: JSON?, state: RemoteMFA.State?, hasSMS: Bool, totp: RemoteMFA.TOTP?
  ) {
    let read = RemoteMFA(mfa)
    #expect(read.state == state && read.hasSMS == hasSMS && read.totp == totp, "\(name)")
  }

  @Test func `Firebase Authentication alone is told apart`() {
    #expect(!RemoteConfig(["subtype": "FIREBASE_AUTH"]).hasIdentityPlatform)
    #expect(RemoteConfig([:]).hasIdentityPlatform && RemoteConfig([:]).number == nil)
  }

  @Test(
    arguments: [
      ("demo-connected", "", true), ("demo-connected", "https://a.example", false),
      ("short", "", false), ("Upper-case", "", false), ("ends-with-", "", false),
      ("demo/../../x", "", false), ("démo-connected", "", false),
      ("a-project-of-thirty-one-letters", "", false),
    ])
  func `a project has an ID, and at Google no address`(id: String, url: String, isValid: Bool) {
    #expect((RemoteProject(kind: .identityPlatform, id: id, url: url) != nil) == isValid)
  }

  @Test func `a project in another Countersign has an address`() {
    let kind = RemoteProject.Kind.countersign
    #expect(RemoteProject(kind: kind, id: "acme-app") == nil)
    #expect(RemoteProject(kind: kind, id: "acme-app", url: "https://a.example/?a=") == nil)
    let project = RemoteProject(kind: kind, id: "acme-app", url: "https://a.example/mfa/")
    #expect(project?.address == "https://a.example/mfa")
  }

  @Test func `each access level includes the one before it`() {
    #expect(AccessLevel.allCases.sorted() == [.read, .support, .policy])
    #expect(AccessLevel.read.permissions.count == 4 && AccessLevel.policy.permissions.count == 7)
    for level in AccessLevel.allCases {
      #expect(Set(level.permissions).isDisjoint(with: level.excess))
      #expect(
        AccessLevel.policy.permissions.allSatisfy {
          (level.permissions + level.excess).contains($0)
        })
    }
  }
}
