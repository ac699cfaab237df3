import HTTP
import Identity
import Templating
import Testing

@testable import Console

/// Pages show only text of the catalog, names, and code.
@Suite struct PseudoLocaleTests {
  /// Pages, by the beginning of their name, whose text isn't in the catalog yet.
  static let unconverted: [String] = []
  /// Words that aren't translated.
  static let names: Set<String> = ["Countersign"]

  @Test func `every page is in the catalog's language`() async throws {
    let pseudo = Catalog.pseudo(of: try World.catalog.get())
    try await World.furnished { world in
      let world = try world.speaking(pseudo)
      for page in PageTests.pages
      where !Self.unconverted.contains(where: { page.name.hasPrefix($0) }) {
        let browser =
          page.who == nil ? Browser(world) : try await Browser.signedIn(world, as: page.who ?? "")
        let answer = try await browser.get(try await world.filled(page.address))
        #expect(answer.text.contains("lang=\"en-XA\" dir=\"ltr\""), "\(page.name)")
        let english = Self.english(in: answer.text)
        #expect(english == [], "\(page.name)")
      }
    }
  }

  @Test func `a right-to-left locale turns the page`() async throws {
    let pseudo = Catalog.pseudo(of: try World.catalog.get(), rightToLeft: true)
    try await World.furnished { world in
      let answer = try await Browser(try world.speaking(pseudo)).get("/sign-in")
      #expect(answer.text.contains("lang=\"ar-XB\" dir=\"rtl\""))
    }
  }

  @Test(arguments: [
    ("<p>Plain</p>", ["Plain"]), ("<p>⟦Ûûsér ⟦ïn⟧ ada@x.example⟧</p>", []),
    ("<p><bdi>Ada</bdi> <code>x y</code> 12</p>", []), ("<input value=\"typed\">", []),
    ("<button aria-label=\"Plain\" title=\"⟦x⟧\">⟦x⟧</button>", ["Plain"]),
    ("<p>⟦a⟧ plain <b>words</b></p>", ["plain", "words"]),
    ("<a class=\"x\" href=\"/users\">kT9w2m ada@x.example</a>", []),
  ])
  func `plain English is found`(html: String, found: [String]) {
    #expect(Self.english(in: html) == found)
  }

  /// The texts that people can read, outside of messages and of elements for names and code.
  private static func english(in html: String) -> [String] {
    let hidden = html.replacing(
      #/<(script|style|svg|code|kbd|pre|bdi|time|textarea)\b[^>]*>.*?</\1>|<option\b[^>]*>.*?</option>|<[a-z]+ class="[^"]*\bmono\b[^"]*"[^>]*>[^<]*</#
        .dotMatchesNewlines(), with: "<")
    let attributes = hidden.matches(
      of: /\b(?:aria-label|title|alt|placeholder|data-label)="([^"]*)"/
    ).map { String($0.1) }
    let texts = hidden.replacing(/<[^>]*>/, with: "\n").split(separator: "\n").map(String.init)
    return (attributes + texts).compactMap { text in
      var text = text.replacing(/&[#a-z0-9]+;/, with: " ")
      // Messages can contain messages, so the innermost go first.
      while let range = text.firstRange(of: /⟦[^⟦⟧]*⟧/) { text.removeSubrange(range) }
      let words = text.split(separator: /[\s·,()“”]+/).filter { word in
        word.contains(/[A-Za-z]{2,}/) && !names.contains(String(word))
          && !word.contains(/[0-9@.\/_]/)
      }
      return words.isEmpty ? nil : words.joined(separator: " ")
    }
  }
}
