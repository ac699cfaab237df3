import Foundation
import Testing

/// The modules of this package that each module may import: those of lower layers, or of the same one
/// without a cycle.
private let mayImport: [String: Set<String>] = [
  "CMicroHTTPD": [], "CSQLite": [], "CCmark": [], "CCrypto": [], "CArgon2": [], "CQREncode": [],
  "CZlib": [], "CCurl": [], "CCrypt": [], "CInih": [], "CLinux": [],
  "CCBOR": [], "CPostgreSQL": [],

  "Crypto": ["CCrypto", "CArgon2", "CCrypt"],
  "Text": [],

  "JSON": ["Text"],

  "OTP": ["Crypto", "Text"],
  "Metrics": [],
  "Localization": ["Host", "Text"],
  // View models have messages from Localization.
  "Templating": ["Host", "Localization", "Text"],
  "HTTP": ["JSON", "Text"],
  // What is measured of a database on a server.
  "Database": ["Metrics"],
  "Compression": ["CZlib"],
  "QRCode": ["CQREncode"],
  "INI": ["CInih"],
  // Facts about the machine that only C tells.
  "Host": ["CLinux"],
  "CBOR": ["CCBOR"],
  "WebAuthn": ["CBOR", "Crypto", "JSON", "Text"],
  "OpenIDConnect": ["Crypto", "JSON", "Text"],
  "Markdown": ["CCmark", "Text"],
  "Network": [],
  // libcurl has one importer, and SMTP sends through it.
  "HTTPClient": ["CCurl", "Crypto", "Network"],
  "SMTP": ["Crypto", "HTTPClient", "Network"],
  "SMS": ["Crypto", "HTTPClient", "JSON"],
  // Says what to do about Google's errors, on pages and in commands.
  "IdentityToolkitClient": ["Crypto", "JSON", "Localization", "OpenIDConnect", "Text"],

  "Identity": [
    "Compression", "Database", "Crypto", "IdentityToolkitClient", "JSON", "Network", "OTP",
    "OpenIDConnect", "Text", "WebAuthn",
  ],

  "HTTPServer": ["Compression", "HTTP", "Host", "Network", "Text", "CMicroHTTPD"],
  "DatabaseSQLite": ["Database", "Host", "Metrics", "Text", "CSQLite"],
  "DatabasePostgreSQL": ["Database", "Host", "Metrics", "CPostgreSQL"],
  // Formats the facts that Identity reports by email.
  "MailText": ["Identity", "IdentityToolkitClient", "Localization", "OTP"],
  // The API and the console pass secrets and codes to Identity.
  "IdentityToolkitAPI": ["Crypto", "HTTP", "JSON", "Identity", "OTP", "OpenIDConnect", "Text"],
  "Console": [
    "Crypto", "HTTP", "Host", "JSON", "Identity", "IdentityToolkitClient", "Localization",
    "MailText", "Markdown", "OTP", "OpenIDConnect", "QRCode", "Templating", "Text", "WebAuthn",
  ],

  // Fills a database directly, without the API or the console.
  "Demo": ["Crypto", "Database", "Identity", "OTP", "OpenIDConnect", "Text"],

  "countersign": [
    "Crypto", "Text", "JSON", "OTP", "Localization", "Templating", "HTTP", "Database", "QRCode",
    "Markdown", "INI", "Host", "MailText", "Metrics", "Network", "HTTPClient", "SMTP", "SMS",
    "Identity", "HTTPServer", "DatabaseSQLite", "DatabasePostgreSQL",
    "IdentityToolkitAPI", "IdentityToolkitClient", "Console", "Demo",
  ],
]

/// The one module that may import each C library.
private let onlyImporter = [
  "CMicroHTTPD": "HTTPServer", "CZlib": "Compression", "CSQLite": "DatabaseSQLite",
  "CCmark": "Markdown", "CCrypto": "Crypto", "CArgon2": "Crypto", "CCrypt": "Crypto",
  "CQREncode": "QRCode", "CCurl": "HTTPClient", "CInih": "INI", "CLinux": "Host",
  "CCBOR": "CBOR", "CPostgreSQL": "DatabasePostgreSQL",
]

/// The modules of the toolchain.
private let toolchain: Set = [
  "Foundation", "FoundationEssentials", "Synchronization", "Dispatch", "Glibc",
]

struct ImportTests {
  @Test func `every import is in the table`() throws {
    let breaches = try SourceTree.files(in: "Sources").flatMap(breaches)
    #expect(breaches == [])
  }

  @Test func `every module has a row, and every row a module`() throws {
    let folders = try FileManager.default.contentsOfDirectory(
      atPath: SourceTree.root.appending(path: "Sources").path)
    #expect(Set(folders) == Set(mayImport.keys))
  }

  @Test func `each C library has one importer`() {
    for (library, importer) in onlyImporter {
      #expect(mayImport.filter { $0.value.contains(library) }.map(\.key) == [importer])
    }
    #expect(
      Set(onlyImporter.keys)
        == Set(
          mayImport.keys.filter { $0.wholeMatch(of: /C[A-Z]\w+/) != nil }
            .filter { mayImport[$0] == [] }))
  }

  @Test func `no dependency is circular`() {
    func reach(_ module: String) -> Set<String> {
      (mayImport[module] ?? []).reduce(into: mayImport[module] ?? []) { $0.formUnion(reach($1)) }
    }
    for module in mayImport.keys { #expect(!reach(module).contains(module)) }
  }

  @Test func `docs/architecture.md has every module, and no dependency points up`() throws {
    let layers = try Self.layers()
    let modules = Set(mayImport.keys).subtracting(onlyImporter.keys)
    #expect(modules.symmetricDifference(layers.keys).sorted() == [])
    let rising = mayImport.flatMap { module, imports in
      imports.filter { layers[$0, default: .max] < layers[module, default: 0] }
        .map { "\(module) imports \($0)" }
    }
    #expect(rising == [])
  }

  @Test func `docs/architecture.md has the imports of each module`() throws {
    let modules = Set(mayImport.keys).subtracting(onlyImporter.keys)
    let all = try Self.list().joined(separator: "\n")
    // A module's imports can go on in the next line, without an arrow or a name before them.
    for entry in all.replacing(/\n {6,}/, with: " ").split(separator: "\n")
    where entry.hasPrefix(" ") {
      let words = Self.words(of: entry).filter(modules.contains)
      let module = try #require(words.first)
      let imports = mayImport[module, default: []].intersection(modules)
      let listed = Set(words.dropFirst())
      #expect(
        listed == (entry.contains("except") ? modules.subtracting(imports + [module]) : imports),
        "\(module)")
    }
  }

  /// Returns the modules in the document's list with the numbers of their layers, the highest layer
  /// first.
  ///
  /// A module's own line is below those of the modules that import it.
  private static func layers() throws -> [String: Int] {
    var layers: [String: Int] = [:]
    var layer = 0
    for line in try list() {
      if !line.hasPrefix(" ") { layer += 1 }
      for word in words(of: line) where mayImport[word] != nil { layers[word] = layer }
    }
    return layers
  }

  private static func list() throws -> [Substring] {
    let blocks = try SourceTree.file("docs/architecture.md").text.components(separatedBy: "```")
    return try #require(blocks.dropFirst().first).split(separator: "\n")
  }

  private static func words(of line: Substring) -> [String] {
    line.split { !$0.isLetter }.map(String.init)
  }

  @Test func `no module re-exports another`() throws {
    let exports = try SourceTree.files(in: "Sources").flatMap { file in
      file.code(with: "@_exported").map { file.breach($0.line, $0.code) }
    }
    #expect(exports == [])
  }

  /// Identity's package-visible parts are only for the demo.
  @Test func `only the demo uses Identity's store`() throws {
    let uses = try SourceTree.files(in: "Sources").filter { file in
      !["Identity", "Demo"].contains(file.module)
    }.flatMap { file in
      file.code(with: "identity.store").map { file.breach($0.line, $0.code) }
    }
    #expect(uses == [])
  }

  @Test func `the package depends on no other package`() throws {
    let manifest = try SourceTree.file("Package.swift")
    #expect(manifest.code(with: ".package(").isEmpty)
  }

  @Test(arguments: [
    ("Sources/Console/A.swift", "import Database"),
    ("Sources/HTTP/A.swift", "public import struct Crypto.Secret"),
    ("Sources/Identity/A.swift", "@_exported public import HTTP"),
    ("Sources/HTTP/A.swift", "  private import CMicroHTTPD"),
    ("Sources/OTP/A.swift", "@testable import Identity"),
    ("Sources/JSON/A.swift", "import NIOCore"),
  ])
  func `a violation is found`(path: String, line: String) {
    #expect(breaches(SourceFile(path: path, text: "// import JSON\n\(line)\n")).count == 1)
  }

  private func breaches(_ file: SourceFile) -> [String] {
    guard let module = file.module else { return ["\(file.path): not in a module"] }
    let allowed = toolchain.union(mayImport[module] ?? [])
    return file.code(with: "import").compactMap { line, code in
      guard
        let match = code.wholeMatch(
          of:
            /\s*(?:@\w+\s+)*(?:\w+\s+)?import\s+(?:(?:struct|class|enum|protocol|typealias|func|let|var)\s+)?([A-Z]\w+).*/
        )
      else { return nil }
      let imported = String(match.1)
      return allowed.contains(imported)
        ? nil : file.breach(line, "\(module) may not import \(imported)")
    }
  }
}
