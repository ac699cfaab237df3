import JSON
import Text

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
}
