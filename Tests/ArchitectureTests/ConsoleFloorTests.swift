import Testing

/// The folders that pages are made of.
private let kit: Set<Substring> = ["Access", "Charts", "Formatting", "Forms", "Frame", "Shared"]

/// The files that name a type of another page, or of what's above them, with those types, by the
/// reason; no file and no type is added to it.
private let crossing: [String: [String: [String]]] = [
  "the guides are read once, for all locales": ["Access/ConsoleParts.swift": ["Guides"]],
  "a state has the link to the action that ends it": [
    "Forms/UserAction.swift": ["UnlockCodes"], "Users/DiagnosisView.swift": ["EndExemption"],
  ],
]

/// Each file of the console refers to types of its page, which is a folder, and of the kit below all
/// pages; those above all folders list the pages.
///
/// Members of extensions aren't found.
struct ConsoleFloorTests {
  @Test func `no file refers to a type of another page, except for those listed`() throws {
    let found = try Self.references(SourceTree.files(in: "Sources/Console"))
    let listed = crossing.values.flatMap { files in
      files.flatMap { file, types in types.map { "\(file): \($0)" } }
    }
    #expect(found.subtracting(listed).sorted() == [], "refers to a type of another page")
    #expect(Set(listed).subtracting(found).sorted() == [], "no longer there: shorten the list")
  }

  @Test(arguments: [
    ("Users/A.swift", "let a: Policy", 1), ("Forms/A.swift", "let a: Policy", 1),
    ("Users/A.swift", "let a: Console", 1), ("Forms/A.swift", "let a: Console", 1),
    ("Policy/A.swift", "let a: Policy", 0), ("Users/A.swift", "let a: Field", 0),
    ("Frame/A.swift", "let a: Field", 0), ("A.swift", "let a: Policy", 0),
    ("Users/A.swift", "let a = Policy.path()", 0), ("Users/A.swift", "let a = Policy.paths", 1),
  ])
  func `a reference to another page is found`(
    _ path: String, _ text: String, _ count: Int
  ) throws {
    let files = [
      SourceFile(path: "Sources/Console/\(path)", text: text),
      SourceFile(path: "Sources/Console/Forms/Field.swift", text: "struct Field {}"),
      SourceFile(path: "Sources/Console/Policy/Policy.swift", text: "struct Policy {}"),
      SourceFile(path: "Sources/Console/Console.swift", text: "public struct Console {}"),
    ]
    #expect(try Self.references(files).count == count)
  }

  /// Returns each reference of a file to a type of another page, or of the files above all folders,
  /// as `folder/file: type`.
  ///
  /// The path of a type's page isn't one: every page links to every other.
  private static func references(_ files: [SourceFile]) throws -> Set<String> {
    let parts = try files.map { file in
      let path = file.path.dropFirst("Sources/Console/".utf8.count)
      let place = path.firstIndex(of: "/").map { path[..<$0] }
      return (path: path, place: place, names: try NamedTypes(file, except: "path"))
    }
    let places = parts.reduce(into: [Substring: Substring?]()) { places, part in
      for type in part.names.types { places.updateValue(part.place, forKey: type) }
    }
    return parts.reduce(into: []) { found, part in
      guard let own = part.place else { return }
      for word in part.names.words.subtracting(part.names.nested) {
        guard let place = places[word], place != own, place.map({ !kit.contains($0) }) ?? true
        else { continue }
        found.insert("\(part.path): \(word)")
      }
    }
  }
}
