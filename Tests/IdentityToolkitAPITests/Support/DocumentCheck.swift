import HTTP
import Identity
import JSON
import Synchronization
import Testing
import Text

@testable import IdentityToolkitAPI

/// Compares responses with the OpenAPI document, so that every exchange in every test verifies its
/// operation.
final class DocumentCheck: Sendable {
  private struct Operation {
    let method: String
    let segments: [String]
    let description: JSON
  }

  private let operations: [Operation]
  private let schemas: JSON.Object

  private static let known = Mutex<[Profile: DocumentCheck]>([:])

  /// Returns the check for a profile's document, which is the same for every server.
  static func of(_ api: IdentityToolkitAPI, _ profile: Profile) -> DocumentCheck {
    known.withLock { known in
      if let check = known[profile] { return check }
      let bytes = OpenAPI.document(api.operations, profile)
      let check = DocumentCheck((try? JSON.parse(bytes)) ?? [:])
      known[profile] = check
      return check
    }
  }

  private init(_ document: JSON) {
    var operations: [Operation] = []
    for (path, item) in document["paths"]?.objectValue ?? [:] {
      let segments = path.text.split(separator: "/").map { String($0) }
      for (method, description) in item.objectValue ?? [:] {
        operations.append(
          Operation(method: method.text.uppercased(), segments: segments, description: description))
      }
    }
    self.operations = operations
    schemas = document["components"]?["schemas"]?.objectValue ?? [:]
  }

  /// Records an issue if a response differs from its operation's declaration.
  func check(_ response: Response, to request: Request) {
    for fault in faults(response, to: request) {
      Issue.record("\(request.method) \(request.target.rawPath) \(response.status.code): \(fault)")
    }
  }

  /// Returns the differences from the declaration; none for a path that isn't in the document.
  func faults(_ response: Response, to request: Request) -> [String] {
    let segments = Addresses.shortened(request.target).segments.map(\.text)
    let method = IdentityToolkitAPI.method(of: request)
    let fitting = operations.filter { operation in
      operation.method == method.name && operation.segments.count == segments.count
        && zip(operation.segments, segments).allSatisfy(Self.fits)
    }
    // A literal segment is more specific than a parameter.
    let operation = fitting.max { one, other in
      Self.words(one.segments) < Self.words(other.segments)
    }
    guard let operation, response.status != .notModified,
      // A part of a response lacks required members.
      (request.parameter("fields") ?? "").isEmpty
    else { return [] }
    let status = String(response.status.code)
    guard let declared = operation.description["responses"]?[status] else {
      return ["the status is not declared"]
    }
    guard let schema = declared["content"]?["application/json"]?["schema"],
      response.fields[.contentType]?.hasPrefix("application/json") == true
    else { return [] }
    guard let value = try? JSON.parse(response.body.bytes) else { return ["the body isn't JSON"] }
    return faults(of: value, schema, at: "$")
  }

  private static func fits(_ template: String, _ segment: String) -> Bool {
    guard template.hasPrefix("{"), let end = template.firstIndex(of: "}") else {
      return template == segment
    }
    let suffix = template[template.index(after: end)...]
    return segment.hasSuffix(suffix) && segment.utf8.count > suffix.utf8.count
  }

  private static func words(_ segments: [String]) -> Int {
    segments.reduce(0) { $0 + ($1.hasPrefix("{") ? $1.hasSuffix("}") ? 0 : 1 : 2) }
  }
}

// MARK: - The subset of JSON Schema that the document uses

extension DocumentCheck {
  func faults(of value: JSON, _ schema: JSON, at path: String) -> [String] {
    if let name = schema["$ref"]?.stringValue?.split(separator: "/").last {
      guard let schema = schemas[String(name)] else { return ["\(path): no schema \(name)"] }
      return faults(of: value, schema, at: path)
    }
    if let types = schema["type"] {
      let types = types.arrayValue ?? [types]
      let own = Self.types(of: value)
      guard types.contains(where: own.contains) else {
        return ["\(path): \(value) is not \(types)"]
      }
    }
    if let word = schema["const"], word != value { return ["\(path): \(value) is not \(word)"] }
    if let words = schema["enum"]?.arrayValue, !words.contains(value) {
      return ["\(path): \(value) isn't one of \(words)"]
    }
    if schema["format"] == "int64", let text = value.stringValue, Int64(text) == nil {
      return ["\(path): \(value) is not a number"]
    }
    switch value {
    case .array(let elements):
      guard let items = schema["items"] else { return [] }
      return elements.enumerated().flatMap { faults(of: $1, items, at: "\(path)[\($0)]") }
    case .object(let object): return faults(of: object, schema, at: path)
    default: return []
    }
  }

  private func faults(of object: JSON.Object, _ schema: JSON, at path: String) -> [String] {
    var faults: [String] = []
    for name in schema["required"]?.arrayValue?.compactMap(\.stringValue) ?? []
    where object[name] == nil {
      faults.append("\(path).\(name) is missing")
    }
    for (name, value) in object {
      if let own = schema["properties"]?[name] ?? schema["additionalProperties"] {
        guard own != false else {
          faults.append("\(path).\(name) is not declared")
          continue
        }
        faults += self.faults(of: value, own, at: "\(path).\(name)")
      }
    }
    return faults
  }

  private static func types(of value: JSON) -> [JSON] {
    switch value {
    case .null: ["null"]
    case .bool: ["boolean"]
    case .number(let number): number.int64 == nil ? ["number"] : ["number", "integer"]
    case .text: ["string"]
    case .array: ["array"]
    case .object: ["object"]
    }
  }
}
