import JSON
import Text

/// The type of a value on the wire: the subset of JSON Schema that the messages need.
///
/// A dictionary literal is a message with these members, in this order; a member that is always
/// present, or must be, is `required`:
///
/// ```swift
/// let schema: Schema = ["localId": .text.required, "createdAt": .int64, "mfaInfo": .list(.factor)]
/// ```
struct Schema: Sendable {
  enum Kind: Sendable {
    /// A string; the format is one of JSON Schema's, such as `date-time`.
    case text(format: String?)
    /// A constant string.
    case word(String)
    case choice(EnumType)
    case flag
    /// An integer, written as a number.
    case integer
    case float
    /// A 64-bit integer, written as a string and read as a string or number.
    case int64
    case list(Of)
    /// A message whose member names are data.
    case map(Of)
    case message(Members)
    /// A message that the document describes once, under this name.
    case named(String, Members)
    case object
    case anything
  }

  /// The schema of the elements, boxed because a struct can't contain itself.
  final class Of: Sendable {
    let schema: Schema
    init(_ schema: Schema) { self.schema = schema }
  }

  struct Members: Sendable {
    let members: [(name: String, schema: Schema)]
    /// Apart from the schemas, because a search would copy each schema.
    private let names: [String]
    private let schemas: [Of]

    init(members: [(name: String, schema: Schema)]) {
      self.members = members
      names = members.map(\.name)
      schemas = members.map { Of($0.schema) }
    }

    /// The schema of the member of this name, boxed because copying one costs more than using it.
    subscript(_ name: String) -> Of? {
      var next = 0
      return find(name, &next)
    }

    /// Finds a member like the subscript, but looks first at `next`, the one after the last found:
    /// most messages are written in the order of their schema.
    func find(_ name: String, _ next: inout Int) -> Of? {
      let isNext = next < names.count && names[next].isSameBytes(as: name)
      let index = isNext ? next : names.firstIndex { $0.isSameBytes(as: name) }
      guard let index else { return nil }
      next = index + 1
      return schemas[index]
    }
  }

  let kind: Kind
  /// Whether the member is always present in a response and required in a request.
  var isRequired = false
  /// Whether `null` is allowed and differs from an absent member.
  var isNullable = false
  /// Whether a response includes the member if it has its type's default value.
  var isExplicit = false
  var note: String?

  init(_ kind: Kind) { self.kind = kind }
}

extension Schema {
  static let text = Schema(.text(format: nil))
  static let flag = Schema(.flag)
  static let integer = Schema(.integer)
  static let float = Schema(.float)
  static let int64 = Schema(.int64)
  static let object = Schema(.object)
  static let anything = Schema(.anything)
  static let timestamp = Schema(.text(format: "date-time"))

  static func word(_ word: String) -> Schema { Schema(.word(word)) }
  /// The member that names the type of a version 1 response; always present.
  static func kind(_ name: String) -> Schema { .word("identitytoolkit#" + name).required }
  static func choice(_ type: EnumType) -> Schema { Schema(.choice(type)) }
  /// One of these strings, in a response.
  static func choice(_ words: String...) -> Schema {
    Schema(.choice(EnumType(name: "", values: words)))
  }
  static func list(_ element: Schema) -> Schema { Schema(.list(Of(element))) }
  static func map(_ value: Schema) -> Schema { Schema(.map(Of(value))) }
  static func named(_ name: String, _ schema: Schema) -> Schema {
    Schema(.named(name, Members(members: schema.members)))
  }

  static func message(_ parts: Schema...) -> Schema {
    Schema(.message(Members(members: parts.flatMap(\.members))))
  }

  var members: [(name: String, schema: Schema)] { message?.members ?? [] }

  var message: Members? {
    switch kind {
    case .message(let message), .named(_, let message): message
    default: nil
    }
  }

  var required: Schema {
    var schema = self
    schema.isRequired = true
    return schema
  }

  var orNull: Schema {
    var schema = self
    schema.isNullable = true
    return schema
  }

  var explicit: Schema {
    var schema = self
    schema.isExplicit = true
    return schema
  }

  func noted(_ note: String) -> Schema {
    var schema = self
    schema.note = note
    return schema
  }
}

extension Schema: ExpressibleByDictionaryLiteral {
  init(dictionaryLiteral members: (String, Schema)...) {
    self.init(.message(Members(members: members.map { (name: $0.0, schema: $0.1) })))
  }
}

/// Parses messages that are stored and returned, so that what is stored has the types declared for
/// responses.
extension Schema {
  /// Returns the members of a message in canonical form, by the rules of proto3 JSON.
  ///
  /// Names are in camel case, enums are strings, and integers are in their declared form; `null` is
  /// omitted. A member that isn't in the schema is rejected, as production does for messages that
  /// it stores. `excluded` is left out, because it has a separate reader.
  func canonical(
    _ message: RequestMessage, except excluded: String? = nil
  ) throws(WireError) -> JSON.Object {
    let own = self.message
    var object = JSON.Object()
    for (name, value) in message.object {
      let given = name.text
      let name = Names.camel(given)
      if let excluded, name.isSameBytes(as: excluded) { continue }
      guard let member = own?[name] else {
        throw .unknownName(given, in: message.path)
      }
      guard !value.isNull else { continue }
      guard object[name] == nil else { throw .payload("The member \"\(name)\" appears twice.") }
      object.append(
        name, try member.schema.canonical(value, at: message.place(name)))
    }
    return object
  }

  private func canonical(_ value: JSON, at place: RequestMessage.Place) throws(WireError) -> JSON {
    switch kind {
    case .text, .word:
      guard case .text = value else {
        throw .invalidValue(at: place.text, type: "TYPE_STRING", value)
      }
      return value
    case .choice(let type): return .string(type.values[try type.read(value, at: place)])
    case .flag:
      guard let flag = RequestMessage.truth(value) else {
        throw .invalidValue(at: place.text, type: "TYPE_BOOL", value)
      }
      return .bool(flag)
    case .integer:
      guard let number = RequestMessage.whole(value), let number = Int32(exactly: number) else {
        throw .invalidValue(at: place.text, type: "TYPE_INT32", value)
      }
      return .number(JSON.Number(Int(number)))
    case .float:
      switch value {
      case .number: return value
      case .text(let text):
        if let number = JSON.Number(text: text.text) { return .number(number) }
      default: break
      }
      throw .invalidValue(at: place.text, type: "TYPE_FLOAT", value)
    case .int64:
      guard let number = RequestMessage.whole(value) else {
        throw .invalidValue(at: place.text, type: "TYPE_INT64", value)
      }
      return .string(String(number))
    case .list(let element):
      guard case .array(let values) = value else {
        throw .invalidValue(at: place.text, type: "TYPE_LIST", value)
      }
      var elements: [JSON] = []
      for (index, value) in values.enumerated() {
        elements.append(try element.schema.canonical(value, at: .element(place, index)))
      }
      return .array(elements)
    case .map(let element):
      var members: [JSON.Object.Element] = []
      for (name, value) in try Self.object(value, at: place) where !value.isNull {
        members.append((name, try element.schema.canonical(value, at: place)))
      }
      return .object(JSON.Object(members))
    case .message, .named:
      return .object(
        try canonical(RequestMessage(try Self.object(value, at: place), at: place)))
    case .object: return .object(Resource.camelCased(try Self.object(value, at: place)))
    case .anything: return Resource.camelCased(value)
    }
  }

  private static func object(_ value: JSON, at place: RequestMessage.Place) throws(WireError)
    -> JSON.Object
  {
    switch value {
    case .object(let object): return object
    case .array: throw .repeated(place.text)
    default: throw .invalidValue(at: place.text, type: "TYPE_MESSAGE", value)
    }
  }

  /// Returns the members of a message except those with their type's default value, as in proto3
  /// JSON.
  ///
  /// Members that are `explicit` and members that aren't in the schema are kept.
  ///
  /// Empty messages are kept; empty lists and maps aren't.
  func omittingDefaults(_ object: JSON.Object) -> JSON.Object {
    guard let message else { return object }
    var written = JSON.Object()
    written.reserveCapacity(object.count)
    var next = 0
    for (name, value) in object {
      guard let member = message.find(name.text, &next) else {
        written.append(name, value)
        continue
      }
      if let value = member.schema.writing(value) { written.append(name, value) }
    }
    return written
  }

  /// Returns a message for storage: like ``omittingDefaults(_:)``, but messages in it that mean the
  /// same as the stored ones keep their form.
  func storing(_ new: JSON.Object, over old: JSON.Object) -> JSON.Object {
    let written = omittingDefaults(new)
    guard written != omittingDefaults(old) else { return old }
    return JSON.Object(
      written.map { name, value -> JSON.Object.Element in
        guard let schema = message?[name.text]?.schema, schema.message != nil,
          let value = value.objectValue, let stored = old[name]?.objectValue
        else { return (name, value) }
        return (name, .object(schema.storing(value, over: stored)))
      })
  }

  private func writing(_ value: JSON) -> JSON? {
    let isDefault =
      switch (kind, value) {
      case (.flag, .bool(let flag)): !flag
      case (.integer, .number(let number)): number.int64 == 0
      case (.float, .number(let number)): number.double == 0
      case (.int64, .text(let text)): text == "0"
      case (.text, .text(let text)): text.isEmpty
      case (.choice(let type), .text(let text)):
        type.values.first.map { text.text.isSameBytes(as: $0) } ?? false
      case (.list, .array(let elements)): elements.isEmpty
      case (.map, .object(let object)): object.isEmpty
      default: false
      }
    if isDefault { return isExplicit ? value : JSON?.none }
    switch (kind, value) {
    case (.message, .object(let object)), (.named, .object(let object)):
      return .object(omittingDefaults(object))
    case (.list(let element), .array(let elements)):
      return .array(
        elements.map { value in
          guard case .object(let object) = value else { return value }
          return .object(element.schema.omittingDefaults(object))
        })
    default: return value
    }
  }
}
