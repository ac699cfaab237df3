/// What a value on the wire is: the part of JSON Schema that the messages need.
///
/// A dictionary literal is a message with these members, in this order; a member that is always
/// there, or has to be, is `required`:
///
/// ```swift
/// let schema: Schema = ["localId": .text.required, "createdAt": .int64, "mfaInfo": .list(.factor)]
/// ```
struct Schema: Sendable {
  enum Kind: Sendable {
    /// A text; the format is one of JSON Schema's, such as `date-time`.
    case text(format: String?)
    /// A text that is always the same.
    case word(String)
    case choice(EnumType)
    case flag
    /// A whole number that is written as a number.
    case integer
    /// A number with a fraction.
    case float
    /// A whole number of 64 bits: written as text, read as text and as a number.
    case int64
    case list(Of)
    /// A message whose names are data.
    case map(Of)
    case message(Members)
    /// A message that the document describes once, under this name.
    case named(String, Members)
    /// A message of which nothing more is said.
    case object
    /// Any value at all.
    case anything
  }

  /// The schema of the elements, in a box of its own since a schema cannot hold itself.
  final class Of: Sendable {
    let schema: Schema
    init(_ schema: Schema) { self.schema = schema }
  }

  /// The members of a message, in order.
  struct Members: Sendable {
    var members: [(name: String, schema: Schema)]
  }

  let kind: Kind
  /// Whether the member is always there in an answer, and has to be in a request.
  var isRequired = false
  /// Whether `null` may stand there and means something else than no member.
  var isNullable = false
  /// Whether an answer keeps it when it has its type's default.
  var isExplicit = false
  /// A sentence about the member.
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
  /// A moment, as RFC 3339 writes it.
  static let timestamp = Schema(.text(format: "date-time"))
  static let url = Schema(.text(format: "uri-reference"))

  static func word(_ word: String) -> Schema { Schema(.word(word)) }
  /// The member by which answers of version 1 say what they are; always there.
  static func kind(_ name: String) -> Schema { .word("identitytoolkit#" + name).required }
  static func choice(_ type: EnumType) -> Schema { Schema(.choice(type)) }
  /// One of these words, in an answer.
  static func choice(_ words: String...) -> Schema {
    Schema(.choice(EnumType(name: "", values: words)))
  }
  static func list(_ element: Schema) -> Schema { Schema(.list(Of(element))) }
  static func map(_ value: Schema) -> Schema { Schema(.map(Of(value))) }
  static func named(_ name: String, _ schema: Schema) -> Schema {
    Schema(.named(name, Members(members: schema.members)))
  }

  /// One message with the members of several.
  static func message(_ parts: Schema...) -> Schema {
    Schema(.message(Members(members: parts.flatMap(\.members))))
  }

  /// The members of a message; none of everything else.
  var members: [(name: String, schema: Schema)] {
    switch kind {
    case .message(let message), .named(_, let message): message.members
    default: []
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
