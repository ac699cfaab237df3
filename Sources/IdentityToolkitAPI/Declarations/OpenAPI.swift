import HTTP
import Identity
import JSON
import Synchronization
import Text

struct OpenAPI {
  private var components = JSON.Object()

  /// Whether a schema describes a request or a response; requests are more permissive.
  private enum Direction { case request, response }

  static func document(_ operations: [Operation], _ profile: Profile) -> [UInt8] {
    var document = OpenAPI()
    return document.write(operations, profile).serialized()
  }

  private mutating func write(_ operations: [Operation], _ profile: Profile) -> JSON {
    var paths = JSON.Object()
    for operation in operations {
      let path = operation.path.template
      var item = paths[path]?.objectValue ?? [:]
      item.append(operation.method.name.lowercased(), write(operation))
      paths[path] = .object(item)
    }
    let schemas = JSON.Object(components.members.sorted { $0.name.text < $1.name.text })
    return [
      "openapi": "3.1.0", "info": Self.info(profile), "servers": [["url": "/"]],
      "paths": .object(paths),
      "components": ["schemas": .object(schemas), "securitySchemes": Self.securitySchemes],
    ]
  }

  private static func info(_ profile: Profile) -> JSON {
    var text = """
      The Identity Toolkit interface of Countersign. Every address is served below the name of its \
      production host too, as in `/identitytoolkit.googleapis.com/v1/accounts:signUp`, and those \
      of version 2 below `/admin`.

      Messages are read by the rules of proto3 JSON: names may be written in snake_case, enums by \
      number, whole numbers as text, `null` is no member, and members that are not known are \
      passed over, except in the MFA message.
      """
    if profile == .emulator {
      text +=
        "\n\nThis server runs in the emulator profile: any key is the default project's, "
        + "and `owner` is a token."
    }
    return ["title": "Countersign", "version": "v1", "description": .string(text)]
  }

  private static let securitySchemes: JSON = [
    "key": ["type": "apiKey", "in": "query", "name": "key"],
    "keyField": ["type": "apiKey", "in": "header", "name": "X-Goog-Api-Key"],
    "token": ["type": "http", "scheme": "bearer", "description": "A service token."],
  ]

  private mutating func write(_ operation: Operation) -> JSON {
    let path = operation.path
    var parameters = path.parameters.map { name -> JSON in
      [
        "name": .string(name), "in": "path", "required": true,
        "schema": ["type": "string", "minLength": 1],
      ]
    }
    for (name, schema) in operation.query {
      parameters.append([
        "name": .string(name), "in": "query", "required": .bool(schema.isRequired),
        "schema": write(schema, .request),
      ])
    }
    var object: JSON.Object = [
      "operationId": .string(operation.id), "summary": .string(operation.declaration.summary),
      "tags": [.string(Self.tag(operation))],
    ]
    if let roles = Self.roles(operation.access) { object.append("description", .string(roles)) }
    if operation.isDeprecated { object.append("deprecated", true) }
    object.append("security", Self.security(operation.access))
    if !parameters.isEmpty { object.append("parameters", .array(parameters)) }
    if let request = operation.request {
      var content: JSON.Object = ["application/json": ["schema": write(request, .request)]]
      if let form = operation.declaration.form {
        content.append(
          "application/x-www-form-urlencoded", ["schema": write(form, .request)])
      }
      object.append(
        "requestBody",
        ["required": .bool(operation.method == .patch), "content": .object(content)])
    }
    object.append("responses", .object(responses(operation)))
    return .object(object)
  }

  private mutating func responses(_ operation: Operation) -> JSON.Object {
    var responses = JSON.Object()
    if operation.isPage {
      responses.append(
        "200",
        [
          "description": "A page, or the result of the code.",
          "content": [
            "text/html": ["schema": ["type": "string"]],
            "application/json": ["schema": write(operation.declaration.response, .response)],
          ],
        ])
    } else {
      responses.append(
        "200", content("The answer.", write(operation.declaration.response, .response)))
    }
    let error = error(operation.shape)
    for status in operation.failures {
      if operation.isPage, status < 403 {
        responses.append(String(status), pageFailure(status, operation))
        continue
      }
      responses.append(String(status), content(Status(status).reason, error))
    }
    return responses
  }

  /// Describes the response of a page in place of an error: where it redirects, or what is wrong
  /// with the link.
  private mutating func pageFailure(_ status: Int, _ operation: Operation) -> JSON {
    guard status >= 400 else { return ["description": .string(Status(status).reason)] }
    return content(Status(status).reason, write(operation.declaration.response, .response))
  }

  private func content(_ description: String, _ schema: JSON) -> JSON {
    [
      "description": .string(description),
      "content": ["application/json": ["schema": schema]],
    ]
  }

  private static func security(_ access: Operation.Access) -> JSON {
    switch access {
    case .open, .emulator: []
    case .client, .either: [["key": []], ["keyField": []], ["token": []]]
    case .admin: [["token": []]]
    }
  }

  /// Returns the service token roles that are sufficient, by the rule that checks them.
  private static func roles(_ access: Operation.Access) -> String? {
    switch access {
    case .open, .emulator, .client: return nil
    case .admin(let action), .either(let action):
      let roles = ServiceTokenRole.allCases.filter { $0.permissions.contains(action.permission) }
      return "Service token roles: " + roles.map(\.rawValue).joined(separator: ", ")
        + "."
    }
  }

  private static func tag(_ operation: Operation) -> String {
    let words = operation.id.split(separator: ".").dropLast()
    return String(words.last ?? "server")
  }
}

// MARK: - Schemas

extension OpenAPI {
  private mutating func write(_ schema: Schema, _ direction: Direction) -> JSON {
    var object = body(schema, direction)
    if schema.isNullable, let type = object["type"]?.textValue?.text {
      object["type"] = [.string(type), "null"]
    }
    if let note = schema.note { object.append("description", .string(note)) }
    return .object(object)
  }

  private mutating func body(_ schema: Schema, _ direction: Direction) -> JSON.Object {
    switch schema.kind {
    case .text(let format):
      var object: JSON.Object = ["type": "string"]
      if let format { object.append("format", .string(format)) }
      return object
    case .word(let word): return ["type": "string", "const": .string(word)]
    case .choice(let type):
      return ["type": "string", "enum": .array(type.values.map { .string($0) })]
    case .flag: return ["type": "boolean"]
    case .integer: return ["type": "integer"]
    case .float: return ["type": "number"]
    case .int64:
      let type: JSON = direction == .request ? ["string", "integer"] : "string"
      return ["type": type, "format": "int64", "pattern": "^-?[0-9]{1,19}$"]
    case .list(let element):
      return ["type": "array", "items": write(element.schema, direction)]
    case .map(let value):
      return ["type": "object", "additionalProperties": write(value.schema, direction)]
    case .message(let message): return members(of: message, direction)
    case .named(let name, let message):
      let name = direction == .request ? name + "Input" : name
      if components[name] == nil {
        components[name] = [:]
        components[name] = .object(members(of: message, direction))
      }
      return ["$ref": .string("#/components/schemas/" + name)]
    case .object: return ["type": "object"]
    case .anything: return [:]
    }
  }

  /// Responses have no other members; in requests, other members are ignored.
  private mutating func members(
    of message: Schema.Members, _ direction: Direction
  ) -> JSON.Object {
    var properties = JSON.Object()
    for (name, schema) in message.members { properties.append(name, write(schema, direction)) }
    let required = message.members.filter(\.schema.isRequired).map { JSON.string($0.name) }
    var object: JSON.Object = ["type": "object", "properties": .object(properties)]
    if !required.isEmpty { object.append("required", .array(required)) }
    if direction == .response { object.append("additionalProperties", false) }
    return object
  }

  private mutating func error(_ shape: ErrorShape) -> JSON {
    let list = Schema.list([
      "message": .text.required, "domain": .text, "reason": .text.required,
    ])
    let common: Schema = ["code": .integer.required, "message": .text.required]
    let error: Schema
    let name: String
    switch shape {
    case .v1:
      name = "ErrorV1"
      error = .message(common, ["errors": list.required, "status": .text])
    case .v2:
      name = "ErrorV2"
      error = .message(common, ["status": .text.required])
    case .both:
      name = "Error"
      error = .message(common, ["errors": list.required, "status": .text.required])
    }
    let whole = Schema.message(error, ["details": .list(.object)])
    return write(.named(name, ["error": whole.required]), .response)
  }
}

extension Methods {
  static let document = Declaration(
    "openapi", "This document, with all operations of the server.", gives: .object)
  static let emulatorDocument = Declaration(
    "emulator.openapi", "This document, at the path where tools expect an emulator's.",
    gives: .object)
}

/// The OpenAPI document of a server, written for the first request.
final class Document: Sendable {
  private struct Written {
    let bytes: [UInt8]
    let tag: EntityTag
  }

  private struct State {
    /// Known only after the document's own route is.
    var operations: [Operation] = []
    var written: Written?
  }

  private let profile: Profile
  private let state = Mutex(State())

  init(_ profile: Profile) { self.profile = profile }

  func describe(_ operations: [Operation]) {
    state.withLock { $0.operations = operations }
  }

  private var written: Written {
    state.withLock { state in
      if let written = state.written { return written }
      let bytes = OpenAPI.document(state.operations, profile)
      let written = Written(bytes: bytes, tag: EntityTag(Self.digest(bytes)))
      state.written = written
      return written
    }
  }

  @Sendable func answer(_ request: Request) async -> Response {
    let written = written
    var response = Response(
      fields: [.contentType: "application/json"], body: .bytes(written.bytes))
    response.fields[.cacheControl] = "public, no-cache"
    return response.conditional(on: written.tag, for: request)
  }

  /// Computes 64-bit FNV-1a; the tag only has to distinguish the documents of different releases.
  private static func digest(_ bytes: [UInt8]) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return String(hash, radix: 36)
  }
}
