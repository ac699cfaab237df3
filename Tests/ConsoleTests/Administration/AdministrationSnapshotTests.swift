import HTTP
import Identity
import Testing

@testable import Console

/// Snapshots of the pages about administrators and the own account.
@Suite struct AdministrationSnapshotTests {
  @Test func `the administrator pages match their snapshots`() async throws {
    try await World.withSampleData { world in
      _ = try await world.invitation(
        "new@example.com", Grant(role: .policy, project: ID("acme-retail")))
      let ada = try await Browser.signedIn(world)
      let nadia = "/administrators/\(try await world.id(of: World.nadia))"
      for (name, address) in [
        ("administrators", "/administrators"), ("instance-settings", "/instance-settings"),
        ("administrator-new", "/administrators/new"),
        ("administrator", nadia), ("administrator-removal", nadia + "/removal"),
        ("administrator-sessions", nadia + "/sessions"),
      ] {
        try Snapshot.check(try await ada.get(address).text, named: "\(name).html")
      }
    }
  }

  @Test func `the account pages match their snapshots`() async throws {
    try await World.withSampleData { world in
      let iris = try await Browser.signedIn(world, as: World.iris)
      for (name, address) in [
        ("account", "/account"), ("account-totp", "/account/totp"),
        ("account-password", "/account/password"), ("passkey-new", "/account/passkeys/new"),
      ] {
        try Snapshot.check(try await iris.get(address).text, named: "\(name).html")
      }
    }
  }

  @Test func `the invitation and sign-in code pages match their snapshots`() async throws {
    try await World.withSampleData { world in
      let link = try await world.invitation("new@example.com", Grant(role: .auditor))
      let token = String(link.dropFirst("/invitation?token=".count))
      let browser = Browser(world)
      let invitation = try await browser.get(link)
      let form = try invitation.csrf
      func settled(_ answer: Answer) -> String {
        answer.text.replacing(form, with: "00000000000000000000000000000000")
          .replacing(token, with: "TOKEN")
      }
      try Snapshot.check(settled(invitation), named: "invitation.html")
      try Snapshot.check(
        settled(try await browser.get("/invitation?token=x")), named: "invitation-ended.html")
      _ = try await world.authenticator(of: World.ada)
      _ = try await browser.givePassword()
      try Snapshot.check(
        settled(try await browser.get("/sign-in/code")), named: "sign-in-code.html")
    }
  }
}
