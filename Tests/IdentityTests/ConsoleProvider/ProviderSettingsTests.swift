import Crypto
import JSON
import OpenIDConnect
import TestProvider
import Testing

@testable import Identity

struct ProviderSettingsTests {
  private static func faults(
    _ instance: Instance, _ edit: (inout ConsoleProvider) -> Void
  ) async throws -> [ConsoleProviderFault] {
    var provider = Instance.consoleProvider()
    edit(&provider)
    return try await instance.identity.consoleProviders.faults(of: provider)
  }

  @Test func `problems of the fields and of the provider are reported`() async throws {
    try await withInstance { instance in
      let missing = Grant(role: .owner, project: ID("none"))
      #expect(try await Self.faults(instance) { _ in } == [])
      #expect(try await Self.faults(instance) { $0.name = "" } == [.invalidName])
      #expect(try await Self.faults(instance) { $0.clientID = "" } == [.invalidClientID])
      #expect(try await Self.faults(instance) { $0.scopes = "email" } == [.invalidScopes])
      #expect(try await Self.faults(instance) { $0.groupsClaim = "" } == [.invalidGroupsClaim])
      #expect(
        try await Self.faults(instance) {
          $0.mfaValues = Array(repeating: "a", count: 21)
        } == [.invalidMFAValues])
      #expect(
        try await Self.faults(instance) {
          $0.roles = [GroupRole(group: "a", grant: missing)]
        } == [.placeNotFound(1)])
      for issuer in ["", "http://id.example.com", "https://id.example.com?a", "id.example.com"] {
        #expect(try await Self.faults(instance) { $0.issuer = issuer } == [.invalidIssuer])
      }
      #expect(
        try await Self.faults(instance) { $0.issuer += "/" } == [.discovery(.otherIssuer)])
      instance.provider.change { $0.document = ["jwks_uri": "http://id.example.com/keys"] }
      #expect(try await Self.faults(instance) { _ in } == [.invalidAddress("jwks_uri")])
      instance.provider.change { behavior in
        behavior.document = [:]
        behavior.published = []
      }
      #expect(try await Self.faults(instance) { _ in } == [.noKeys])
      instance.provider.change { $0.isDown = true }
      #expect(
        try await Self.faults(instance) { _ in } == [.unreachable("connection refused")])
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
        try await !providers.save(
          Instance.consoleProvider(), secret: nil, isConfirmed: false, request
        ).value)
      var other = Instance.consoleProvider()
      other.clientID = "other"
      _ = try await providers.save(other, secret: nil, isConfirmed: false, request)
      #expect(try await providers.find()?.hasSecret == false)
    }
  }

  @Test func `changes of roles are previewed, and have to be confirmed`() async throws {
    try await withInstance { instance in
      let owner = try await instance.setUpProvider()
      let session = try await instance.providerSession()
      let providers = instance.identity.consoleProviders
      let auditors = GroupRole(group: "admins", grant: Grant(role: .auditor))
      let new = Instance.consoleProvider([auditors])
      let changes = try await providers.changes(by: new)
      #expect(changes.map(\.granted) == [[Grant(role: .auditor)]])
      #expect(changes.map(\.revoked) == [[Grant(role: .owner)]])
      #expect(try await providers.change(of: "248289761001", by: new) == changes.first)
      #expect(try await providers.change(of: "nobody", by: new) == nil)
      #expect(try await providers.grants(of: ["admins", "x"], by: new) == [Grant(role: .auditor)])
      let request = owner.request(nil, note: "Fewer owners")
      await expect("failed.unconfirmed") {
        _ = try await providers.save(new, secret: nil, isConfirmed: false, request)
      }
      #expect(
        try await instance.grants(of: session.administrator.id) == [Grant(role: .owner)])
      _ = try await providers.save(new, secret: nil, isConfirmed: true, request)
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
      await expect("failed.notFound") {
        _ = try await providers.remove(owner.request(nil, note: "Again"))
      }
    }
  }
}
