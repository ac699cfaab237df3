import Testing

/// Parsers return external text as `UntrustedText`, never as `String`, which Swift normalizes to
/// compare and hash.
struct UntrustedTextTests {
  /// The files with the public types that parsers return.
  private static let parsers = [
    "Sources/HTTP/Form.swift", "Sources/HTTP/Cookie.swift", "Sources/HTTP/Target.swift",
    "Sources/HTTP/PathComponent.swift",
    "Sources/HTTP/Path.swift", "Sources/HTTP/PercentCoding.swift", "Sources/JSON/JSON.swift",
    "Sources/JSON/Object.swift", "Sources/JSON/Parser.swift", "Sources/JSON/ElementReader.swift",
    "Sources/JSON/Number.swift", "Sources/JSON/JSONError.swift",
    "Sources/Text/CSVParser.swift", "Sources/countersign/Import/CSVReader.swift",
  ]

  /// Declarations that may return a `String`, each with the reason.
  private static let allowed: [String: String] = [
    "Form.text": "has a limit in bytes",
    "Form.urlEncoded": "is written here, in ASCII",
    "Form.query": "is written here, in ASCII",
    "Cookie.name": "is of a cookie that the server sets",
    "Cookie.value": "is of a cookie that the server sets",
    "Cookie.path": "is of a cookie that the server sets",
    "Cookie.description": "is of a cookie that the server sets",
    "Target.rawPath": "is printable ASCII",
    "Target.rawQuery": "is printable ASCII",
    "Target.slice": "is a part of such a text",
    "PathComponent.literal": "is a word of a route",
    "PathComponent.parameter": "is a word of a route",
    "PathComponent.pathSegment": "is written into a link",
    "Path.callAsFunction": "is written into a link",
    "Path.link": "is written into a link",
    "Path.pattern": "is a route's",
    "Path.positions": "holds the suffixes of a route",
    "PercentCoding.cleaned": "is written here, in ASCII",
    "Number.text": "is ASCII by the grammar of numbers",
    "JSONError.description": "is a sentence",
  ]

  @Test func `parsers return no raw text`() throws {
    var found: Set<String> = []
    for path in Self.parsers {
      let file = try SourceTree.file(path)
      found.formUnion(Self.texts(in: file))
    }
    #expect(found.subtracting(Self.allowed.keys).sorted() == [])
    #expect(Set(Self.allowed.keys).subtracting(found).sorted() == [], "no longer there")
  }

  @Test(arguments: [
    ("  public subscript(name: String) -> String? {", ["Form.subscript"]),
    ("  public func all(_ name: String) -> [String] {", ["Form.all"]),
    ("  public let value: String", ["Form.value"]),
    ("  public private(set) var pairs: [(name: String, value: Int)] = []", ["Form.pairs"]),
    ("  case string(String)", ["Form.string"]),
    ("  func read(\n    _ bytes: [UInt8]\n  ) throws(E) -> [String: Int] {", ["Form.read"]),
    ("  private let own: String", []),
    ("  public func add(_ name: String) {", []),
    ("  public let value: UntrustedText", []),
    ("  /// let value: String", []),
  ])
  func `raw text is found`(code: String, found: [String]) {
    let file = SourceFile(path: "Sources/HTTP/Form.swift", text: "\n" + code)
    #expect(Self.texts(in: file).sorted() == found)
  }

  /// The names of non-private declarations whose type or result contains `String`.
  private static func texts(in file: SourceFile) -> Set<String> {
    let name = file.path.split(separator: "/").last?.split(separator: ".").first ?? ""
    let type = name.split(separator: "+").first ?? name
    let code = file.lines.map { $0.split(separator: "//", maxSplits: 1).first ?? "" }
      .filter { !$0.contains("private let") && !$0.contains("private var") }
      .joined(separator: "\n")
    var found: Set<String> = []
    func add(_ declared: Substring, _ what: Substring) {
      if what.contains(/\bString\b/) { found.insert("\(type).\(declared)") }
    }
    // Members of a type are indented by two spaces; those of a nested type by four, as are local
    // variables, which are `var`.
    for match in code.matches(of: /\n  (?:[a-z()]+ )*(?:let|var) (\w+): ([^={\n]+)/) {
      add(match.1, match.2)
    }
    for match in code.matches(
      of: /\n    (?:public (?:[a-z()]+ )*var|(?:[a-z()]+ )*let) (\w+): ([^={\n]+)/)
    {
      add(match.1, match.2)
    }
    for match in code.matches(
      of: /\n +(?:public |static |mutating )*(func \w+|subscript)[^{]*?-> ([^{\n]+)/)
    {
      add(match.1.split(separator: " ").last ?? "", match.2)
    }
    for match in code.matches(of: /\n +case (\w+)\(([^)]*)\)/) { add(match.1, match.2) }
    return found
  }
}
