import Crypto
import Database
import Identity
import OpenIDConnect
import Testing

@testable import TestIdentity

struct IdentityProviderTests {
  @Test func `a provider is created, changed, and deleted, each with an audit entry`() async throws
  {
    try await withInstance { instance in
      let providers = instance.identity.identityProviders
      let created = try await providers.create(
        in: instance.acme, id: "oidc.acme", .oidc(), by: .program(Instance.boss)
      ).value
      #expect(created.kind == .oidc)
      let found = try await providers.find(instance.acme, "oidc.acme")
      #expect(found.settings.clientSecret == Secret("not for everybody"))
      #expect(found.settings.keys.names == ["k1"])
      let unchanged = try await providers.update(
        instance.acme, "oidc.acme", by: .program(Instance.boss)
      ) {
        (settings) throws(ProviderError) in settings.displayName = "Acme login"
      }.value
      #expect(unchanged.changedAt == created.changedAt)
      instance.clock.advance(60)
      let changed = try await providers.update(
        instance.acme, "oidc.acme", by: .program(Instance.boss)
      ) {
        (settings) throws(ProviderError) in
        settings.isEnabled = false
        settings.clientSecret = Secret("another")
      }.value
      #expect(changed.changedAt > created.changedAt)
      let row = try #require(try await instance.log().first)
      #expect(row.old(.signIn) == .flag(true))
      #expect(row.fields == [.signIn, .clientSecret] && row.new(.clientSecret) == .secret)
      try await providers.delete(instance.acme, "oidc.acme", by: .program(Instance.boss))
      await expect("notFound") { try await providers.find(instance.acme, "oidc.acme") }
      await expect("notFound") {
        try await providers.delete(instance.acme, "oidc.acme", by: .program(Instance.boss))
      }
      #expect(
        try await instance.log().prefix(3).map(\.action) == [
          .providerDelete, .providerChange, .providerCreate,
        ])
    }
  }

  @Test func `the client secret is stored sealed`() async throws {
    try await withInstance { instance in
      _ = try await instance.identity.identityProviders.create(
        in: instance.acme, id: "oidc.acme", .oidc(), by: .program(Instance.boss))
      let box = try await instance.database.read { connection in
        try connection.first("SELECT /* test */ sealed_secret FROM identity_provider") {
          try $0.next() as [UInt8]
        }
      }
      #expect(!String(decoding: try #require(box), as: UTF8.self).contains("everybody"))
      // A row moved to another pool can't be opened.
      let west = instance.west.key
      try await instance.database.write { connection in
        _ = try connection.run("UPDATE /* test */ identity_provider SET scope_key = \(west)")
      }
      await expect("unavailable") {
        try await instance.identity.identityProviders.find(instance.west, "oidc.acme")
      }
    }
  }

  @Test func `each pool has its own providers, listed by protocol and page`() async throws {
    try await withInstance { instance in
      let providers = instance.identity.identityProviders
      for id in ["oidc.b", "oidc.a", "oidc.c"] {
        try await providers.create(
          in: instance.acme, id: id, .oidc(), by: .program(Instance.boss))
      }
      var saml = ProviderSettings()
      saml.members = """
        {"idpConfig":{"idpEntityId":"e","ssoUrl":"https://sso.example","idpCertificates":[
        {"x509Certificate":"CERT"}]},"spConfig":{"spEntityId":"s","callbackUri":"https://a.example"}}
        """
      try await providers.create(in: instance.acme, id: "saml.a", saml, by: .program(Instance.boss))
      await expect("exists") {
        try await providers.create(
          in: instance.acme, id: "oidc.a", .oidc(), by: .program(Instance.boss))
      }
      let first = try await providers.list(instance.acme, kind: .oidc, limit: 2)
      #expect(first.items.map(\.id.text) == ["oidc.a", "oidc.b"])
      let rest = try await providers.list(instance.acme, kind: .oidc, after: first.next, limit: 2)
      #expect(rest.items.map(\.id.text) == ["oidc.c"])
      #expect(rest.next == nil)
      #expect(
        try await providers.list(instance.acme, kind: .saml).items.map(\.id.text) == ["saml.a"])
      #expect(try await providers.list(instance.acme).items.count == 4)
      #expect(try await providers.list(instance.east).items.isEmpty)
      try await instance.identity.pools.delete(
        project: instance.acme.project, by: .program(Instance.boss))
      #expect(try await providers.list(instance.acme).items.isEmpty)
    }
  }

  @Test(arguments: [
    "", "oidc.", "oidc", "google.com", "OIDC.a", "oidc.a b", "oidc.é", "oidc.a/b", "oidc.<script>",
    "oidc.\(String(repeating: "a", count: 124))",
  ])
  func `an invalid provider ID is rejected`(id: String) async throws {
    try await withInstance { instance in
      await expect("invalidID") {
        try await instance.identity.identityProviders.create(
          in: instance.acme, id: id, .oidc(), by: .program(Instance.boss))
      }
    }
  }

  @Test(arguments: [
    ("client", "", "missingClientID"), ("client", "two words", "invalidClientID"),
    ("issuer", "", "missingIssuer"), ("issuer", "http://a.example", "invalidIssuer"),
    ("issuer", "https://", "invalidIssuer"), ("issuer", "https://a.example?q", "invalidIssuer"),
    ("issuer", "https://a@b.example", "invalidIssuer"),
    ("issuer", "https://a.example/tenant/v2.0", "done"),
    ("name", String(repeating: "ü", count: 257), "nameTooLong"),
    ("members", #"{"responseType":{"idToken":true,"code":true}}"#, "severalResponseTypes"),
    ("members", #"{"responseType":{"idToken":false}}"#, "invalidResponseType"),
    ("members", #"{"responseType":{"code":true}}"#, "done"),
    ("secret", #"{"responseType":{"code":true}}"#, "missingClientSecret"),
  ])
  func `each setting is validated`(member: String, value: String, result: String) async throws {
    try await withInstance { instance in
      var settings = try ProviderSettings.oidc()
      switch member {
      case "client": settings.clientID = value
      case "issuer": settings.issuer = value
      case "name": settings.displayName = value
      case "secret":
        settings.clientSecret = nil
        settings.members = value
      default: settings.members = value
      }
      let given = settings
      await expect(result) {
        try await instance.identity.identityProviders.create(
          in: instance.acme, id: "oidc.a", given, by: .program(Instance.boss))
      }
    }
  }

  @Test(arguments: [
    ("{}", "missingRelyingParty"), (#"{"spConfig":{"spEntityId":"s"}}"#, "invalidMember"),
    (#"{"spConfig":{"spEntityId":"s"},"idpConfig":{"idpEntityId":"e"}}"#, "invalidMember"),
    (
      #"{"spConfig":{"spEntityId":"s"},"idpConfig":{"idpEntityId":"e","ssoUrl":"https://a.b"}}"#,
      "invalidMember"
    ),
    (
      #"{"spConfig":{"x":"s"},"idpConfig":{"idpEntityId":"e","ssoUrl":"https://a.b","idpCertificates":[{"x509Certificate":"C"}]}}"#,
      "invalidMember"
    ),
    (
      #"{"spConfig":{"spEntityId":"s"},"idpConfig":{"idpEntityId":"e","ssoUrl":"https://a.b","idpCertificates":[{"x509Certificate":"C"}]}}"#,
      "done"
    ),
  ])
  func `a SAML provider requires its protocol settings`(members: String, result: String)
    async throws
  {
    try await withInstance { instance in
      var settings = ProviderSettings()
      settings.members = members
      let given = settings
      await expect(result) {
        try await instance.identity.identityProviders.create(
          in: instance.acme, id: "saml.a", given, by: .program(Instance.boss))
      }
    }
  }
}
