import HTTP
import Identity
import TestDatabases
import Testing

@testable import Console

/// Cross-site request forgery and invalid forms.
@Suite struct ForgeryTests {
  static let own: Fields = [.origin: World.publicURL, .secFetchSite: "same-origin"]

  @Test(
    arguments: [
      ("https://evil.example", nil, Status.forbidden),
      ("null", nil, .forbidden),
      ("http://mfa.example.com", nil, .forbidden),
      ("https://mfa.example.com:8443", nil, .forbidden),
      (nil, nil, .forbidden),
      (nil, "cross-site", .forbidden),
      (nil, "none", .forbidden),
      (World.publicURL, "cross-site", .forbidden),
      (World.publicURL, "same-site", .forbidden),
      (World.publicURL, nil, .seeOther),
      (nil, "same-origin", .seeOther),
      (World.publicURL, "none", .seeOther),
    ] as [(String?, String?, Status)])
  func `C5: a form is accepted only from the console's own origin`(
    origin: String?, site: String?, status: Status
  ) async throws {
    var fields = Fields()
    fields[.origin] = origin
    fields[.secFetchSite] = site
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let form: Form = [
        "csrf": try await browser.get("/projects/new").csrf, "name": "New", "id": "new-project",
      ]
      let answer = try await browser.send(.post, "/projects/new", form: form, fields: fields)
      #expect(answer.status == status)
      let created = try? await world.identity.pools.existingSettings(project: ID("new-project"))
      #expect((created != nil) == (status == .seeOther))
    }
  }

  @Test func `C5: a form requires the CSRF token of its session`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let other = try await Browser.signedIn(world, as: World.tomas).get("/projects").csrf
      let cut = String(try await browser.get("/projects").csrf.dropLast())
      for token in [nil, "", "x", other, cut] {
        var form: Form = ["name": "New", "id": "new-project"]
        if let token { form.add("csrf", token) }
        let answer = try await browser.post("/projects/new", form)
        #expect(answer.status == .forbidden)
        #expect(answer.says("This form is no longer valid"))
      }
      let created = try? await world.identity.pools.existingSettings(project: ID("new-project"))
      #expect(created == nil)
    }
  }

  @Test(arguments: ["/sign-in", "/setup"])
  func `C5: a form before sign-in requires the CSRF token of its cookie`(address: String)
    async throws
  {
    try await World.withSampleData { world in
      let browser = Browser(world)
      let form: Form = ["email": World.ada, "password": World.password]
      #expect(try await browser.post(address, form).status == .forbidden)
      let token = try await Browser(world).get("/sign-in").csrf
      var forged = form
      forged.add("csrf", token)
      #expect(try await browser.post(address, forged).status == .forbidden)
      _ = try await browser.get("/sign-in")
      #expect(try await browser.post(address, forged).status == .forbidden)
    }
  }

  @Test(
    arguments: [
      ("application/json", Array("{}".utf8), Status.unsupportedMediaType),
      ("text/plain", Array("csrf=x".utf8), .unsupportedMediaType),
      ("multipart/form-data; boundary=x", Array("--x--".utf8), .unsupportedMediaType),
      ("application/x-www-form-urlencoded", Array("name=%FF%FE".utf8), .badRequest),
      ("application/x-www-form-urlencoded", Array("name=%00".utf8), .badRequest),
      ("application/x-www-form-urlencoded", Array("name=%zz".utf8), .badRequest),
      ("application/x-www-form-urlencoded", [0x6E, 0x3D, 0xC3, 0x28], .badRequest),
      ("application/x-www-form-urlencoded", [], .forbidden),
      (nil, [], .forbidden),
    ] as [(String?, [UInt8], Status)])
  func `a body that isn't a valid form gets an error page`(
    type: String?, body: [UInt8], status: Status
  ) async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      var fields = Self.own
      fields[.contentType] = type
      for address in ["/projects/new", try await world.eu + "/policy", "/sign-in"] {
        let answer = try await browser.send(.post, address, fields: fields, body: body)
        #expect(answer.status == status, "\(address)")
        #expect(answer.says("<h1>"))
      }
    }
  }

  @Test func `a form that can't be parsed gets an error page with the cause`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      var fields = Self.own
      fields[.contentType] = "application/x-www-form-urlencoded"
      let marks = "a" + String(repeating: "%CC%81", count: 31)
      let many = Array(repeating: "a=b", count: Form.maximumCount + 1).joined(separator: "&")
      for (body, cause) in [
        ("name=%zz", "The form isn’t percent-encoded UTF-8."),
        (String(repeating: "n", count: 257) + "=", "is longer than 256 bytes."),
        ("name=\(marks)", "A field has more than 30 combining marks in a row."),
        (many, "The form has more than 1,000 fields."),
      ] {
        let answer = try await browser.send(
          .post, "/projects/new", fields: fields, body: Array(body.utf8))
        #expect(answer.status == .badRequest && answer.says(cause), "\(cause)")
      }
    }
  }

  @Test func `C5: GET requests change nothing, and reading the log and downloads are audited`()
    async throws
  {
    try await World.withSampleData { world in
      let ofProject = try await Samples(world, ofTenant: false)
      let ofTenant = try await Samples(world, ofTenant: true)
      let browser = try await Browser.signedIn(world)
      // The server creates the first key when it starts.
      _ = try await world.identity.evidenceKeys.current()
      let before = try await TestDatabase.contents(of: world.database)
      let log = try await world.identity.audit.list(limit: 1_000).items.count
      for route in world.console.routes where route.route.method == .get {
        let samples = route.route.isOfTenant ? ofTenant : ofProject
        let address = try #require(samples.address(of: route.route))
        let answer = try await browser.get(address)
        // Others are of a link, of another administrator, or of a connected project.
        if route.access != .open, route.needs != .connection,
          !route.route.pattern.hasPrefix("/account/passkeys/{")
        {
          #expect([200, 303].contains(answer.status.code), "\(address)")
        }
      }
      let after = try await TestDatabase.contents(of: world.database)
      for (table, rows) in after
      where !["audit", "audit_change", "console_session"].contains(table) {
        #expect(rows == before[table], "\(table)")
      }
      let rows = try await world.identity.audit.list(limit: 1_000).items
      let new = rows.prefix(rows.count - log).map(\.action)
      #expect(Set(new) == [.auditRead, .auditDownload])
    }
  }
}
