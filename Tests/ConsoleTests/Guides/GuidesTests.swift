import Foundation
import HTTP
import Identity
import Localization
import Templating
import Testing

@testable import Console

/// The guides' pages, the values they show, and to whom.
@Suite struct GuidesTests {
  /// The address of each part of each guide.
  static let addresses = GuideTopic.allCases.flatMap { topic in
    GuideTab.allCases.map { topic.path($0) }
  }

  /// The text of a fragment that begins inside a tag.
  private static func textContent(_ piece: Substring) -> String {
    String(piece.drop { $0 != ">" }.dropFirst().prefix { $0 != "<" }).trimmed
  }

  @Test(arguments: addresses)
  func `a guide can be read without a session and lists its sections and parts`(
    address: String
  ) async throws {
    try await World.withSampleData { world in
      let guide = try await Browser(world).get(address)
      #expect(guide.status == .ok)
      Markup.check(guide)
      let headings = guide.between("<h2 id=\"", "</h2>").map(Self.textContent)
      let own = headings.filter { !["On this page", "Guides"].contains($0) }
      let contents = try #require(guide.between("id=\"contents\"", "</nav>").first)
      #expect(contents.split(separator: "<a ").dropFirst().map(Self.textContent) == own)
      let links = guide.values(of: "href")
      #expect(Self.addresses.filter { $0.hasPrefix(address) }.allSatisfy(links.contains))
      for link in links where link.hasPrefix("/guides") {
        let page = link.prefix { $0 != "#" }
        let leads = world.leads(.get, String(page))
        #expect(leads, "\(link)")
        guard page != link else { continue }
        let section = try await Browser(world).get(String(page))
        #expect(section.says("id=\"\(link.dropFirst(page.count + 1))\""), "\(link)")
      }
      #expect(!guide.says("{{") && !guide.says("&lt;!--") && !guide.says(".md\""))
    }
  }

  @Test(arguments: ["/guides"] + addresses)
  func `without a session, a guide shows nothing of a pool`(address: String) async throws {
    try await World.withSampleData { world in
      let visitor = Browser(world)
      let plain = try await visitor.get(address)
      let tenant = try await world.euShop.text
      for query in ["?project=acme-retail", "?project=acme-retail&tenant=\(tenant)", "?project=x"] {
        let named = try await visitor.get(address + query)
        #expect(named.status == .ok)
        let link = (["next": address + query] as Form).query(of: "/sign-in")
        #expect(named.values(of: "href").contains(link))
        // Only that link and the printed address have the query.
        #expect(named.article == plain.article)
        #expect(!named.says("AIza") && !named.says("Values used here"))
      }
      #expect(!plain.values(of: "href").contains { $0.hasPrefix("/sign-in") })
      #expect(!plain.says("acme-retail") && !plain.says(tenant))
    }
  }

  @Test func `a session that isn't complete shows no pool's values`() async throws {
    try await World.withSampleData { world in
      _ = try await world.authenticator(of: World.ada)
      let browser = Browser(world)
      _ = try await browser.givePassword(next: "/guides")
      let guide = try await browser.get("/guides/common/build?project=acme-retail")
      #expect(guide.status == .ok && guide.says("PROJECT_ID") && !guide.says("AIza"))
    }
  }

  @Test func `an unknown guide or part isn't found`() async throws {
    try await World.withSampleData { world in
      for browser in [Browser(world), try await Browser.signedIn(world)] {
        for address in ["/guides/none", "/guides/none/build", "/guides/mandatory/concept"] {
          #expect(try await browser.get(address).status == .notFound, "\(address)")
        }
      }
    }
  }

  @Test func `the platform is chosen with a link and remembered`() async throws {
    try await World.withSampleData { world in
      let browser = Browser(world)
      func chosen(_ address: String) async throws -> String? {
        let guide = try await browser.get(address)
        Markup.check(guide)
        let radios = guide.between("<input type=\"radio\" name=\"platform\"", ">")
        #expect(radios.count == GuidePlatform.allCases.count)
        let checked = radios.filter { $0.hasSuffix(" checked") }
        #expect(checked.count == 1)
        return GuidePlatform.allCases.first {
          checked.first?.contains("value=\"\($0.rawValue)\"") == true
        }?.rawValue
      }
      let usual = try await chosen("/guides/mandatory/build")
      #expect(usual == "web")
      #expect(try await chosen("/guides/mandatory/build?platform=swift") == "swift")
      #expect(try await chosen("/guides/step-up/build?project=acme-retail") == "swift")
      #expect(try await chosen("/guides/step-up/build?platform=cobol") == "swift")
      #expect(try await chosen("/guides/common/operate?platform=rest") == "rest")
      // A part that's the same on every platform has no choice.
      #expect(!(try await browser.get("/guides/mandatory")).says("name=\"platform\""))
    }
  }

  @Test(arguments: [
    (
      "js", "return \"a\"; // b",
      "<span class=\"tk\">return</span> <span class=\"ts\">&quot;a&quot;</span>; <span class=\"tc\">// b</span>"
    ),
    ("js", "a.return", "a.return"), ("js", "`${x}`", "<span class=\"ts\">`${x}`</span>"),
    (
      "swift", "\"\\\"if\" if",
      "<span class=\"ts\">&quot;\\&quot;if&quot;</span> <span class=\"tk\">if</span>"
    ),
    (
      "sh", "curl 'x\ny' # z\nq",
      "<span class=\"tk\">curl</span> <span class=\"ts\">&#39;x\ny&#39;</span> <span class=\"tc\"># z</span>\nq"
    ),
    ("kotlin", "\"open", "<span class=\"ts\">&quot;open</span>"),
    ("java", "List<A> x = a && b;", "List&lt;A&gt; x = a &amp;&amp; b;"),
    ("js", "\"\\", "<span class=\"ts\">&quot;\\</span>"),
  ])
  func `keywords, strings, and comments of a sample are marked`(
    language: String, code: String, html: String
  ) throws {
    #expect(try #require(SyntaxHighlighter(language)).html(code) == html)
    #expect(SyntaxHighlighter("cobol") == nil)
  }

  @Test(arguments: addresses)
  func `every code sample is copyable, keyboard-scrollable, and uniquely labeled`(
    address: String
  ) async throws {
    try await World.withSampleData { world in
      let guide = try await Browser(world).get(address)
      let samples = guide.between("<pre", "</pre>")
      let labels = guide.between(
        "<div class=\"code\"><pre data-copy tabindex=\"0\" aria-label=\"", "\"")
      #expect(labels.count == samples.count)
      #expect(Set(labels).count == labels.count)
      #expect(!guide.says("class=\"language-"))
    }
  }

  @Test func `without a pool, a guide shows placeholders`() async throws {
    try await World.withSampleData { world in
      for browser in [Browser(world), try await Browser.signedIn(world)] {
        let guide = try await browser.get("/guides/common/build")
        for word in ["PROJECT_ID", "TENANT_ID", "key=API_KEY", "SMS_STATE"] {
          #expect(guide.says(word), "\(word)")
        }
        #expect(guide.says("\(World.publicURL)/v2/accounts/mfaEnrollment:start"))
        #expect(guide.says("!== &quot;TENANT_ID&quot;"))
      }
    }
  }

  @Test func `with a tenant, the guides show the tenant's values`() async throws {
    try await World.withSampleData { world in
      let tenant = try await world.euShop.text
      let query = "?project=acme-retail&tenant=\(tenant)"
      let browser = try await Browser.signedIn(world)
      let key = try #require(try await world.identity.apiKeys.list(ID("acme-retail")).first?.text)
      var all = ""
      for address in Self.addresses {
        let guide = try await browser.get(address + query)
        Markup.check(guide)
        all += guide.text
        for word in ["PROJECT_ID", "TENANT_ID", "API_KEY", "SMS_STATE"] {
          #expect(!guide.says(word), "\(address) \(word)")
        }
        // The links keep the tenant, and one leads back to its policy.
        let links = guide.values(of: "href")
        #expect(links.contains("\(try await world.eu)/policy"))
        for link in links where link.hasPrefix("/guides/") && link != address {
          #expect(link.contains(query), "\(address): \(link)")
        }
      }
      #expect(all.contains("accounts:signUp?key=\(key)"))
      #expect(all.contains("&quot;tenantId&quot;: &quot;\(tenant)&quot;"))
      #expect(all.contains("/v1/projects/acme-retail/tenants/\(tenant)/accounts:"))
      #expect(all.contains("tenantManager().updateTenant(&quot;\(tenant)&quot;, {"))
      #expect(all.contains("within 5 adjacent intervals of 30 seconds on each side"))
      #expect(all.contains("/v2/projects/acme-retail/tenants/\(tenant)/enrollmentPolicy?key="))
    }
  }

  @Test func `with a project, a guide omits the tenant and says when TOTP is off`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let guide = try await browser.get("/guides/account/build?project=acme-retail")
      #expect(!guide.says("&quot;tenantId&quot;"))
      #expect(guide.says("/v1/projects/acme-retail/accounts:update"))
      #expect(guide.says("TOTP is off in this user pool"))
      let operation = try await browser.get("/guides/mandatory/operate?project=acme-retail")
      #expect(operation.says("/v2/projects/acme-retail/enrollmentPolicy?key="))
    }
  }

  @Test func `an inaccessible pool is not found`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let us = try await world.tenantID("us-shop").text
      for page in ["/guides", "/guides/mandatory"] {
        let nowhere = try await nadia.get(page + "?project=nowhere")
        #expect(nowhere.status == .notFound)
        for query in [
          "?project=globex", "?project=acme-retail", "?project=acme-retail&tenant=\(us)",
          "?project=acme-retail&tenant=none", "?project=%3Cb%3E",
        ] {
          let answer = try await nadia.get(page + query)
          #expect(answer.status == .notFound && answer.text == nowhere.text, "\(query)")
        }
        #expect(try await nadia.get(page + "?project=").status == .ok)
      }
    }
  }

  @Test(arguments: [
    "<script>alert(1)</script>", "# heading\n", "[x](javascript:alert(1)) **b**",
    "{{key}} {{/place}}",
    "\u{202E}evil", "'; rm -rf / #",
  ])
  func `a pool's name is escaped`(name: String) async throws {
    try await World.withSampleData { world in
      _ = try? await world.identity.pools.createProject(
        id: "hostile-one", displayName: name, by: .program(Author(actor: .commandLine)))
      let browser = try await Browser.signedIn(world)
      for page in ["/guides", "/guides/step-up"] {
        let answer = try await browser.get(page + "?project=hostile-one")
        guard answer.status == .ok else { continue }
        Markup.check(answer)
        let escaped: Templating.Markup = "\(Isolation.contained(name))"
        #expect(
          answer.says(
            "<strong><bdi>\(String(decoding: escaped.bytes, as: UTF8.self))</bdi></strong>"
          ))
        #expect(!answer.says("<script>alert") && !answer.says("href=\"javascript"))
      }
    }
  }

  @Test func `the list compares the four patterns and marks the current one`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let list = try await browser.get("/guides")
      let rows = list.between("<tr><th scope=\"row\">", "</tr>")
      #expect(rows.count == 4)
      #expect(rows.allSatisfy { $0.ranges(of: "<td data-label=").count == 4 })
      #expect(!list.says("current pattern"))
      let query = "?project=acme-retail&tenant=\(try await world.euShop.text)"
      let own = try await browser.get("/guides" + query)
      let marked = own.between("<section class=\"card stack-tight\"><h2>", "</section>").filter {
        $0.contains("current pattern")
      }
      #expect(marked.count == 1 && marked[0].contains("/guides/account?project="))
    }
  }

  @Test(arguments: [
    "<!-- only cobol -->", "<!-- only web cobol -->", "<!-- only -->", "<!-- only web -->",
    "<!-- end -->", "<!-- draw enroll -->",
    "<!-- only web -->\n\n<!-- only rest -->\n\n<!-- end -->\n\n<!-- end -->",
    "<!-- sketch nothing -->", "{{nothing}}", "[Guide](none-build.md)", "[Guide](mandatory.md)",
  ])
  func `a guide with an unknown directive or link isn't rendered`(text: String) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func write(_ text: String) throws {
      for name in Self.files {
        let table = name == "README.md" ? "\n\n| A |\n|---|\n| [B](account-concept.md) |" : ""
        try Data("# Title\n\nSummary.\n\n\(text)\(table)\n".utf8)
          .write(to: folder.appending(path: name))
      }
    }
    try write("<!-- only web rest -->\n\n[Text](common-build.md#a).\n\n<!-- end -->")
    _ = try Guides(folder: folder.path).all()
    try write(text)
    #expect(throws: ConsoleError.self) { try Guides(folder: folder.path).all() }
  }

  private static let files =
    ["README.md"]
    + GuideTopic.allCases.flatMap { topic in
      GuideTab.allCases.map { "\(topic.rawValue)-\($0.rawValue).md" }
    }

  @Test func `a guide that can't be read is named with the reason at the start`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    for name in Self.files {
      try FileManager.default.createDirectory(
        at: folder.appending(path: name), withIntermediateDirectories: true)
    }
    let fault = #expect(throws: ConsoleError.self) { try Guides(folder: folder.path) }
    let text = fault?.description ?? ""
    #expect(text.hasPrefix(folder.path) && text.hasSuffix(".md can't be read: Is a directory"))
    #expect(fault?.isTemporary == false)
  }

  @Test func `guides and support playbooks have different names`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      for (page, name) in [
        ("/guides", "Guides"), (try await world.eu + "/guidance", "Support playbook"),
      ] {
        let answer = try await browser.get(page)
        #expect(answer.says("<h1>\(name)</h1>"))
        // The footer has the page's address.
        let text = answer.text.replacing(/<[^>]*>/, with: "").replacing("/guidance", with: "")
        #expect(!text.lowercased().contains("guidance"))
      }
    }
  }

  @Test func `the policy page links to the guides with its pool`() async throws {
    try await World.withSampleData { world in
      let policy = try await Browser.signedIn(world).get(try await world.eu + "/policy")
      let query = "?project=acme-retail&tenant=\(try await world.euShop.text)"
      for topic in GuideTopic.allCases where topic.pattern != nil {
        #expect(policy.values(of: "href").contains(topic.path() + query))
      }
    }
  }
}

extension String {
  fileprivate var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}

extension Answer {
  /// The text of a guide.
  fileprivate var article: [Substring] { between("<article", "</article>") }

  /// Every text between two pieces of markup.
  func between(_ start: String, _ end: String) -> [Substring] {
    var found: [Substring] = []
    var rest = Substring(text)
    while let from = rest.firstRange(of: start) {
      rest = rest[from.upperBound...]
      guard let to = rest.firstRange(of: end) else { break }
      found.append(rest[..<to.lowerBound])
      rest = rest[to.upperBound...]
    }
    return found
  }
}
