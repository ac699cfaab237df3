import Foundation
import JSON
import Templating
import Testing
import Text

/// One example of the public Mustache specification.
struct SpecificationCase: Sendable, CustomTestStringConvertible {
  let module: String
  let name: String
  let template: String
  let partials: [String: String]
  let data: Value
  let expected: String

  var testDescription: String { "\(module): \(name)" }

  /// The template's name among its partials.
  static let page = "template under test"

  func library() throws -> TemplateLibrary {
    try TemplateLibrary(sources: partials.merging([Self.page: template]) { $1 })
  }

  /// The folder with the specification's JSON files, overridden by `MUSTACHE_SPEC`.
  static let folder =
    ProcessInfo.processInfo.environment["MUSTACHE_SPEC"]
    ?? URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "shared/mustache-spec").path()

  static let modules = [
    "comments", "delimiters", "interpolation", "inverted", "partials", "sections", "inheritance",
  ]

  static let isPresent = modules.allSatisfy {
    FileManager.default.fileExists(atPath: "\(folder)/\($0).json")
  }

  /// All examples; empty if the specification isn't present.
  static let all: [SpecificationCase] =
    isPresent ? modules.flatMap { (try? cases(of: $0)) ?? [] } : []

  private static func cases(of module: String) throws -> [SpecificationCase] {
    let bytes = try Data(contentsOf: URL(filePath: "\(folder)/\(module).json"))
    let tests = try JSON.parse([UInt8](bytes)).objectValue?["tests"]?.arrayValue ?? []
    return tests.compactMap { test in
      guard let test = test.objectValue, let name = test["name"]?.textValue?.text,
        let template = test["template"]?.textValue?.text,
        let expected = test["expected"]?.textValue?.text
      else { return nil }
      let partials = test["partials"]?.objectValue?.members ?? []
      return SpecificationCase(
        module: module, name: name, template: template,
        partials: Dictionary(
          uniqueKeysWithValues: partials.map { ($0.name.text, $0.value.textValue?.text ?? "") }),
        data: Value(test["data"] ?? .null), expected: expected)
    }
  }
}

extension Value {
  /// Converts JSON to template data.
  init(_ json: JSON) {
    switch json {
    case .null: self = .null
    case .bool(let flag): self = .bool(flag)
    case .number(let number): self = number.int64.map { .number(Int($0)) } ?? .text(number.text)
    case .text(let text): self = .text(text.text)
    case .array(let elements): self = .list(elements.map { Value($0) })
    case .object(let object):
      self = .record(
        Dictionary(uniqueKeysWithValues: object.members.map { ($0.name.text, Value($0.value)) }))
    }
  }
}
