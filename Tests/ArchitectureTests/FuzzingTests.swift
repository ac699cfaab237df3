import Testing

/// Modules with parsers of outside bytes are fuzzed.
struct FuzzingTests {
  /// The modules that read what a client, an operator, or another server sent.
  private static let parsing: Set = [
    "CBOR", "Crypto", "DatabasePostgreSQL", "HTTP", "HTTPClient", "HTTPServer", "INI", "Identity",
    "IdentityToolkitAPI", "IdentityToolkitClient", "JSON", "Localization", "Markdown", "Network",
    "OpenIDConnect", "SMTP", "Templating", "Text", "WebAuthn",
  ]

  @Test func `ParserFuzzing depends on and imports every module with a parser`() throws {
    let package = try SourceTree.file("Package.swift").text
    let target = try #require(
      package.firstMatch(of: /name: "ParserFuzzing",\s+dependencies: \[([^\]]+)\]/))
    let dependencies = Set(target.1.matches(of: /"(\w+)"/).map { String($0.1) })
    #expect(Self.parsing.subtracting(dependencies) == [])
    let imports = try SourceTree.files(in: "Tests/ParserFuzzing").flatMap { file in
      file.lines.compactMap {
        $0.firstMatch(of: /^(?:@testable )?import (\w+)$/).map { String($0.1) }
      }
    }
    #expect(Self.parsing.subtracting(imports) == [])
  }

  @Test func `the modules over libraries that parse are among them`() throws {
    // The other libraries compute, or are given what this program wrote.
    let importers = [
      "CCBOR": "CBOR", "CCmark": "Markdown", "CInih": "INI", "CMicroHTTPD": "HTTPServer",
    ]
    for (library, module) in importers {
      let files = try SourceTree.files(in: "Sources/\(module)")
      #expect(files.contains { $0.text.contains("import \(library)") })
      #expect(Self.parsing.contains(module))
    }
  }
}
