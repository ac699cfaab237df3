import Crypto
import HTTP
import Identity
import Testing

@testable import Console

/// The policy with which a new tenant starts, and that of a tenant whose TOTP is turned on.
@Suite struct NewTenantTests {
  private static let form = "/projects/acme-retail/tenants/new"

  private func project(_ world: World) async throws -> Pool {
    try await world.identity.pools.existing(project: ID("acme-retail"))
  }

  /// Turns on TOTP in the project, with a window of 1.
  private func turnOn(_ world: World) async throws -> Policy {
    try await world.identity.policies.change(
      try await project(world), by: .program(Author(actor: .commandLine))
    ) {
      $0.configuration.totp = TOTPConfiguration(state: .enabled, adjacentIntervals: 1)
      $0.pattern = .mandatory
    }.value.policy
  }

  private func policy(_ world: World, of tenant: String) async throws -> Policy {
    let pool = try await world.identity.pools.existing(
      project: ID("acme-retail"), tenant: try await world.tenantID(tenant))
    return try await world.identity.policies.read(pool)
  }

  @Test func `a new tenant starts with the project's policy, or with TOTP off`() async throws {
    try await World.withSampleData { world in
      let project = try await turnOn(world)
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let page = try await tomas.get(Self.form)
      Markup.check(page)
      #expect(page.says("name=\"policy\" value=\"project\" checked"))
      #expect(page.says("TOTP is on, ±1 interval, mandatory at sign-up"))
      let source = try #require(page.value(of: "source"))
      let like = try await tomas.submit(
        Self.form, ["name": "north", "policy": "project", "source": source])
      let address = try #require(like.location)
      #expect(try await tomas.get(address).says("Tenant created with the policy of"))
      #expect(try await policy(world, of: "north").edit == project.edit)
      let others: [Form] = [["name": "south", "policy": "off"], ["name": "west"]]
      for form in others {
        let name = form.trimmed("name")
        #expect(try await tomas.submit(Self.form, form).status == .seeOther)
        #expect(try await policy(world, of: name).configuration.isTOTPOn == false)
      }
    }
  }

  @Test func `a policy that changed meanwhile is shown before it's copied`() async throws {
    try await World.withSampleData { world in
      _ = try await turnOn(world)
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let source = try #require(try await tomas.get(Self.form).value(of: "source"))
      _ = try await world.identity.policies.change(
        try await project(world), by: .program(Author(actor: .commandLine))
      ) { $0.configuration.totp?.adjacentIntervals = 3 }
      let form: Form = ["name": "north", "policy": "project", "source": source]
      let late = try await tomas.submit(Self.form, form)
      Markup.check(late)
      #expect(late.status == .unprocessableContent && late.says("policy changed meanwhile"))
      #expect(late.says("±3 intervals") && late.says("value=\"north\""))
      #expect(late.value(of: "source") != source)
      let other = try await tomas.submit(Self.form, ["name": "north", "policy": "strict"])
      #expect(other.status == .unprocessableContent && other.says("Select a policy."))
    }
  }

  @Test func `without a policy to copy, the form says that TOTP is off`() async throws {
    try await World.withSampleData { world in
      let page = try await Browser.signedIn(world, as: World.tomas).get(Self.form)
      #expect(!page.says("name=\"policy\"") && page.says("New tenants start with TOTP off"))
    }
  }

  @Test func `turning on TOTP proposes the project's window, which can be changed`() async throws {
    try await World.withSampleData { world in
      _ = try await turnOn(world)
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let tenant = try await world.tenantID("sandbox").text
      let address = "/projects/acme-retail/tenants/\(tenant)/policy"
      let check = try await tomas.get(address + "?change=on")
      Markup.check(check)
      #expect(check.chosenIntervals == "1")
      var form: Form = ["csrf": try check.csrf, "intervals": "2"]
      for name in ["version", "totp", "sms", "pattern", "from", "enforcement", "grace"] {
        form.add(name, try #require(check.value(of: name), "\(name)"))
      }
      #expect(try await tomas.post(address + "/changes", form).location == address)
      let totp = try await policy(world, of: "sandbox").configuration.totp
      #expect(totp == TOTPConfiguration(state: .enabled, adjacentIntervals: 2))
    }
  }

  @Test func `who can't read the project's policy is proposed the default`() async throws {
    try await World.withSampleData { world in
      _ = try await turnOn(world)
      let tenant = try await world.tenantID("sandbox")
      _ = try await world.identity.administrators.create(
        email: "tenant@example.com", displayName: "Teo", password: Secret(World.password),
        grant: Grant(role: .policy, project: ID("acme-retail"), tenant: tenant),
        by: Author(actor: .commandLine))
      let teo = try await Browser.signedIn(world, as: "tenant@example.com")
      let check = try await teo.get(
        "/projects/acme-retail/tenants/\(tenant.text)/policy?change=on")
      #expect(check.chosenIntervals == "default")
    }
  }
}
