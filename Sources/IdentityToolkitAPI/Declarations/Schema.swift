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

  /// The members of a message, in order.
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
  /// A timestamp in RFC 3339 format.
  static let timestamp = Schema(.text(format: "date-time"))
  static let url = Schema(.text(format: "uri-reference"))

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

  /// The members of a message; empty for other kinds.
  var members: [(name: String, schema: Schema)] { message?.members ?? [] }

  /// The members of a message; nil for other kinds.
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
