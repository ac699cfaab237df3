import HTTP
import Identity
import Testing

@testable import Console

/// Snapshots of every page and of each variant of the frame.
@Suite struct PageTests {
  /// The snapshot's name, the administrator, and the path; `{eu}` is the tenant eu-shop.
  static let pages: [(name: String, who: String?, address: String)] = [
    ("sign-in", nil, "/sign-in"),
    ("projects", World.ada, "/projects"),
    ("projects-support", World.nadia, "/projects"),
    ("project-new", World.ada, "/projects/new"),
    ("project", World.ada, "/projects/acme-retail"),
    ("project-empty", World.ada, "/projects/globex"),
    ("tenants", World.ada, "/projects/acme-retail/tenants"),
    ("tenants-empty", World.ada, "/projects/globex/tenants"),
    ("tenants-not-found", World.ada, "/projects/acme-retail/tenants?q=nothing"),
    ("tenant-new", World.ada, "/projects/acme-retail/tenants/new"),
    ("tenant", World.ada, "{eu}"),
    ("activity", World.nadia, "{eu}/activity"),
    ("activity-not-found", World.nadia, "{eu}/activity?result=rejected&factor=phone"),
    ("activity-wrong", World.iris, "{eu}/activity?day=2026-02-30"),
    ("policy", World.ada, "{eu}/policy"),
    ("policy-unstated", World.tomas, "{us}/policy"),
    ("policy-read-only", World.iris, "{eu}/policy"),
    ("policy-project", World.ada, "/projects/acme-retail/policy"),
    ("policy-change-on", World.ada, "{sandbox}/policy?change=on"),
    ("policy-like-project", World.tomas, "{eu}/policy?change=project"),
    ("policy-mandatory", World.ada, "{eu}/policy?pattern=mandatory"),
    ("policy-affected", World.ada, "{eu}/policy/affected?beyond=0"),
    ("policy-versions", World.ada, "{eu}/policy/versions"),
    ("review", World.ada, "/projects/acme-retail/review"),
    ("review-differs", World.iris, "/projects/acme-retail/review?show=differs&sort=changed"),
    ("review-support", World.nadia, "/projects/acme-retail/review"),
    ("review-empty", World.ada, "/projects/globex/review"),
    ("review-not-found", World.ada, "/projects/acme-retail/review?q=nothing"),
    ("reviews", World.iris, "/review"),
    ("review-queue", World.iris, "/projects/globex/review?queue=1"),
    ("projects-attention", World.ada, "/projects?attention=all"),
    ("find-places", World.ada, "/users?q=shop"),
    ("review-sign-off", World.iris, "/projects/acme-retail/review/sign-off"),
    ("review-evidence", World.ada, "/projects/acme-retail/review/evidence"),
    ("comparison", World.tomas, "{eu}/policy/comparison?with=acme-retail"),
    ("comparison-empty", World.tomas, "{eu}/policy/comparison"),
    ("reports", World.iris, "{eu}/reports"),
    ("reports-policy-admin", World.tomas, "{eu}/reports"),
    ("reports-of-instance", World.ada, "/reports"),
    ("report-removals-empty", World.iris, "{eu}/reports/removals"),
    (
      "report-removals-with-tenants", World.ada,
      "/projects/acme-retail/reports/removals?tenants=all"
    ),
    ("report-removals-of-instance", World.ada, "/reports/removals?period=365"),
    ("report-locked-empty", World.nadia, "{us}/reports/locked"),
    ("report-factors", World.ada, "{eu}/reports/factors?age=old-1"),
    ("report-exemptions-empty", World.nadia, "{eu}/reports/exemptions"),
    ("exemptions-empty", World.iris, "/exemptions"),
    ("exemption", World.ada, "{eu}/users/\(World.chiara)/exemption"),
    ("users", World.ada, "{eu}/users"),
    ("users-found", World.nadia, "{eu}/users?q=chi"),
    ("users-not-found", World.nadia, "{eu}/users?q=nobody"),
    ("users-empty", World.ada, "/projects/globex/users"),
    ("users-unverified", World.ada, "{eu}/users?state=unverified&sort=name"),
    ("users-no-match", World.ada, "{eu}/users?factor=phone"),
    ("user-new", World.ada, "{eu}/new-user"),
    ("user-deletion", World.ada, "{eu}/users/\(World.chiara)/deletion"),
    ("user-data", World.ada, "{eu}/users/\(World.chiara)/data"),
    ("user-erasure", World.ada, "{eu}/users/\(World.chiara)/erasure"),
    ("deleted-user-erasure", World.ada, "{eu}/erasure"),
    ("user-support", World.nadia, "{eu}/users/\(World.chiara)"),
    ("find-users", World.ada, "/users"),
    ("find-users-found", World.ada, "/users?q=example"),
    ("find-users-not-found", World.nadia, "/users?q=nobody"),
    ("factor-name", World.nadia, "{eu}/users/\(World.chiara)/factors/{factor}/name"),
    ("removal-of-all", World.nadia, "{eu}/users/\(World.chiara)/factors/removal"),
    ("user", World.ada, "{eu}/users/\(World.chiara)"),
    ("user-without-factor", World.ada, "{eu}/users/u77TnC0aPzQ4hW1sGv9M"),
    ("user-rtl", World.ada, "{eu}/users/b4Lz81WcQm0RtY2pKx7D"),
    ("removal", World.nadia, "{eu}/users/\(World.chiara)/factors/{factor}/removal"),
    ("settings", World.ada, "{eu}/settings"),
    ("settings-project", World.ada, "/projects/acme-retail/settings"),
    ("settings-read-only", World.iris, "/projects/acme-retail/settings"),
    ("sign-in-methods", World.ada, "{eu}/settings/sign-in-methods"),
    ("sign-in-methods-read-only", World.iris, "/projects/acme-retail/settings/sign-in-methods"),
    ("keys", World.ada, "/projects/acme-retail/settings/keys"),
    ("settings-sign-in", World.tomas, "{eu}/settings/sign-in"),
    ("token-new", World.tomas, "{eu}/settings/tokens/new"),
    ("key-revocation", World.ada, "/projects/acme-retail/settings/keys/{key}/revocation"),
    ("providers", World.ada, "{eu}/settings/providers"),
    ("providers-empty", World.tomas, "{us}/settings/providers"),
    ("provider", World.ada, "{eu}/settings/providers/oidc.staff"),
    ("provider-read-only", World.iris, "{eu}/settings/providers/oidc.staff"),
    ("provider-new", World.ada, "/projects/acme-retail/settings/providers/new"),
    ("provider-removal", World.ada, "{eu}/settings/providers/oidc.staff/removal"),
    ("trusted-token-keys", World.ada, "/projects/acme-retail/settings/custom-token-keys"),
    ("trusted-token-keys-empty", World.ada, "/projects/globex/settings/custom-token-keys"),
    ("custom-token-key-new", World.ada, "/projects/acme-retail/settings/custom-token-keys/new"),
    (
      "custom-token-key-revocation", World.ada,
      "/projects/acme-retail/settings/custom-token-keys/{signer}/revocation"
    ),
    ("deletion-project", World.ada, "/projects/acme-retail/settings/deletion"),
    ("deletion-tenant", World.ada, "{eu}/settings/deletion"),
    ("audit", World.ada, "{eu}/audit"),
    ("audit-empty", World.ada, "{sandbox}/audit?action=signer.revoke"),
    ("audit-filtered", World.iris, "{eu}/audit?actor=administrator%3Atomas&from=2026-11-16"),
    ("audit-wrong", World.ada, "{eu}/audit?from=2026-02-30"),
    ("audit-of-all", World.iris, "/audit"),
    ("audit-retention", World.ada, "/audit/retention"),
    ("session-limits", World.ada, "/administrators/session-limits"),
    ("passkey-requirement", World.ada, "/administrators/passkeys"),
    ("sign-in-provider", World.ada, "/administrators/sign-in-provider"),
    ("pool-guidance-empty", World.ada, "{eu}/guidance"),
    ("pool-guidance-edit", World.ada, "{eu}/guidance/edit"),
    ("sign-in-simulator", World.nadia, "/sign-in-simulator"),
    ("sign-in-simulator-found", World.ada, "/sign-in-simulator?q=chiara.bianchi@example.com"),
    ("sign-in-simulator-not-found", World.ada, "/sign-in-simulator?q=nobody"),
    ("guides", World.ada, "/guides"),
    ("guides-signed-out", nil, "/guides"),
    ("guide", World.ada, "/guides/step-up"),
    ("guide-signed-out", nil, "/guides/mandatory/build"),
    ("sign-out", World.ada, "/sign-out"),
    ("not-found", World.ada, "/nowhere"),
    ("not-allowed", World.tomas, "/projects/acme-retail/users"),
    ("guide-of-tenant", World.ada, "/guides/common/build?project=acme-retail&tenant={eu-id}"),
    ("removals-empty", World.nadia, "{eu}/bulk-removals"),
    ("approvals-empty", World.nadia, "/approvals"),
  ]

  @Test func `every page matches its snapshot`() async throws {
    try await World.withSampleData { world in
      for page in Self.pages {
        let browser =
          page.who == nil ? Browser(world) : try await Browser.signedIn(world, as: page.who ?? "")
        let answer = try await browser.get(try await world.filled(page.address))
        try Snapshot.check(answer.settled, named: "\(page.name).html")
      }
    }
  }

  /// The variants of the console's frame; tests of the pages behind emailed links check theirs.
  @Test func `every frame matches its snapshot`() async throws {
    let frames: [(name: String, who: String?, address: String)] = [
      ("frame-signed-out", nil, "/sign-in"),
      ("frame-instance", World.ada, "/projects"),
      ("frame-instance-support", World.nadia, "/projects"),
      ("frame-instance-narrow", World.ada, "/projects/new"),
      ("frame-project", World.ada, "/projects/acme-retail"),
      ("frame-project-auditor", World.iris, "/projects/acme-retail/settings"),
      ("frame-tenant", World.ada, "{eu}/policy"),
      ("frame-tenant-support", World.nadia, "{eu}/users/\(World.chiara)"),
      ("frame-account", World.iris, "/account"),
    ]
    try await World.withSampleData { world in
      for frame in frames {
        let browser =
          frame.who == nil
          ? Browser(world) : try await Browser.signedIn(world, as: frame.who ?? "")
        let answer = try await browser.get(try await world.filled(frame.address))
        try Snapshot.checkFrame(of: answer.settled, named: "\(frame.name).html")
      }
    }
  }

  @Test func `the setup page matches its snapshot`() async throws {
    try await World.empty { world in
      try Snapshot.check(try await Browser(world).get("/setup").settled, named: "setup.html")
    }
  }
}

extension World {
  /// The path, with random IDs filled in.
  func filled(_ address: String) async throws -> String {
    var address = address
    for (mark, name) in [("{eu}", "eu-shop"), ("{us}", "us-shop"), ("{sandbox}", "sandbox")] {
      let path = "/projects/acme-retail/tenants/\(try await tenantID(name).text)"
      address = address.replacing(mark, with: path)
    }
    let key = try await identity.apiKeys.list(ID("acme-retail")).first?.id.text ?? ""
    address = address.replacing("{eu-id}", with: try await euShop.text)
      .replacing("{key}", with: key).replacing("{signer}", with: try await signer())
    return address.replacing("{factor}", with: try await factor(of: World.chiara).text)
  }
}

extension Answer {
  /// The page, with the CSRF token of a form before sign-in replaced, which differs between runs.
  var settled: String {
    guard address == "/sign-in" || address == "/setup", let token = value(of: "csrf") else {
      return text
    }
    return text.replacing(token, with: "00000000000000000000000000000000")
  }
}
