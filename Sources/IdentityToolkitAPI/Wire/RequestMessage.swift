import Identity
import JSON
import OTP
import Text

/// A request message, read by the rules of proto3 JSON.
///
/// Names are in camel case or snake case, `null` means absent, integers may be written as strings,
/// `5.0`, or `5e0`, strings as numbers, lists of one value as that value, and enums by name or
/// number. Unknown members are ignored; messages for which that's dangerous call `refuseUnknown`.
struct RequestMessage: Sendable {
  let object: JSON.Object
  let place: Place

  /// A location in a request as shown in errors, such as `config.mfa`; formatted only when an error
  /// is thrown.
  indirect enum Place: Sendable {
    /// A message with its own name, which is empty for the whole body.
    case root(String)
    case member(Place, String)
    case element(Place, Int)

    var text: String {
      switch self {
      case .root(let name): return name
      case .element(let list, let index): return "\(list.text)[\(index)]"
      case .member(let message, let name):
        let path = message.text
        return path.isEmpty ? Names.snake(name) : "\(path).\(Names.snake(name))"
      }
    }
  }

  init(_ object: JSON.Object = [:], path: String = "") {
    self.init(object, at: .root(path))
  }

  init(_ object: JSON.Object, at place: Place) {
    self.object = object
    self.place = place
  }

  /// The path of the message as shown in errors; empty for the whole body.
  var path: String { place.text }

  func place(_ name: String) -> Place { .member(place, name) }

  func value(_ name: String) throws(WireError) -> JSON? {
    var found: JSON?
    for member in object.members where Names.match(member.name, name) {
      guard found == nil else { throw .payload("The member \"\(name)\" appears twice.") }
      found = member.value
    }
    guard let found, !found.isNull else { return nil }
    return found
  }

  func has(_ name: String) throws(WireError) -> Bool { try value(name) != nil }

  func text(_ name: String) throws(WireError) -> String? {
    guard let value = try value(name) else { return nil }
    guard let text = RequestMessage.text(value) else { throw invalid(name, "TYPE_STRING", value) }
    return text
  }

  /// Returns a non-empty text; proto3 treats an empty one as absent.
  func given(_ name: String) throws(WireError) -> String? {
    guard let text = try text(name), !text.isEmpty else { return nil }
    return text
  }

  /// Returns a code that a user typed; empty if it's missing.
  func code(_ name: String) throws(WireError) -> TypedCode { TypedCode(try text(name) ?? "") }

  func flag(_ name: String) throws(WireError) -> Bool? {
    guard let value = try value(name) else { return nil }
    guard let flag = RequestMessage.truth(value) else { throw invalid(name, "TYPE_BOOL", value) }
    return flag
  }

  func int32(_ name: String) throws(WireError) -> Int? {
    guard let value = try value(name) else { return nil }
    guard let number = RequestMessage.whole(value), let int32 = Int32(exactly: number) else {
      throw invalid(name, "TYPE_INT32", value)
    }
    return Int(int32)
  }

  func int64(_ name: String) throws(WireError) -> Int64? {
    guard let value = try value(name) else { return nil }
    guard let number = RequestMessage.whole(value) else { throw invalid(name, "TYPE_INT64", value) }
    return number
  }

  func timestamp(_ name: String) throws(WireError) -> Instant? {
    guard let value = try value(name) else { return nil }
    guard case .text(let text) = value, let moment = Instant(rfc3339: text.text) else {
      throw invalid(name, "type.googleapis.com/google.protobuf.Timestamp", value)
    }
    return moment
  }

  func message(_ name: String) throws(WireError) -> RequestMessage? {
    guard let value = try value(name) else { return nil }
    return try message(value, at: place(name))
  }

  func messages(_ name: String) throws(WireError) -> [RequestMessage] {
    var messages: [RequestMessage] = []
    for (index, value) in try list(name).enumerated() {
      messages.append(try message(value, at: .element(place(name), index)))
    }
    return messages
  }

  func texts(_ name: String) throws(WireError) -> [String] {
    var texts: [String] = []
    for (index, value) in try list(name).enumerated() {
      guard let text = RequestMessage.text(value) else {
        throw .invalidValue(
          at: Place.element(place(name), index).text, type: "TYPE_STRING", value)
      }
      texts.append(text)
    }
    return texts
  }

  func enumeration(_ name: String, _ type: EnumType) throws(WireError) -> Int? {
    guard let value = try value(name) else { return nil }
    return try type.read(value, at: place(name))
  }

  func enumerations(_ name: String, _ type: EnumType) throws(WireError) -> [Int] {
    var numbers: [Int] = []
    for (index, value) in try list(name).enumerated() {
      numbers.append(try type.read(value, at: .element(place(name), index)))
    }
    return numbers
  }

  func refuseUnknown(except names: [String]) throws(WireError) {
    for member in object.members
    where !names.contains(where: { Names.match(member.name, $0) }) {
      throw .unknownName(member.name.text, in: path)
    }
  }
}

extension RequestMessage {
  private func list(_ name: String) throws(WireError) -> [JSON] {
    guard let value = try value(name) else { return [] }
    switch value {
    case .array(let elements): return elements
    // A single value is read as a list of one.
    case .text, .number: return [value]
    default: throw .invalidValue(at: field(name), type: "TYPE_LIST", value)
    }
  }

  private func message(_ value: JSON, at place: Place) throws(WireError) -> RequestMessage {
    switch value {
    case .object(let object): return RequestMessage(object, at: place)
    case .array: throw .repeated(place.text)
    default: throw .invalidValue(at: place.text, type: "TYPE_MESSAGE", value)
    }
  }

  private func invalid(_ name: String, _ type: String, _ value: JSON) -> WireError {
    .invalidValue(at: field(name), type: type, value)
  }

  func field(_ name: String) -> String { place(name).text }

  /// Returns a Boolean: `true`, 1, or one of the strings that production accepts.
  static func truth(_ value: JSON) -> Bool? {
    switch value {
    case .bool(let flag): flag
    case .text(let text) where text.byteCount <= 5:
      switch UntrustedText(text.text.lowercased()) {
      case "true", "t", "yes", "y", "1": true
      case "false", "f", "no", "n", "0": false
      default: nil
      }
    case .number(let number):
      switch number.int64 {
      case 1: true
      case 0: false
      default: nil
      }
    default: nil
    }
  }

  /// Returns a text; a number is read as written.
  private static func text(_ value: JSON) -> String? {
    switch value {
    case .text(let text): text.text
    case .number(let number): number.text
    default: nil
    }
  }

  static func whole(_ value: JSON) -> Int64? {
    switch value {
    case .number(let number): number.int64
    case .text(let text): Int64(text.text) ?? JSON.Number(text: text.text)?.int64
    default: nil
    }
  }
}

/// The values of a proto enum: the name of its type, and the name of each value, indexed by number.
struct EnumType: Sendable {
  let name: String
  let values: [String]

  func read(_ value: JSON, at place: RequestMessage.Place) throws(WireError) -> Int {
    switch value {
    case .text(let text):
      if let number = values.firstIndex(where: { text == UntrustedText($0) }) { return number }
    case .number(let number):
      if let number = number.int64, values.indices.contains(Int(number)) { return Int(number) }
    default: break
    }
    throw .invalidValue(at: place.text, type: "type.googleapis.com/\(name)", value)
  }
}

/// The two spellings of proto3 JSON: `lowerCamelCase`, which is written, and `snake_case`, which is
/// accepted too.
enum Names {
  /// Returns whether a name in either spelling equals this camel-case name.
  static func match(_ written: UntrustedText, _ name: String) -> Bool {
    let text = written.text
    let one = text.utf8.span
    let other = name.utf8.span
    var place = 0
    for index in other.indices {
      var byte = other[index]
      if isCapital(byte), place < one.count, one[place] == underscore {
        place += 1
        byte |= 0x20
      }
      guard place < one.count, one[place] == byte else { return false }
      place += 1
    }
    return place == one.count
  }

  /// Returns the snake-case spelling, which error paths use.
  static func snake(_ name: String) -> String {
    var bytes: [UInt8] = []
    for byte in name.utf8 {
      if isCapital(byte) { bytes.append(underscore) }
      bytes.append(isCapital(byte) ? byte | 0x20 : byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  static func camel(_ name: String) -> String {
    guard name.utf8.contains(underscore) else { return name }
    var bytes: [UInt8] = []
    var isRaised = false
    for byte in name.utf8 {
      if byte == underscore {
        isRaised = true
        continue
      }
      bytes.append(isRaised && 0x61...0x7A ~= byte ? byte & ~0x20 : byte)
      isRaised = false
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let underscore = UInt8(ascii: "_")
  private static func isCapital(_ byte: UInt8) -> Bool { 0x41...0x5A ~= byte }
}
