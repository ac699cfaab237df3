import Foundation
import HTTP
import Testing
import Text

@testable import Console

/// Requirements for all pages, checked on every snapshot.
@Suite struct MarkupTests {
  static let pages: [String] = {
    let folder = Checkout.folder("Tests/ConsoleTests/__Snapshots__")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasSuffix(".html") }.sorted()
  }()

  /// A snapshot as a complete page: a page's content in a frame, or a frame around a heading.
  static func text(_ page: String) throws -> String {
    let text = try kept(page)
    guard !page.hasPrefix("frame-") else {
      return text.replacing("…</main>", with: "<h1>Page</h1></main>")
    }
    guard !text.hasPrefix("<!doctype"), let main = text.range(of: "<main") else { return text }
    return try kept("frame-signed-out.html")
      .replacing(#/<title>.*</title>/#, with: text[..<main.lowerBound])
      .replacing(#/<main[^>]*>…</main>/#, with: text[main.lowerBound...])
  }

  private static func kept(_ page: String) throws -> String {
    let folder = Checkout.folder("Tests/ConsoleTests/__Snapshots__")
    return try String(contentsOf: URL(filePath: "\(folder)/\(page)"), encoding: .utf8)
  }

  @Test func `there are snapshots of every kind of page`() {
    #expect(Self.pages.count > 40)
  }

  @Test(arguments: pages)
  func `C6: markup is well-formed, labeled, and free of inline code`(page: String) throws {
    #expect(Markup.faults(of: try Self.text(page)) == [])
  }

  @Test(arguments: pages)
  func `a form with errors says so in its title`(page: String) throws {
    let text = try Self.text(page)
    #expect(text.contains("<title>Error: ") == text.contains("aria-labelledby=\"errors\""))
  }

  @Test func `every link and every form leads to a route`() async throws {
    try await World.empty { world in
      for page in Self.pages {
        let text = try Self.text(page)
        let answer = Answer(address: page, response: .html(Array(text.utf8)))
        for link in answer.values(of: "href")
        where !link.hasPrefix("#") && !link.hasPrefix("otpauth:") && !link.hasPrefix("https://") {
          #expect(world.leads(.get, String(link.prefix { $0 != "#" })), "\(page): \(link)")
        }
        for action in answer.values(of: "action") + answer.values(of: "formaction") {
          #expect(world.leads(.post, action) || world.leads(.get, action), "\(page): \(action)")
        }
      }
    }
  }

  @Test func `the stylesheet and the script stay small`() throws {
    let folder = Checkout.folder("Public")
    func size(_ name: String) throws -> Int {
      try Data(contentsOf: URL(filePath: "\(folder)/\(name)")).count
    }
    #expect(try size("countersign.css") < 50 * 1024)
    #expect(try size("countersign.js") < 8 * 1024)
    // On the few pages about passkeys, in addition to the script of every page.
    #expect(try size("passkey.js") < 3 * 1024)
    #expect(try size("session.js") < 5 * 1024)
    // On the page of a policy.
    #expect(try size("policy.js") < 2 * 1024)
    // On the page that takes the credential of a connection.
    #expect(try size("key-file.js") < 1024)
  }

  @Test func `C6, C7: every response has the security headers`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let answers = [
        try await browser.get("/projects"), try await browser.get("/nowhere"),
        try await Browser(world).get("/sign-in"), try await Browser(world).get("/"),
        try await browser.send(.put, "/"), try await browser.post("/projects/new", [:]),
        Answer(address: "", response: world.console.failure(.contentTooLarge)),
      ]
      for answer in answers {
        let fields = answer.response.fields
        #expect(fields[.contentSecurityPolicy] == SecurityHeaders.contentSecurityPolicy)
        #expect(fields[.xContentTypeOptions] == "nosniff")
        #expect(fields[.referrerPolicy] == "same-origin")
        #expect(fields["Cross-Origin-Opener-Policy"] == "same-origin")
        #expect(fields.all(.cacheControl) == ["no-store"])
        #expect(fields[.strictTransportSecurity] == "max-age=31536000; includeSubDomains")
        #expect(fields["Access-Control-Allow-Origin"] == nil)
      }
      let policy = SecurityHeaders.contentSecurityPolicy
      #expect(!policy.contains("unsafe") && !policy.contains("data:") && !policy.contains("*"))
    }
  }

  @Test(arguments: [400, 401, 403, 404, 405, 408, 413, 414, 415, 431, 500, 501, 503])
  func `C13: error pages show the request ID`(code: Int) async throws {
    try await World.empty { world in
      let response = world.console.failure(Status(code), requestID: RequestID(4711))
      let answer = Answer(address: "\(code)", response: response)
      #expect(answer.status.code == code)
      #expect(answer.says("<code>0000000004K7</code>"))
      Markup.check(answer)
    }
  }

  @Test func `an unsupported method gets a list of the allowed ones`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let answer = try await browser.send(.delete, "/projects/acme-retail/policy")
      #expect(answer.status == .methodNotAllowed)
      #expect(answer.response.fields[.allow] == "GET, HEAD, POST")
      #expect(answer.says("<h1>"))
    }
  }
}

extension World {
  /// Whether an address matches a route or a static file.
  func leads(_ method: HTTP.Method, _ link: String) -> Bool {
    guard let target = Target(link) else { return false }
    if target.segments.first == "static" { return true }
    return console.routes.contains { route in
      route.route.method == method && route.route.components.count == target.segments.count
        && zip(route.route.components, target.segments).allSatisfy { component, segment in
          if case .literal(let text) = component { return segment == UntrustedText(text) }
          return !segment.isEmpty
        }
    }
  }
}
