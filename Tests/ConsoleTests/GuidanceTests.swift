import Foundation
import HTTP
import Identity
import Localization
import Templating
import Testing

@testable import Console

/// The required content of the guides, and the values they show.
@Suite struct GuidanceTests {
  static let names = ["mandatory", "skippable", "account", "step-up"]

  /// The sections of every guide, in this order, with the pattern's own sections between them.
  static let sections = [
    "When to use it", "User experience", "Call sequence", "Turn TOTP on", "Requirements",
    "Enroll a user", "QR code and authenticator app", "Sign in with a second factor",
    "Wrong and expired codes", "REST API walkthrough", "Remove a factor", "Lost device",
    "Launch checklist", "Rollout", "Limits of one-time codes", "Support checklist", "Sources",
  ]

  static let platforms = [
    "web", "Android, Kotlin", "Android, Java", "iOS, Swift", "iOS, Objective-C",
  ]

  /// The title of each guide's own code sample, for every platform.
  static let owns = [
    "mandatory": "Gate", "skippable": "Offer", "account": "Section", "step-up": "Guard",
  ]

  /// The text of a fragment that begins inside a tag.
  private static func textContent(_ piece: Substring) -> String {
    String(piece.drop { $0 != ">" }.dropFirst().prefix { $0 != "<" }).trimmed
  }

  @Test(arguments: names)
  func `a guide has at least 900 words, excluding shared parts`(
    name: String
  ) throws {
    let path = Checkout.folder("Templates/guidance/en/\(name).md")
    let source = try String(contentsOf: URL(filePath: path), encoding: .utf8)
    let prose = source.split(separator: "```", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset.isMultiple(of: 2) }.map(\.element).joined(separator: " ")
    #expect(prose.split(whereSeparator: \.isWhitespace).count >= 900)
  }

  @Test(arguments: names)
  func `a guide has every section and lists it in the table of contents`(name: String) async throws
  {
    try await World.withSampleData { world in
      let guide = try await Browser.signedIn(world).get("/guidance/\(name)")
      Markup.check(guide)
      let headings = guide.between("<h2 id=\"", "</h2>").map(Self.textContent)
      let own = headings.filter { !["On this page", "The four patterns"].contains($0) }
      var rest = Self.sections[...]
      for heading in own where rest.first == heading { rest.removeFirst() }
      #expect(rest.isEmpty, "missing or out of place: \(rest)")
      let contents = try #require(guide.between("id=\"contents\"", "</nav>").first)
      #expect(contents.split(separator: "<a ").dropFirst().map(Self.textContent) == own)
      for version in ["9.19.1", "10.0.0", "22.1.0", "10.12.0", "12.2.0", "11.6.0"] {
        #expect(guide.says(version))
      }
      let smaller = Set(guide.between("<h3 id=\"", "</h3>").map(Self.textContent))
      for platform in Self.platforms {
        for verb in ["Connect", "Enroll", "Open the app", "Sign in", "Remove"] {
          #expect(smaller.contains("\(verb): \(platform)"))
        }
        #expect(smaller.contains("\(Self.owns[name] ?? ""): \(platform)"))
      }
      for verb in ["Connect", "Enroll", "Open the app", "Sign in", "Remove"] {
        #expect(smaller.contains("\(verb): REST"))
      }
      for way in ["Node.js", "Python", "curl"] {
        #expect(smaller.contains("Turn TOTP on: \(way)"))
      }
      for text in [
        "CREDENTIAL_TOO_OLD_LOGIN_AGAIN", "INVALID_CODE", "OPERATION_NOT_ALLOWED",
        "QUOTA_EXCEEDED : Exceeded quota.",
        "TOTP_CHALLENGE_TIMEOUT : TOTP challenge timeout, provide first factor again.",
        "UNSUPPORTED_FIRST_FACTOR : MFA is not available for the given first factor.",
        "UNVERIFIED_EMAIL : Need to verify email first before enrolling second factors.",
        "use 11.0.0 or 11.1.0", "Since 12.0.0,", "must be called on the main actor",
        "openInOtpApp", "not resistant to phishing", "AAL2", "Google Authenticator",
        "auth/invalid-mfa-enrollment-id", "auth/invalid-credential", "In waves",
        "People without a smartphone", "Remembered devices", "A second notification address",
        "Session lengths", "Moving between patterns", "RFC 6238", "NIST SP 800-63B-4", "OWASP",
      ] { #expect(guide.says(text), "\(text)") }
    }
  }

  @Test(arguments: GuidePlatform.allCases)
  func `the sample for signing in has three branches and accepts another code`(
    platform: GuidePlatform
  ) async throws {
    try await World.withSampleData { world in
      let guide = try await Browser.signedIn(world).get("/guidance/account")
      let pane = try #require(
        guide.between("<div class=\"pane\" data-for=\"\(platform.rawValue)\">", "</pre>")
          .first { $0.contains("Sign in: ") },
        "\(guide.text.ranges(of: "data-for=\"\(platform.rawValue)\"").count) panes")
      guard platform != .rest else {
        #expect(pane.contains("mfaSignIn:finalize") && guide.says("phoneVerificationInfo"))
        return
      }
      let text = pane.replacing(/<[^>]*>/, with: "").lowercased()
      for part in [
        "totpmultifactorgenerator", "phonemultifactorgenerator", "verifyphonenumber", "unsupported",
        "choose", "isretry",
      ] { #expect(text.contains(part), "\(part)") }
      #expect(
        text.contains("invalid-verification-code") || text.contains("invalid_verification_code")
          || text.contains("invalidverificationcode"))
    }
  }

  @Test func `the platform is chosen with a link and remembered`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
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
      #expect(try await chosen("/guidance/mandatory") == "web")
      #expect(try await chosen("/guidance/mandatory?platform=swift") == "swift")
      #expect(try await chosen("/guidance/step-up?project=acme-retail") == "swift")
      #expect(try await chosen("/guidance/step-up?platform=cobol") == "swift")
      #expect(try await chosen("/guidance/step-up?platform=rest") == "rest")
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

  @Test(arguments: names)
  func `a guide explains what support can do and who sends email`(name: String) async throws {
    try await World.withSampleData { world in
      let guide = try await Browser.signedIn(world).get("/guidance/\(name)")
      let device = try #require(guide.between("<h2 id=\"lost-device\"", "<h2 id=").first)
      for means in [
        "Suspend", "temporary code", "Remove", "undo", "Send a link", "mfaRecoveryCodes:generate",
      ] {
        #expect(device.contains(means), "\(means)")
      }
      let wrong = try #require(guide.between("<h2 id=\"wrong-and-expired-codes\"", "<h2 id=").first)
      #expect(wrong.contains("until support unlocks them"))
      #expect(guide.says("The server emails the link"))
      // Temporary and recovery codes contain letters.
      #expect(guide.says("let the field accept letters"))
    }
  }

  @Test(arguments: names)
  func `every code sample is copyable, keyboard-scrollable, and uniquely labeled`(
    name: String
  ) async throws {
    try await World.withSampleData { world in
      let guide = try await Browser.signedIn(world).get("/guidance/\(name)")
      let samples = guide.between("<pre", "</pre>")
      let labels = guide.between(
        "<div class=\"code\"><pre data-copy tabindex=\"0\" aria-label=\"", "\"")
      #expect(samples.count > 30 && labels.count == samples.count)
      #expect(Set(labels).count == labels.count)
      #expect(!guide.says("class=\"language-"))
    }
  }

  @Test(arguments: names)
  func `without a pool, a guide shows placeholders`(name: String) async throws {
    try await World.withSampleData { world in
      let guide = try await Browser.signedIn(world).get("/guidance/\(name)")
      #expect(guide.says("PROJECT_ID") && guide.says("TENANT_ID") && guide.says("key=API_KEY"))
      #expect(guide.says("\(World.publicURL)/v2/accounts/mfaEnrollment:start"))
      #expect(!guide.says("{{") && !guide.says("AIza"))
    }
  }

  @Test(arguments: names)
  func `with a tenant, a guide shows the tenant's values`(name: String) async throws {
    try await World.withSampleData { world in
      let tenant = try await world.euShop.text
      let query = "?project=acme-retail&tenant=\(tenant)"
      let guide = try await Browser.signedIn(world).get("/guidance/\(name)" + query)
      Markup.check(guide)
      let key = try #require(try await world.identity.apiKeys.list(ID("acme-retail")).first?.text)
      #expect(guide.says("accounts:signUp?key=\(key)"))
      #expect(guide.says("&quot;tenantId&quot;: &quot;\(tenant)&quot;"))
      #expect(guide.says("/v1/projects/acme-retail/tenants/\(tenant)/accounts:"))
      #expect(guide.says("within 5 adjacent intervals of 30 seconds on each side"))
      for word in ["PROJECT_ID", "TENANT_ID", "API_KEY", "{{"] { #expect(!guide.says(word)) }
      // The links keep the tenant, and one leads back to its policy.
      #expect(guide.says("href=\"\(try await world.eu)/policy\""))
      for other in Self.names {
        #expect(guide.values(of: "href").contains("/guidance/\(other)" + query))
      }
      for link in guide.values(of: "href") where link.hasPrefix("/") && link.contains("guid") {
        let leads = world.leads(.get, link)
        #expect(leads, "\(link)")
      }
    }
  }

  @Test func `with a project, a guide omits the tenant and says when TOTP is off`() async throws {
    try await World.withSampleData { world in
      let guide = try await Browser.signedIn(world).get("/guidance/account?project=acme-retail")
      #expect(!guide.says("&quot;tenantId&quot;"))
      #expect(guide.says("/v1/projects/acme-retail/accounts:update"))
      #expect(guide.says("TOTP is off in this user pool"))
    }
  }

  @Test func `an inaccessible pool is not found`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let us = try await world.tenantID("us-shop").text
      for page in ["/guidance", "/guidance/mandatory"] {
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
        id: "hostile-one", displayName: name, by: Author(actor: .commandLine))
      let browser = try await Browser.signedIn(world)
      for page in ["/guidance", "/guidance/step-up"] {
        let answer = try await browser.get(page + "?project=hostile-one")
        guard answer.status == .ok else { continue }
        Markup.check(answer)
        let escaped = HTML.escaped(Isolation.contained(name))
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
      let list = try await browser.get("/guidance")
      #expect(list.between("<tr><th scope=\"row\">", "</tr>").count == 4)
      #expect(!list.says("current pattern"))
      let query = "?project=acme-retail&tenant=\(try await world.euShop.text)"
      let own = try await browser.get("/guidance" + query)
      let marked = own.between("<section class=\"card stack-tight\"><h2>", "</section>").filter {
        $0.contains("current pattern")
      }
      #expect(marked.count == 1 && marked[0].contains("/guidance/account?project="))
    }
  }

  @Test(arguments: [
    "{{only cobol}}", "{{only web cobol}}", "{{only}}", "{{only web}}", "{{end}}",
    "{{draw enroll}}",
    "{{only web}}\n\n{{only rest}}\n\n{{end}}\n\n{{end}}", "{{sketch nothing}}", "{{nothing}}",
  ])
  func `a guide with an unknown directive isn't rendered`(text: String) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func write(_ text: String) throws {
      for name in Self.names {
        try Data("# Title\n\nSummary.\n\n\(text)\n".utf8)
          .write(to: folder.appending(path: "\(name).md"))
      }
    }
    try write("{{only web rest}}\n\nText.\n\n{{end}}")
    _ = try Guides(folder: folder.path).all()
    try write(text)
    #expect(throws: ConsoleError.self) { try Guides(folder: folder.path).all() }
  }

  @Test func `a guide that can't be read is named with the reason at the start`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    for name in Self.names {
      try FileManager.default.createDirectory(
        at: folder.appending(path: "\(name).md"), withIntermediateDirectories: true)
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
        ("/guidance", "Guides"), (try await world.eu + "/guidance", "Support playbook"),
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
      for name in Self.names {
        #expect(policy.values(of: "href").contains("/guidance/\(name)" + query))
      }
    }
  }
}

extension String {
  fileprivate var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}

extension Answer {
  /// Every text between two pieces of markup.
  fileprivate func between(_ start: String, _ end: String) -> [Substring] {
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
