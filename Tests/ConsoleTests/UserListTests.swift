import HTTP
import Identity
import Localization
import Testing

@testable import Console

/// Lists of users: tabs, sorting, search, and CSV downloads.
@Suite struct UserListTests {
  private static let jo = "u77TnC0aPzQ4hW1sGv9M"

  /// The UIDs that a page lists, in order.
  private func uids(_ answer: Answer) -> [String] {
    answer.values(of: "href").compactMap { link in
      guard let start = link.firstRange(of: "/users/") else { return nil }
      let uid = String(link[start.upperBound...])
      return uid == "new" || uid.contains("/") ? nil : uid
    }
  }

  @Test func `columns that were chosen in a list apply to a search across pools`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      _ = try await nadia.get("/users?q=chiara&column=&column=state")
      let eu = try await world.eu
      for address in ["/users?q=chiara", eu + "/users"] {
        let page = try await nadia.get(address)
        #expect(page.says("no-phone") && page.says("no-created") && !page.says("no-state"))
      }
    }
  }

  @Test func `the form of the download lists every column of the file`() {
    let text = Message(
      """
      The file contains the listed users’ emails, names, phone numbers, UIDs, second factors, \
      states, last sign-ins, last codes, creation dates, and exemptions. It has at most \
      {longest} users.
      """, ["longest": .number(200)]
    ).english
    let list = text.prefix { $0 != "." }.split(separator: ", ")
    #expect(list.count == UsersFile.columns.count, "\(text)")
  }

  @Test func `tabs show the number of users and filter the list`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let users = try await world.eu + "/users"
      var change = AccountChange()
      change.disabled = true
      try await world.identity.accounts.update(
        try await world.euPool, ID(Self.jo), change, by: Author(actor: .commandLine))
      let all = try await browser.get(users)
      for tab in ["All (4)", "No MFA (2)", "TOTP (2)", "Disabled (1)", "Unverified (1)"] {
        #expect(all.says(tab))
      }
      let disabled = try await browser.get(users + "?state=disabled")
      #expect(uids(disabled) == [Self.jo])
      #expect(disabled.says("Users. Filter: Disabled. Sort by: Recently added."))
      #expect(uids(try await browser.get(users + "?state=unverified")) == [Self.jo])
      #expect(uids(try await browser.get(users + "?factor=phone")) == [])
      #expect(uids(try await browser.get(users + "?factor=x&state=y&sort=z")).count == 4)
    }
  }

  @Test
  func `tabs of what few users have are shown while there are any, that of inactive users always`()
    async throws
  {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let users = try await world.eu + "/users"
      let all = try await browser.get(users)
      #expect(!all.says("Clock off") && !all.says("Reported ("))
      #expect(all.says(">Inactive 90 days<"))
      let none = try await browser.get(users + "?state=clock-off")
      #expect(none.says("Clock off (0)"))
      #expect(none.says("No user is marked."))
      world.clock.advance(seconds: 91 * 86_400)
      let later = try await Browser.signedIn(world)
      let inactive = try await later.get(users + "?state=inactive&sort=name&select=page")
      Markup.check(inactive)
      #expect(inactive.says("Inactive 90 days (4)") && uids(inactive).count == 4)
      #expect(inactive.says("Filter: Inactive 90 days. Sort by: Last sign-in."))
      #expect(
        !inactive.values(of: "href").contains { $0.contains("sort=name") }, "its list has one order"
      )
    }
  }

  @Test func `the tab of suspended users has those with a factor whose suspension hasn't ended`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let users = try await world.eu + "/users"
      let none = try await ada.get(users + "?state=suspended")
      #expect(none.says("Suspended (0)"))
      #expect(none.says("There are no users with a suspended second factor."))
      let factor = try await world.factor(of: World.chiara).text
      let user = "\(users)/\(World.chiara)"
      let done = try await ada.submit(
        "\(user)/factors/\(factor)/suspension", ["reason": "lost", "until": "tomorrow"])
      #expect(done.location == user)
      #expect(try await ada.get(user).says("suspended</span>"))
      let list = try await ada.get(users + "?state=suspended&sort=email")
      #expect(uids(list) == [World.chiara] && list.says(">suspended</span>"))
      #expect(list.says("Suspended (1)"))
      #expect(list.says("Users. Filter: Suspended. Sort by: Email."))
      #expect(list.values(of: "href").contains(users + "?state=suspended"))
      Markup.check(list)
      #expect(uids(try await ada.get(users + "?state=suspended&q=chi")) == [World.chiara])
      #expect(uids(try await ada.get(users + "?state=suspended&q=far")) == [])
      let file = try await ada.download(users + ".csv?state=suspended")
      let lines = file.text.split(separator: "\r\n")
      #expect(lines.count == 2 && file.text.contains("bianchi"))
      #expect(file.text.contains("\"suspended\""))
      world.clock.advance(seconds: 2 * 86_400)
      let later = try await Browser.signedIn(world).get(users + "?state=suspended")
      #expect(later.says("Suspended (0)") && uids(later) == [])
    }
  }

  @Test func `lists are sorted as requested, and every link keeps the order`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let users = try await world.eu + "/users"
      let byEmail = try await browser.get(users + "?sort=email")
      #expect(uids(byEmail).first == World.chiara && uids(byEmail).last == "zX3eR5tY7uI9oP1aS2dF")
      #expect(uids(try await browser.get(users + "?sort=name")).first == World.chiara)
      let enrolled = try await browser.get(users + "?factor=totp&sort=email")
      #expect(enrolled.values(of: "href").contains(users + "?factor=totp&sort=name"))
      #expect(enrolled.values(of: "href").contains(users + "?factor=none&sort=email"))
      #expect(enrolled.says("name=\"factor\" value=\"totp\""))
      #expect(enrolled.says("name=\"sort\" value=\"email\""))
      let found = try await browser.get(users + "?factor=totp&sort=email&q=chi")
      #expect(uids(found) == [World.chiara])
      #expect(found.values(of: "href").contains(users + "?factor=totp&sort=email"))
      Markup.check(found)
    }
  }

  @Test(arguments: ["hiara", "BIANCHI", "chi", "c", "kT9w2", "رضایی", "رض", "xel"])
  func `a search matches any part of a user's name, email, or UID, in any script`(text: String)
    async throws
  {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      for path in [try await world.eu + "/users", "/users"] {
        let answer = try await nadia.get((["q": text] as Form).query(of: path))
        let isPerson = answer.says("chiara.bianchi@") || answer.says("farid@")
        #expect(isPerson == (text != "xel"), "names of factors are not searched: \(text)")
      }
    }
  }

  @Test func `search results are paged, and the last page suggests narrowing the search`()
    async throws
  {
    try await World.withSampleData { world in
      let pool = try await world.identity.pools.existing(project: ID("globex"))
      for number in 0...200 {
        var new = NewAccount()
        new.email = "many\(number)@example.com"
        _ = try await world.identity.accounts.create(
          pool, new, by: .program(Author(actor: .commandLine)))
      }
      let browser = try await Browser.signedIn(world)
      for path in ["/projects/globex/users", "/users"] {
        for text in ["many", "m"] {
          let first = try await browser.get(path + "?open=1&q=" + text)
          #expect(first.says("1–50") && first.says("On this page: 50 users"))
          #expect(first.says("ore than 200 users"))
          // Users are selected in the lists of pools.
          #expect(first.says("Select all users on this page") == (path != "/users"))
          let next = "\(path)?q=\(text)&after=50"
          #expect(first.values(of: "href").contains(next))
          let second = try await browser.get(next)
          #expect(second.says("51–100") && second.says("many101@"))
          let place = "<input type=\"hidden\" name=\"after\" value=\"50\">"
          #expect(second.says(place) && !first.says(place), "a choice of columns keeps the page")
          let last = try await browser.get("\(path)?q=\(text)&after=150")
          #expect(last.says("151–200") && last.says("ore than 200 users"))
          #expect(last.says("Type more to narrow the search.") && !last.says("Next page"))
          #expect(last.says("many1@") && !last.says("many0@"))
        }
        let behind = try await browser.get("\(path)?q=many20&after=50")
        #expect(behind.location == "\(path)?q=many20")
        for place in ["-5", "x", "99999999999999999999", "\u{202E}"] {
          let form: Form = ["q": "many", "after": place]
          #expect(try await browser.get(form.query(of: path)).status == .ok)
        }
      }
      let file = try await browser.download("/projects/globex/users.csv?sort=email")
      #expect(file.text.split(separator: "\r\n").count == 202)
      let found = try await browser.download("/projects/globex/users.csv?q=many")
      let lines = found.text.split(separator: "\r\n")
      #expect(lines.count == 202)
      #expect(lines.last?.hasPrefix("\"Incomplete: only the first 200 users") == true)
    }
  }

  @Test func `the address has the number of users on a page, and every link keeps it`()
    async throws
  {
    try await World.withSampleData { world in
      let pool = try await world.identity.pools.existing(project: ID("globex"))
      for number in 0..<60 {
        var new = NewAccount()
        new.email = "many\(number)@example.com"
        _ = try await world.identity.accounts.create(
          pool, new, by: .program(Author(actor: .commandLine)))
      }
      let browser = try await Browser.signedIn(world)
      let users = "/projects/globex/users"
      let page = try await browser.get(users + "?size=20")
      let links = page.values(of: "href").filter { $0.hasPrefix(users + "?") }
      #expect(page.says("On this page: 20 users") && links.contains { $0.contains("after=") })
      #expect(links.contains(users + "?sort=email&size=20"))
      #expect(links.allSatisfy { $0.contains("size=20") }, "\(links)")
      #expect(page.value(of: "size") == "20", "a search and a choice of columns keep it")
      let next = try #require(links.first { $0.contains("after=") })
      #expect(try await browser.get(next).says("On this page: 20 users"))
      let found = try await browser.get(users + "?q=many&size=20&after=20")
      #expect(found.says("21–40") && found.says("On this page: 20 users"))
      #expect(try await browser.get(users + "?size=100").says("60 users<"))
      for size in ["0", "-1", "30", "1000", "x", "99999999999999999999"] {
        let usual = try await browser.get(users + "?size=" + size)
        #expect(usual.says("On this page: 50 users") && !usual.says("name=\"size\""), "\(size)")
      }
    }
  }

  @Test func `a list is quiet about usual states, and the browser remembers chosen columns`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let users = try await world.eu + "/users"
      let page = try await ada.get(users)
      #expect(page.says("<table class=\"list\">") && !page.says("chip on"))
      #expect(page.says("email not verified") && !page.says(">email verified"))
      let chosen = try await ada.get(
        users + "?sort=name&column=&column=phone&column=state&column=x")
      #expect(
        chosen.says("<table class=\"list no-factor no-last-sign-in no-last-code no-created\">"))
      #expect(chosen.says("name=\"sort\" value=\"name\""))
      Markup.check(chosen)
      #expect(try await ada.get(users).says("<table class=\"list no-factor no-last-sign-in"))
      let none = try await ada.get(users + "?column=")
      #expect(none.says("no-phone no-factor no-state no-last-sign-in no-last-code no-created"))
      #expect(try await ada.get(users).says("no-phone no-factor"))
    }
  }

  @Test func `the search bar covers every accessible pool, from every page`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      for path in ["/projects", "/projects/globex", try await world.eu + "/users"] {
        let page = try await ada.get(path)
        #expect(page.says(#"<form class="find" role="search" action="/users""#), "\(path)")
      }
      let user = try await world.eu + "/users/\(World.chiara)"
      #expect(try await ada.get("/users?open=1&q=chiara").location == user)
      #expect(try await ada.get("/users?open=1&q=kT9w2").location == user)
      #expect(
        try await ada.get("/users?q=chiara")
          .says("1 user matches “chiara”. Projects and tenants: 1."))
      #expect(try await ada.get("/users?open=1&q=zzzz").says("No results"))
    }
  }

  @Test func `the search bar finds users in accessible projects only`() async throws {
    try await World.withSampleData { world in
      var new = NewAccount()
      new.email = "chiara@globex.example"
      new.localID = "other"
      _ = try await world.identity.accounts.create(
        try await world.identity.pools.existing(project: ID("globex")), new,
        by: .program(Author(actor: .commandLine)))
      let ada = try await Browser.signedIn(world)
      let both = try await ada.get("/users?open=1&q=chiara")
      #expect(both.says("chiara@globex.example") && both.says("chiara.bianchi@example.com"))
      #expect(both.says("Globex") && both.says("eu-shop"))
      #expect(both.says("2 users match “chiara”. Projects and tenants: 2."))
      #expect(both.values(of: "href").contains("/projects/globex/users?q=chiara"))
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      #expect(try await nadia.get("/users?open=1&q=chiara").location == user)
      let own = try await nadia.get("/users?q=chiara")
      #expect(!own.says("globex") && own.says("1 user"))
      #expect(try await nadia.get("/users?q=globex").says("No results"))
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      #expect(try await tomas.get("/users?q=chiara").says("No results"))
      #expect(try await Browser(world).get("/users?q=chiara").status == .seeOther)
    }
  }

  @Test func `the CSV has the page's users and columns and requires permission`() async throws {
    try await World.withSampleData { world in
      var new = NewAccount()
      (new.localID, new.displayName) = ("formula", "=cmd|' /C calc'!A0")
      _ = try await world.identity.accounts.create(
        try await world.euPool, new, by: .program(Author(actor: .commandLine)))
      let ada = try await Browser.signedIn(world)
      let users = try await world.eu + "/users"
      let page = try await ada.get(users + "?factor=none&sort=name")
      #expect(page.values(of: "action").contains(users + ".csv?factor=none&sort=name"))
      let file = try await ada.download(users + ".csv?factor=none&sort=name")
      #expect(file.response.fields[.contentType]?.hasPrefix("text/csv") == true)
      let lines = file.text.split(separator: "\r\n")
      #expect(
        lines.first?.hasSuffix(
          "\"User\",\"Name\",\"Phone\",\"UID\",\"Second factor\",\"State\",\"Last sign-in\",\"Last code\",\"Created\",\"Exempt until\""
        )
          == true)
      #expect(lines.count == 4)
      #expect(file.text.contains("\"'=cmd|' /C calc'!A0\""))
      let found = try await ada.download(users + ".csv?q=chi")
      #expect(found.text.split(separator: "\r\n").count == 2 && found.text.contains("bianchi"))
      let rows = try await world.identity.audit.list(
        AuditFilter(pool: try await world.euPool)
      ).items.filter { $0.action == .accountDownload }
      #expect(
        rows.map { AuditFormatter.english.to($0).prefix { $0 != ";" } } == ["1 user", "3 users"])
      #expect(
        rows.last.map { AuditFormatter.english.to($0) }
          == "3 users; filters: No MFA")
      // A search finds fewer users than a list has, and the confirmation says so.
      world.clock.advance(seconds: 16 * 60)
      let confirmed = try await ada.download(users + ".csv?q=chi&factor=totp")
      #expect(confirmed.says("creation dates, and exemptions. It has at most 200 users."))
      let whole = try await ada.download(users + ".csv?factor=totp")
      #expect(whole.says("creation dates, and exemptions. It has at most 100,000 users."))
      for who in [World.nadia, World.iris] {
        let browser = try await Browser.signedIn(world, as: who)
        #expect(try await browser.download(users + ".csv").status == .forbidden)
        #expect(!(try await browser.get(users).says(".csv")))
      }
    }
  }
}
