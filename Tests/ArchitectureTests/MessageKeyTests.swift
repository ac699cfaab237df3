import Foundation
import Localization
import Testing

/// Templates, code, and the catalog agree about messages.
struct MessageKeyTests {
  /// A use of a message.
  private struct Use {
    let place: String
    let key: String
    /// The names of its arguments; nil in a template, where the model must provide them.
    var arguments: Set<String>?
  }

  private static func catalog() throws -> Catalog {
    try Catalog(folder: SourceTree.root.appending(path: "Templates").path)
  }

  @Test func `every message of a template is in the catalog of its folder`() throws {
    let catalog = try Self.catalog()
    let breaches = try Self.templates().filter { use in
      let folder = use.place.split(separator: "/").dropFirst().dropLast().first ?? "parts"
      return catalog.pattern(use.key) == nil
        || !(use.key.hasPrefix("\(folder).") || use.key.hasPrefix("common."))
    }
    #expect(breaches.map { "\($0.place): \($0.key)" } == [])
  }

  @Test func `every message of the code is in the catalog with its arguments`() throws {
    let catalog = try Self.catalog()
    let breaches = try Self.code().filter { catalog.arguments(of: $0.key) != $0.arguments }
    #expect(
      breaches.map { "\($0.place): \($0.key) \($0.arguments?.sorted() ?? [])" } == [])
  }

  @Test func `every message is used`() throws {
    let used = Set((try Self.templates() + Self.code()).map(\.key))
    #expect(try Self.catalog().keys.filter { !used.contains($0) } == [])
  }

  @Test func `chips begin with a lowercase letter`() throws {
    let catalog = try Self.catalog()
    let chip = /Chip\.\w+\(\s*Message\("([^"]+)"\)/
    let keys = try SourceTree.files(in: "Sources/Console").flatMap { file in
      file.lines.joined(separator: "\n").matches(of: chip).map { String($0.1) }
    }
    #expect(keys.count > 50)
    #expect(keys.filter { catalog.text(Message($0)).first?.isUppercase ?? true } == [])
  }

  @Test func `uses are found with their arguments`() {
    let file = SourceFile(
      path: "Sources/Console/A.swift",
      text: """
        /// `Message("no.comment")`
        let a = Message("a.b")
        let c = Message(
          "a.c",
          [
            "count": .number(text[0, "x"]), "inner": .message(Message("a.d", ["deep": .text("}")])),
          ])
        let e = Message(key)
        let f = OutboxMessage(key)
        """)
    let uses = Self.uses(in: file)
    #expect(uses.map(\.key) == ["a.b", "a.c", "a.d", "(not a literal)"])
    #expect(uses.map(\.arguments) == [[], ["count", "inner"], ["deep"], []])
  }

  @Test func `the command line uses exactly the messages of its catalog`() throws {
    let path = "Sources/countersign/CommandLine/messages.po"
    let text = try String(contentsOf: SourceTree.root.appending(path: path), encoding: .utf8)
    let catalog = try Catalog(english: text, prefix: "cli", file: path)
    let uses = try SourceTree.files(in: "Sources/countersign").flatMap(Self.uses)
    let breaches = uses.filter { catalog.arguments(of: $0.key) != $0.arguments }
    #expect(
      breaches.map { "\($0.place): \($0.key) \($0.arguments?.sorted() ?? [])" } == [])
    let used = Set(uses.map(\.key))
    #expect(catalog.keys.filter { !used.contains($0) } == [])
  }

  private static func templates() throws -> [Use] {
    try SourceTree.texts().filter {
      $0.path.hasPrefix("Templates/") && $0.path.hasSuffix(".mustache")
    }
    .flatMap { file in
      file.lines.flatMap { line in
        line.matches(of: /\{\{%\s*([^\s}]+)\s*\}\}/).map {
          Use(place: file.path, key: String($0.1))
        }
      }
    }
  }

  private static func code() throws -> [Use] {
    try SourceTree.files(in: "Sources/Console", "Sources/MailText").flatMap(uses)
  }

  private static func uses(in file: SourceFile) -> [Use] {
    let lines = file.lines.filter { !$0.drop { $0 == " " }.hasPrefix("//") }
    let text = lines.joined(separator: "\n")
    return text.matches(of: /\bMessage\(\s*("?)([^",)\n]*)"?/).map { match in
      guard !match.1.isEmpty else {
        return Use(place: file.path, key: "(not a literal)", arguments: [])
      }
      return Use(
        place: file.path, key: String(match.2),
        arguments: arguments(text[match.range.upperBound...]))
    }
  }

  /// The keys of the dictionary that follows a message's key.
  private static func arguments(_ text: Substring) -> Set<String> {
    guard let start = text.prefixMatch(of: /\s*,\s*\[/) else { return [] }
    var names: Set<String> = []
    var depth = 0
    var rest = text[start.range.upperBound...]
    while let character = rest.first {
      if let literal = rest.prefixMatch(of: /"((?:[^"\\]|\\.)*)"/) {
        rest = rest[literal.range.upperBound...]
        if depth == 0, rest.first == ":" { names.insert(String(literal.1)) }
        continue
      }
      if "([{".contains(character) { depth += 1 }
      if ")]}".contains(character) {
        if depth == 0 { break }
        depth -= 1
      }
      rest.removeFirst()
    }
    return names
  }
}
