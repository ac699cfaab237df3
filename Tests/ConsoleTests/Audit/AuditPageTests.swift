import Database
import HTTP
import Identity
import Localization
import Testing

@testable import Console

@Suite struct AuditPageTests {
  @Test func `the policy page links to its history, with old and new values`() async throws {
    try await World.withSampleData { world in
      let iris = try await Browser.signedIn(world, as: World.iris)
      let eu = try await world.eu
      let history = eu + "/audit?action=policy"
      #expect(try await iris.get(eu + "/policy").values(of: "href").contains(history))
      let page = try await iris.get(history)
      #expect(page.says("adjacent intervals 3 → 5"))
      #expect(page.says("Tomás R."))
      #expect(!page.says("<span class=\"who\">User created"))
    }
  }

  @Test func `entries of the same minute differ by their seconds`() async throws {
    try await World.withSampleData { world in
      let pool = try await world.euPool
      for intervals in [1, 2] {
        world.clock.advance(seconds: 11)
        _ = try await world.identity.policies.change(
          pool, by: .program(Author(actor: .commandLine))
        ) {
          $0.configuration.totp?.adjacentIntervals = intervals
        }
      }
      let iris = try await Browser.signedIn(world, as: World.iris)
      let page = try await iris.get(try await world.eu + "/audit?action=policy")
      for seconds in [11, 22] {
        let time = "Nov 20, 2026, 08:00:\(seconds)\u{00A0}UTC"
        #expect(page.says(" title=\"Fri, \(time)\">\(time)</time>"))
      }
    }
  }

  @Test func `own views of the log are apart from other entries, unless a filter finds them`()
    async throws
  {
    try await World.withSampleData { world in
      let list = try await world.eu + "/audit"
      let own = "Your own views of the audit log"
      let (iris, ada) = (
        try await Browser.signedIn(world, as: World.iris), try await Browser.signedIn(world)
      )
      #expect(try await !iris.get(list).says(own))
      let again = try await iris.get(list)
      Markup.check(again)
      #expect(again.says(own) && again.says("Audit log viewed"))
      let others = try await ada.get(list)
      #expect(!others.says(own) && others.says("Audit log viewed"))
      let asked = try await iris.get(list + "?action=audit")
      #expect(!asked.says(own) && asked.says("Audit log viewed"))
    }
  }

  @Test func `an incomplete sign-in shows the administrator's name`() async throws {
    try await World.withSampleData { world in
      _ = try await world.authenticator(of: World.nadia)
      _ = try await Browser.signedIn(world, as: World.nadia)
      let iris = try await Browser.signedIn(world, as: World.iris)
      let id = try await world.id(of: World.nadia)
      let page = try await iris.get("/audit?kind=administrator&object=\(id)")
      #expect(page.says("Password accepted, MFA required"))
      #expect(!page.says("<bdi class=\"clamp\">\(id)"))
    }
  }

  @Test func `filters that are rarely used are open if one of them is chosen`() async throws {
    try await World.withSampleData { world in
      let iris = try await Browser.signedIn(world, as: World.iris)
      let list = try await world.eu + "/audit"
      #expect(try await iris.get(list).says("<details class=\"filters\">"))
      #expect(try await iris.get(list + "?actor=user").says("<details class=\"filters\">"))
      #expect(try await iris.get(list + "?kind=account").says("<details class=\"filters\" open>"))
    }
  }

  @Test func `users and administrators link to their history`() async throws {
    try await World.withSampleData { world in
      let iris = try await Browser.signedIn(world, as: World.iris)
      let eu = try await world.eu
      let user = try await iris.get("\(eu)/users/\(World.chiara)")
      let ofUser = "\(eu)/audit?kind=account&object=\(World.chiara)"
      #expect(user.values(of: "href").contains(ofUser))
      #expect(try await iris.get(ofUser).says("Factor enrolled"))
      let nadia = try await world.id(of: World.nadia)
      let page = try await iris.get("/administrators/\(nadia)")
      let ofNadia = "/audit?kind=administrator&object=\(nadia)"
      #expect(page.values(of: "href").contains(ofNadia))
      #expect(try await iris.get(ofNadia).says("Administrator created"))
    }
  }

  @Test func `links to the entries of different users have different accessible names`()
    async throws
  {
    try await World.withSampleData { world in
      let iris = try await Browser.signedIn(world, as: World.iris)
      let page = try await iris.get(try await world.eu + "/audit")
      Markup.check(page)
      let names = page.text.matches(of: /<a href="[^"]*"([^>]*)><bdi>End user<\/bdi>/)
        .map { String($0.1) }
      #expect(names.count > 1 && Set(names).count == names.count)
    }
  }

  @Test func `filters stay in the form and can be removed one by one`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let list = try await world.eu + "/audit"
      let query = "actor=administrator%3Atomas&action=policy&from=2026-11-01&to=2026-11-20"
      let page = try await ada.get("\(list)?\(query)")
      Markup.check(page)
      #expect(
        page.says(
          "<option value=\"administrator:tomas\" selected>\u{2068}Tomás R.\u{2069}</option>"))
      #expect(page.says("<option value=\"policy\" selected>MFA policy (all)</option>"))
      #expect(page.value(of: "from") == nil && page.says("type=\"date\" value=\"2026-11-01\""))
      let links = page.values(of: "href")
      #expect(links.contains("\(list)?action=policy&from=2026-11-01&to=2026-11-20"))
      #expect(links.contains("\(list)?actor=administrator%3Atomas&from=2026-11-01&to=2026-11-20"))
      #expect(links.contains("\(list)?actor=administrator%3Atomas&action=policy&to=2026-11-20"))
      #expect(links.contains(list))
      #expect(links.contains("\(list).csv?\(query)"))
    }
  }

  @Test func `date filters cover whole days`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let list = try await world.eu + "/audit"
      // The sample data begins on November 15 at 08:00; the second policy change is a day later.
      let first = try await ada.get(list + "?action=policy&from=2026-11-15&to=2026-11-15")
      #expect(first.says("adjacent intervals none → 3") && !first.says("3 → 5"))
      let second = try await ada.get(list + "?action=policy&from=2026-11-16")
      #expect(second.says("3 → 5") && !second.says("none → 3"))
      let before = try await ada.get(list + "?to=2026-11-14")
      #expect(before.says("No matching entries") && before.status == .ok)
    }
  }

  @Test(arguments: [
    ("from=2026-02-30", "Enter the start date as YYYY-MM-DD, such as 2026-11-03."),
    ("to=yesterday", "Enter the end date as YYYY-MM-DD, such as 2026-11-03."),
    ("from=2026-11-20&to=2026-11-19", "Choose an end date on or after the start date."),
  ])
  func `an invalid date is shown with an error next to its field`(query: String, words: String)
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get("/audit?" + query)
      #expect(page.status == .unprocessableContent)
      #expect(page.says("<title>Error: "))
      #expect(page.text.ranges(of: words).count == 2)
      #expect(!query.contains("02-30") || page.says("type=\"text\" value=\"2026-02-30\""))
      Markup.check(page)
      #expect(try await ada.get("/audit.csv?" + query).status == .badRequest)
    }
  }

  @Test func `the instance's log names each pool, without a link if it was deleted`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let us = "/projects/acme-retail/tenants/\(try await world.tenantID("us-shop").text)"
      let before = try await ada.get("/audit?action=tenant")
      #expect(before.says("<a href=\"\(us)\"><bdi>us-shop</bdi></a>"))
      try await world.identity.pools.delete(
        project: ID("acme-retail"), tenant: try await world.tenantID("us-shop"),
        by: .program(Author(actor: .commandLine)))
      let after = try await ada.get("/audit?action=tenant")
      #expect(after.says("<bdi>us-shop</bdi> <span class=\"sub\">deleted</span>"))
      #expect(!after.says("<a href=\"\(us)\">"))
      #expect(after.says("Tenant deleted"))
      Markup.check(after)
    }
  }

  @Test func `the instance's log can be filtered by a project or a tenant`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let tenant = "acme-retail/\(try await world.tenantID("eu-shop").text)"
      let page = try await ada.get("/audit?action=policy&pool=\(tenant)")
      Markup.check(page)
      #expect(page.says("adjacent intervals 3 → 5"))
      #expect(page.values(of: "href").contains("/audit?action=policy"))
      let file = "/audit.csv?action=policy&pool=acme-retail%2F"
      #expect(page.values(of: "href").contains { $0.hasPrefix(file) })
      let ofProject = try await ada.get("/audit?action=policy&pool=acme-retail")
      #expect(ofProject.status == .ok && !ofProject.says("adjacent intervals 3 → 5"))
      for unknown in ["nothing", "acme-retail/nothing", "/", "acme-retail/"] {
        let refused = try await ada.get("/audit?from=x&pool=\(unknown)")
        #expect(refused.status == .unprocessableContent)
        #expect(refused.text.ranges(of: "Enter the ID of a project, or").count == 2)
        #expect(refused.text.ranges(of: "Enter the start date").count == 2)
        Markup.check(refused)
      }
      // The log of a pool has no such filter.
      let own = try await ada.get(try await world.eu + "/audit?pool=nothing")
      #expect(own.status == .ok && !own.says("name=\"pool\""))
    }
  }

  @Test func `the CSV has the page's entries with formulas escaped, and the download is audited`()
    async throws
  {
    try await World.withSampleData { world in
      var new = NewAccount()
      new.localID = "formula"
      new.displayName = "=HYPERLINK(\"http://evil\")"
      _ = try await world.identity.accounts.create(
        try await world.euPool, new, by: .program(Author(actor: .commandLine)))
      let iris = try await Browser.signedIn(world, as: World.iris)
      let eu = try await world.eu
      let file = try await iris.get(eu + "/audit.csv?action=account")
      #expect(file.response.fields[.contentType]?.hasPrefix("text/csv") == true)
      let name = "audit-\(try await world.euShop.text).csv"
      #expect(file.response.fields["Content-Disposition"] == "attachment; filename=\"\(name)\"")
      let lines = file.text.split(separator: "\r\n")
      #expect(lines.count == 6)
      #expect(lines[0].contains("\"number\",\"time (UTC)\",\"description\""))
      #expect(lines[1].contains("\"'=HYPERLINK(\"\"http://evil\"\")\""))
      let page = try await iris.get(eu + "/audit?action=audit")
      #expect(page.says("Audit log downloaded") && page.says("5 entries; filters: action: account"))
      #expect(try await iris.get("/audit.csv").text.contains("Audit log downloaded"))
    }
  }

  @Test func `entries with names of another version show them, and are found by them`()
    async throws
  {
    try await World.withSampleData { world in
      let pool = try await world.euPool
      try await world.database.write { connection in
        let id = try connection.first(
          """
          INSERT /* test */ INTO audit (at, actor_kind, actor_id, actor_name, project_id, tenant_id,
            action, object_kind, object_id, object_name, reason, address, request_id, filed)
          VALUES (\(world.clock.now), 'administrator', 'r', 'Rob',
            \(pool.project), \(pool.tenant), 'spoon.bend', 'tea spoon', 's-1', '',
            'by-mind', '', '', 0)
          RETURNING audit_id
          """
        ) { try $0.next() as Int64 }
        try connection.run(
          """
          INSERT /* test */ INTO audit_change (audit_id, position, field, old_kind, old_value,
            new_kind, new_value)
          VALUES (\(id), 0, 'spoon-angle', 'number', '1', 'number', '9'),
            (\(id), 1, 'spoon-state', NULL, NULL, 'code', 'bent'),
            (\(id), 2, 'spoon-color', NULL, NULL, 'color', 'blue')
          """)
      }
      let iris = try await Browser.signedIn(world, as: World.iris)
      let log = try await world.eu + "/audit"
      let history = "?kind=tea%20spoon&object=s-1"
      let all = try await iris.get(log)
      #expect(all.values(of: "href").contains(log + history))
      for query in [history, "?action=spoon.bend", "?field=spoon-angle", "?kind=tea%20spoon"] {
        let page = try await iris.get(log + query)
        #expect(page.says("<span class=\"who\">spoon.bend"), "\(query)")
        #expect(
          page.says(
            "spoon-angle 1 → 9; spoon-state: bent; spoon-color: blue · by-mind"), "\(query)")
        #expect(!page.says("<span class=\"who\">Factor enrolled"))
        Markup.check(page)
      }
      let file = try await iris.get(log + ".csv?action=spoon.bend").text
      #expect(file.contains("\"spoon.bend\",\"spoon.bend\",\"tea spoon\",\"s-1\",\"s-1\""))
      #expect(file.contains("\"spoon-angle; spoon-state; spoon-color\""))
    }
  }

  @Test func `a link with the former name of an action selects the action and finds its entries`()
    async throws
  {
    try await World.withSampleData { world in
      let pool = try await world.euPool
      try await world.database.write { connection in
        _ = try connection.run(
          """
          INSERT /* test */ INTO audit (at, actor_kind, actor_id, actor_name, project_id, tenant_id,
            action, object_kind, object_id, object_name, address, request_id, filed)
          VALUES (\(world.clock.now.microseconds), 'user', 'former', 'Former',
            \(pool.project.text), \(pool.tenant?.text), 'factor.object', 'account', 'former',
            'former@example.com', '', '', 0)
          """)
      }
      let iris = try await Browser.signedIn(world, as: World.iris)
      let log = try await world.eu + "/audit"
      let page = try await iris.get(log + "?action=factor.object")
      Markup.check(page)
      #expect(
        page.says("<option value=\"factor.report\" selected>Change reported by end user</option>"))
      #expect(page.says("<span class=\"who\">Change reported by end user"))
      #expect(page.says("former@example.com"))
      let file = try await iris.get(log + ".csv?action=factor.report").text
      #expect(file.contains("\"Change reported by end user\",\"factor.object\",\"account\""))
    }
  }

  @Test func `the next page keeps the filters`() async throws {
    try await World.withSampleData { world in
      let pool = try await world.euPool
      for number in 0..<60 {
        _ = try await world.identity.policies.change(
          pool, by: .program(Author(actor: .commandLine))
        ) { edit throws(PolicyError) in
          edit.configuration.totp = TOTPConfiguration(
            state: .enabled, adjacentIntervals: number % 11)
        }
      }
      let ada = try await Browser.signedIn(world)
      let list = try await world.eu + "/audit?actor=command%20line&action=policy"
      let first = try await ada.get(list)
      let next = try #require(first.values(of: "href").first { $0.contains("after=") })
      #expect(next.hasPrefix(list))
      let second = try await ada.get(next)
      #expect(second.text.ranges(of: "<tr><th scope=\"row\">").count == 10)
      #expect(second.says("First page"))
    }
  }

  @Test func `hostile filter values are escaped`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      for name in HostileTests.names {
        for field in ["actor", "action", "kind", "object", "after"] {
          for path in ["/audit", try await world.eu + "/audit"] {
            let page = try await ada.get(([field: name] as Form).query(of: path))
            Markup.check(page)
            #expect(page.status == .ok)
          }
        }
      }
    }
  }
}

@Suite struct DayTests {
  @Test(arguments: [
    ("UTC", "2026-11-03", "2026-11-03T00:00:00.000Z"),
    ("Europe/Rome", "2026-11-03", "2026-11-02T23:00:00.000Z"),
    ("Europe/Rome", "2026-07-01", "2026-06-30T22:00:00.000Z"),
    ("Europe/Rome", "2026-03-29", "2026-03-28T23:00:00.000Z"),
    ("Europe/Rome", "2026-03-30", "2026-03-29T22:00:00.000Z"),
    ("Europe/Rome", "2026-10-25", "2026-10-24T22:00:00.000Z"),
    ("Europe/Rome", "2026-10-26", "2026-10-25T23:00:00.000Z"),
    ("America/New_York", "2026-11-01", "2026-11-01T04:00:00.000Z"),
    ("America/New_York", "2026-11-02", "2026-11-02T05:00:00.000Z"),
    ("Asia/Kolkata", "2026-11-03", "2026-11-02T18:30:00.000Z"),
    // The clock goes from 24:00 to 01:00.
    ("America/Santiago", "2026-09-05", "2026-09-05T04:00:00.000Z"),
    ("America/Santiago", "2026-09-06", "2026-09-06T04:00:00.000Z"),
    ("America/Santiago", "2026-09-07", "2026-09-07T03:00:00.000Z"),
    // Midnight is twice, and the day begins with the first.
    ("America/Havana", "2026-11-01", "2026-11-01T04:00:00.000Z"),
    ("Atlantic/Azores", "2026-03-29", "2026-03-29T01:00:00.000Z"),
  ])
  func `a day begins at midnight in the reader's time zone`(
    zone: String, day: String, moment: String
  ) throws {
    let day = try #require(Day(day))
    #expect(Times(.english, zone: zone).start(of: day).rfc3339Milliseconds == moment)
  }
}
