import JSON

/// Errors of the JSON layer, in the words of Google's front ends.
extension WireError {
  /// The body is not JSON that can be read.
  static func payload(_ text: String) -> WireError {
    WireError("Invalid JSON payload received. \(text)", reason: "badRequest", isFrontEnd: true)
  }

  /// A member has a value that its type does not allow.
  ///
  /// - Parameters:
  ///   - field: The path of the member with snake-case names.
  ///   - type: `TYPE_INT32` or a message's type.
  ///   - value: The value as JSON text.
  /// - Returns: The error, with the field among its details.
  static func invalidValue(at field: String, type: String, _ value: JSON) -> WireError {
    let text =
      switch value {
      case .object: "Starting an object on a scalar field"
      default: String(decoding: value.serialized(), as: UTF8.self)
      }
    guard case .array = value else {
      return violation(field, "Invalid value at '\(field)' (\(type)), \(shortened(text))")
    }
    return repeated(field)
  }

  /// The body is JSON and no object.
  static let rootIsNoMessage = violation(
    "", "Invalid JSON payload received. Unknown name \"\": Root element must be a message.")

  /// Bytes are given by a text that isn't base64.
  static func notBase64(_ text: String, at field: String) -> WireError {
    violation(
      field,
      "Invalid value at '\(field)' (TYPE_BYTES), Base64 decoding failed for "
        + "\"\(shortened(text))\"")
  }

  /// A list stands where one value is due.
  static func repeated(_ field: String) -> WireError {
    let (parent, name) = split(field)
    return violation(
      parent,
      "Invalid JSON payload received. Unknown name \"\(name)\"\(at(parent)): "
        + "Proto field is not repeating, cannot start list.")
  }

  /// A member that the message does not have.
  static func unknownName(_ name: String, in parent: String) -> WireError {
    violation(
      parent,
      "Invalid JSON payload received. Unknown name \"\(shortened(name))\"\(at(parent)): "
        + "Cannot find field.")
  }

  /// Two members of which only one may be given.
  ///
  /// - Parameters:
  ///   - name: The name of the choice.
  ///   - member: The second of the members.
  ///   - parent: The path of their message; empty for the body.
  /// - Returns: The error, with the path among its details.
  static func oneof(_ name: String, setting member: String, in parent: String) -> WireError {
    violation(
      parent,
      "Invalid value\(at(parent)) (oneof), oneof field '\(name)' is already set. "
        + "Cannot set '\(member)'")
  }

  private static func violation(_ field: String, _ text: String) -> WireError {
    var violation: JSON.Object = ["description": .string(text)]
    if !field.isEmpty { violation = ["field": .string(field), "description": .string(text)] }
    var error = WireError(
      text,
      details: [
        [
          "@type": "type.googleapis.com/google.rpc.BadRequest",
          "fieldViolations": [.object(violation)],
        ]
      ],
      isFrontEnd: true)
    error.hasDomain = false
    return error
  }

  private static func at(_ parent: String) -> String { parent.isEmpty ? "" : " at '\(parent)'" }

  private static func split(_ field: String) -> (parent: String, name: String) {
    guard let dot = field.lastIndex(of: ".") else { return ("", field) }
    return (String(field[..<dot]), String(field[field.index(after: dot)...]))
  }

  /// An error is no place for a megabyte of somebody's text.
  private static func shortened(_ text: String) -> String {
    text.count > 100 ? text.prefix(100) + "…" : text
  }
}
