import HTTP
import Identity
import Localization
import Templating
import Testing

@testable import Console

/// Pages show only messages, names, and code.
@Suite struct PseudoLocaleTests {
  /// Words that aren't translated: names, and words of code and standards.
  static let names: Set<String> = [
    "Countersign", "Acme", "Retail", "Retail?", "Globex", "eu-shop", "us-shop", "sandbox", "Ada",
    "Nadia",
    "Tomás", "Iris", "Chiara", "Bianchi", "Pixel", "Guest", "without", "address", "UTC",
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    "UTC:", "TOTP", "SMS", "SAML", "OpenID", "Connect", "staff", "chi", "localhost",
    "example",
    "AIza…TycE",
    // Foundation's lists and dates, which are English in the pseudo-locale.
    "and", "or", "AM", "PM",
  ]

  @Test func `every page is in the locale's language`() async throws {
    let pseudo = Catalog.pseudo()
    try await World.withSampleData { world in
      let world = try world.localized(pseudo)
      for page in PageTests.pages {
        let browser =
          page.who == nil ? Browser(world) : try await Browser.signedIn(world, as: page.who ?? "")
        let answer = try await browser.get(try await world.filled(page.address))
        #expect(answer.text.contains("lang=\"en-XA\" dir=\"ltr\""), "\(page.name)")
        let english = Self.english(in: answer.text)
        #expect(english == [], "\(page.name)")
      }
    }
  }

  /// What the objects of `Samples` are named and say.
  private static let sampleTexts = [
    "SIEM &amp; archive", "Template of", "Enrollment is too hard.", "Theft at the office",
    "Calls often.", "for the SIEM", "Olga", "Blocked",
    "try again later", "HTTP", "Old", "old-phone", "Phone", "acme-retail",
  ]

  /// A form without its fields shows their errors, or takes effect; the rest then get a new world.
  @Test(arguments: [false, true])
  func `every address and the errors of every form are in the locale's language`(
    ofTenant: Bool
  ) async throws {
    let pseudo = Catalog.pseudo()
    var rest: [ConsoleRoute] = []
    try await World.empty { world in
      let all = world.console.routes.filter { $0.route.isOfTenant == ofTenant && !$0.isOfFile }
      rest = all.filter { $0.route.method == .get } + all.filter { $0.route.method == .post }
    }
    while !rest.isEmpty {
      try await World.withSampleData { world in
        let samples = try await Samples(world, ofTenant: ofTenant)
        let world = try world.localized(pseudo)
        let ada = try await Browser.signedIn(world)
        let csrf = try await ada.get("/projects").csrf
        while let route = rest.first {
          rest.removeFirst()
          guard let address = samples.address(of: route.route) else { continue }
          let isReading = route.route.method == .get
          let browser = route.access == .open ? Browser(world) : ada
          let answer =
            isReading
            ? try await browser.get(address) : try await browser.post(address, ["csrf": csrf])
          if answer.response.fields[.contentType]?.hasPrefix("text/html") == true {
            let ownText = Self.sampleTexts.reduce(answer.text) { $0.replacing($1, with: "") }
            #expect(Self.english(in: ownText) == [], "\(route.route.method) \(address)")
          }
          if !isReading, answer.status.code < 400 { break }
        }
      }
    }
  }

  @Test func `a client gets the locale it prefers`() async throws {
    try await World.withSampleData { world in
      let catalogs = [Catalog.english, .pseudo()]
      let consoles = try Consoles(catalogs) { try world.localized($0).console }
      let cases = [("en-XA, en;q=0.5", "en-XA"), ("fr", "en"), ("en", "en")]
      for (field, locale) in cases {
        let response = await consoles.respond(to: try Self.request(field))
        let page = String(decoding: response.body.bytes, as: UTF8.self)
        #expect(page.contains("<html lang=\"\(locale)\""))
        #expect(response.fields[.vary]?.contains("Accept-Language") == true)
      }
      let only = Consoles([.english]) { _ in world.console }
      let response = await only.respond(to: try Self.request("de"))
      #expect(response.fields[.vary]?.contains("Accept-Language") != true)
    }
  }

  private static func request(_ language: String) throws -> Request {
    guard let target = Target("/sign-in") else { throw Missing("target") }
    return Request(
      method: .get, target: target, fields: [.acceptLanguage: language], body: [],
      peer: "192.0.2.9", id: RequestID(4711))
  }

  @Test func `a right-to-left locale sets the page's direction`() async throws {
    let pseudo = Catalog.pseudo(rightToLeft: true)
    try await World.withSampleData { world in
      let answer = try await Browser(try world.localized(pseudo)).get("/sign-in")
      #expect(answer.text.contains("lang=\"ar-XB\" dir=\"rtl\""))
    }
  }

  @Test(arguments: [
    ("<p>Plain</p>", ["Plain"]), ("<p>⟦Ûûšééŕ ⟦îîñ⟧ ada@x.example⟧</p>", []),
    ("<p>⟦Ûûšééŕ plain⟧</p>", ["plain"]),
    ("<p><bdi>Ada</bdi> <code>x y</code> 12</p>", []), ("<input value=\"typed\">", []),
    ("<button aria-label=\"Plain\" title=\"⟦ẋ⟧\">⟦ẋ⟧</button>", ["Plain"]),
    ("<p>⟦åå⟧ plain <b>words</b></p>", ["plain", "words"]),
    ("<a class=\"x\" href=\"/users\">kT9w2m ada@x.example</a>", []),
  ])
  func `untranslated English is found`(html: String, found: [String]) {
    #expect(Self.english(in: html) == found)
  }

  /// The visible text outside of messages and outside of elements for names and code.
  private static func english(in html: String) -> [String] {
    // Guides have their own language.
    let translated = html.replacing(
      #/<(article|div|ul|p)\b[^>]* lang="en"[^>]*>.*?</\1>/#.dotMatchesNewlines(), with: "")
    let hidden = translated.replacing(
      #/<(script|style|svg|code|kbd|pre|bdi|time|textarea)\b[^>]*>.*?</\1>|<[a-z]+ class="[^"]*\bmono\b[^"]*"[^>]*>[^<]*</#
        .dotMatchesNewlines(), with: "<")
    let attributes = hidden.matches(
      of: /\b(?:aria-label|title|alt|placeholder|data-label)="([^"]*)"/
    ).map { String($0.1) }
    let texts = hidden.replacing(/<[^>]*>/, with: "\n").split(separator: "\n").map(String.init)
    return (attributes + texts).compactMap { text in
      // Every letter of a message has an accent, so other words are arguments or hard-coded.
      let words = text.replacing(/&[#a-z0-9]+;/, with: " ")
        .split(separator: /[\s·,()“”⟦⟧\u{2068}\u{2069}]+/)
        .filter { word in
          word.contains(/[A-Za-z]{2,}/) && !names.contains(String(word))
            && !word.contains(/[0-9@.\/_]/)
        }
      return words.isEmpty ? nil : words.joined(separator: " ")
    }
  }
}

extension ConsoleRoute {
  /// Whether the route answers with a file, whose language is that of its columns.
  fileprivate var isOfFile: Bool {
    guard case .literal(let last)? = route.components.last else { return false }
    return last.hasSuffix(".csv") || last.hasSuffix(".json")
  }
}
