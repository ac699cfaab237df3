import JSON
import Text

/// Writing by a schema, for messages that are stored and given back.
extension Schema {
  /// The members of a message without those that have their type's default, as proto3 JSON leaves
  /// them out; members that say `explicit` and members that the schema doesn't have stay.
  ///
  /// Messages stay even when they're empty; lists and maps don't.
  func omittingDefaults(_ object: JSON.Object) -> JSON.Object {
    let members = members
    var written = JSON.Object()
    for (name, value) in object {
      guard let schema = members.first(where: { name.text.isSameBytes(as: $0.name) })?.schema else {
        written.append(name, value)
        continue
      }
      if let value = schema.writing(value) { written.append(name, value) }
    }
    return written
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
