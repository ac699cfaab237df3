import HTTP
import Identity
import Testing
import Text

@testable import Console

/// Roles from groups, accounts that the provider created, and where roles apply, on pages.
@Suite struct ProviderRolePageTests {
  private typealias Provider = SignInProviderPageTests
  private static let page = "/administrators/sign-in-provider"
  private static let nora = "nora@example.com"

  private static func form(roles: String) -> Form {
    var form = Form(Provider.form.entries.filter { $0.name != "roles" })
    form.add("roles", roles)
    return form
  }

  @Test func `a missing or unknown scope never becomes the whole instance`() async throws {
    try await World.withSampleData { world in
      let ada = try await Provider.setUp(world)
      #expect(try await ada.get(Self.page).says(">admins: owner *</textarea>"))
      for line in [
        "admins: owner", "admins: owner /", "admins: owner acme-retail/", "admins: owner /eu",
        "admins: owner */eu", "admins: owner acme-retail/eu/x", "admins: owner * *",
        "admins: boss *", "admins owner *", ": owner *",
      ] {
        let refused = try await ada.submit(Self.page, Self.form(roles: "ops: support *\r\n" + line))
        #expect(refused.status == .unprocessableContent && refused.says("id=\"roles-error\""))
        #expect(refused.says("Line 2: enter a group"), "\(line)")
      }
      let unknown = try await ada.submit(
        Self.page, Self.form(roles: "a:b: owner no-such-project"))
      Markup.check(unknown)
      #expect(unknown.status == .unprocessableContent)
      #expect(unknown.says("Line 1: this project or tenant doesn’t exist."))
      #expect(unknown.says(">a:b: owner no-such-project</textarea>"))
      let stored = try await world.identity.consoleProviders.find()
      #expect(stored?.roles == [GroupRole(group: "admins", grant: Grant(role: .owner))])
      let iris = "/administrators/\(try await world.id(of: World.iris))"
      let grants = iris + "/grants"
      let gone = try await ada.submit(
        iris, ["role": "owner", "place": "acme-retail/gone"], to: grants)
      Markup.check(gone)
      #expect(gone.says("<option value=\"acme-retail/gone\" selected>"))
      for form in [
        ["role": "owner", "place": ""] as Form, ["role": "owner", "place": "acme-retail/"],
        ["role": "owner", "place": "/eu"], ["role": "owner", "place": "*/eu"],
        ["role": "owner", "project": "acme-retail/eu", "tenant": ""],
      ] {
        let empty = try await ada.submit(iris, form, to: grants)
        #expect(empty.status == .unprocessableContent && empty.says("id=\"place-error\""))
      }
      let record = try await world.identity.administrators.record(email: World.iris)
      #expect(record.administrator.grants == [Grant(role: .auditor)])
    }
  }

  @Test func `a form starts without a scope, so that the widest has to be chosen`() async throws {
    try await World.withSampleData { world in
      let ada = try await Provider.setUp(world)
      let iris = try await world.id(of: World.iris)
      for page in ["/administrators/new", "/administrators/\(iris)"] {
        #expect(
          try await ada.get(page).says(
            "<option value=\"\" selected>Choose a project or tenant</option>"),
          "\(page)")
      }
    }
  }

  @Test func `the text of a scope is read as the same scope`() {
    for role in Role.allCases {
      for grant in [
        Grant(role: role), Grant(role: role, project: ID("acme")),
        Grant(role: role, project: ID("acme"), tenant: ID("eu")),
      ] {
        #expect(GrantScope(GrantScope(grant).text).grant(role) == grant)
        let groupRole = GroupRole(group: "cn=a b, ou: c", grant: grant)
        #expect(GroupRole(line: groupRole.line) == groupRole)
        #expect(GrantAnswers(GrantAnswers(grant).query).grant().grant == grant)
      }
    }
  }

  @Test func `a group's role is marked, has no end, and is said to return`() async throws {
    try await World.withSampleData { world in
      let ada = try await Provider.setUp(world)
      _ = try await Provider.signIn(Browser(world))
      let address = "/administrators/\(try await world.id(of: Self.nora))"
      let page = try await ada.get(address)
      Markup.check(page)
      #expect(page.says("From the sign-in provider"))
      #expect(!page.values(of: "href").contains { $0.contains("/grants/end") })
      let refused = try await ada.submit(
        address,
        ["role": "owner", "project": "*", "tenant": "", "last": "2026-12-31"],
        to: address + "/grants/end")
      Markup.check(refused)
      #expect(refused.status == .unprocessableContent)
      #expect(refused.says("would return at the next sign-in"))
      let question = try #require(
        page.values(of: "href").first { $0.contains("/grants/removal") })
      #expect(try await ada.get(question).says("this role again at their next sign-in"))
      let removal = try await ada.get(address + "/removal")
      Markup.check(removal)
      #expect(removal.says("makes them an administrator again at their next sign-in"))
    }
  }

  @Test func `an account that can no longer sign in is shown, with what to do`() async throws {
    try await World.withSampleData { world in
      let ada = try await Provider.setUp(world)
      _ = try await Provider.signIn(Browser(world))
      let removed = try await ada.submit(Self.page + "/removal", ["note": "Another provider"])
      #expect(removed.location == "/instance-settings")
      #expect(try await ada.get("/administrators").says(">can’t sign in</span>"))
      _ = try await ada.submit(Self.page, Provider.form)
      let refused = try await Provider.signIn(Browser(world))
      Markup.check(refused)
      #expect(refused.status == .forbidden)
      #expect(refused.says("Ask an administrator with the owner role."))
      let address = "/administrators/\(try await world.id(of: Self.nora))"
      let page = try await ada.get(address)
      Markup.check(page)
      #expect(page.says("This administrator can’t sign in: their account has no password"))
      #expect(page.says("Then invite them again"))
      _ = try await ada.submit(address + "/removal", ["confirmation": Self.nora])
      #expect(try await Provider.signIn(Browser(world)).location == "/")
    }
  }

  @Test func `while password sign-in is off, no one is invited, and the break-glass account stays`()
    async throws
  {
    try await World.withSampleData { world in
      let link = try await world.invitation("new@example.com", Grant(role: .auditor))
      _ = try await Provider.setUp(world)
      let nora = Browser(world)
      _ = try await Provider.signIn(nora)
      let id = try await world.id(of: World.ada)
      #expect(try await nora.submit(Self.page, Provider.form(breakGlass: id)).location == Self.page)
      let new = try await nora.get("/administrators/new")
      Markup.check(new)
      #expect(new.says("Invitations can’t be accepted while password sign-in is off."))
      #expect(!new.says("name=\"email\""))
      let invitation = try await Browser(world).get(link)
      Markup.check(invitation)
      #expect(invitation.says("Password sign-in is off.") && !invitation.says("type=\"password\""))
      let iris = try await nora.get("/administrators/\(try await world.id(of: World.iris))")
      Markup.check(iris)
      #expect(
        iris.says("Turn on password sign-in so that they can sign in and link their account."))
      let address = "/administrators/\(id)/removal"
      let refused = try await nora.submit(address, ["confirmation": World.ada])
      Markup.check(refused)
      #expect(refused.says("This is the break-glass account."))
    }
  }

  @Test func `the deletion of a project lists its roles and invitations`() async throws {
    try await World.withSampleData { world in
      let project = Grant(role: .auditor, project: ID("acme-retail"))
      _ = try await world.invitation("new@example.com", project)
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get("/projects/acme-retail/settings/deletion")
      Markup.check(page)
      #expect(page.says("administrator roles.") || page.says("administrator role."))
      #expect(page.says("1 pending administrator invitation."))
    }
  }
}
