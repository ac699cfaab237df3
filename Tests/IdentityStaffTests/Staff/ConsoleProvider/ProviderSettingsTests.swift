import Crypto
import JSON
import OpenIDConnect
import TestProvider
import Testing

@testable import Identity
@testable import TestIdentity

struct ProviderSettingsTests {
  private static func check(
    _ expected: [ConsoleProviderFault], _ instance: Instance,
    _ edit: (inout ConsoleProvider) -> Void = { _ in }
  ) async throws {
    var provider = Instance.consoleProvider()
    edit(&provider)
    let found = try await instance.identity.consoleProviders.faults(of: provider)
    #expect(found == expected)
  }

  @Test func `problems of the fields and of the provider are reported`() async throws {
    try await withInstance { instance in
      let missing = Grant(role: .owner, project: ID("none"))
      try await Self.check([], instance)
      try await Self.check([.invalidName], instance) { $0.name = "" }
      try await Self.check([.invalidClientID], instance) { $0.clientID = "" }
      try await Self.check([.invalidScopes], instance) { $0.scopes = "email" }
      try await Self.check([.invalidGroupsClaim], instance) { $0.groupsClaim = "" }
      try await Self.check([.invalidMFAValues], instance) {
        $0.mfaValues = Array(repeating: "a", count: 21)
      }
      try await Self.check([.placeNotFound(1)], instance) {
        $0.roles = [GroupRole(group: "a", grant: missing)]
      }
      for issuer in ["", "http://id.example.com", "https://id.example.com?a", "id.example.com"] {
        try await Self.check([.invalidIssuer], instance) { $0.issuer = issuer }
      }
      try await Self.check([.discovery(.otherIssuer)], instance) { $0.issuer += "/" }
      instance.provider.change { $0.document = ["jwks_uri": "http://id.example.com/keys"] }
      try await Self.check([.invalidAddress("jwks_uri")], instance)
      instance.provider.change { behavior in
        behavior.document = [:]
        behavior.published = []
      }
      try await Self.check([.noKeys], instance)
      instance.provider.change { $0.isDown = true }
      try await Self.check([.unreachable("connection refused")], instance)
    }
  }

  @Test func `the secret is encrypted, re-encrypted, and bound to the client`() async throws {
    try await withInstance { instance in
      let owner = try await instance.setUpProvider()
      let providers = instance.identity.consoleProviders
      let stored = try #require(try await providers.find())
      #expect(stored.hasSecret)
      #expect(try await !instance.wholeLog().description.contains("s3cret"))
      let row = try #require(try await instance.wholeLog().first)
      #expect(row.action == .instanceChangeSignInProvider)
      #expect(row.new(.clientSecret) == .secret && row.new(.issuer) == .text(TestProvider.issuer))
      // Nothing changes without a new secret.
      let request = owner.request(nil, note: "Again")
      #expect(
        try await !providers.save(Instance.consoleProvider(), secret: nil, request).value)
      var other = Instance.consoleProvider()
      other.clientID = "other"
      _ = try await providers.save(other, secret: nil, request)
      #expect(try await providers.find()?.hasSecret == false)
    }
  }

  @Test func `other roles of groups apply at once to the groups of the last sign-in`() async throws
  {
    try await withInstance { instance in
      let owner = try await instance.setUpProvider()
      let session = try await instance.providerSession()
      let auditors = GroupRole(group: "admins", grant: Grant(role: .auditor))
      _ = try await instance.identity.consoleProviders.save(
        Instance.consoleProvider([auditors]), secret: nil,
        owner.request(nil, note: "Fewer owners"))
      #expect(
        try await instance.grants(of: session.administrator.id) == [Grant(role: .auditor)])
    }
  }

  @Test func `removal revokes roles, removes links, and ends sessions`() async throws {
    try await withInstance { instance in
      let owner = try await instance.setUpProvider()
      let session = try await instance.providerSession()
      let providers = instance.identity.consoleProviders
      _ = try await providers.remove(owner.request(nil, note: "No longer used"))
      #expect(try await providers.find() == nil)
      let id = session.administrator.id
      #expect(try await instance.grants(of: id).isEmpty)
      #expect(try await instance.identity.consoleSessions.list(of: id).isEmpty)
      await expect("notConfigured") { _ = try await instance.visit() }
      await expect("notFound") {
        _ = try await providers.remove(owner.request(nil, note: "Again"))
      }
    }
  }
}
