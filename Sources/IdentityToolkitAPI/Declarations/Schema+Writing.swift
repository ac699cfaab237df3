import JSON
import Text

extension Schema {
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
