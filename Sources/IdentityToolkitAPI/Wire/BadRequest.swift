import JSON

/// JSON errors, with the messages of Google's frontends.
extension WireError {
  /// What's wrong with text that not every database can store.
  static let nulInString = "A string contains the character U+0000."

  /// The body isn't valid JSON.
  static func payload(_ text: String) -> WireError {
    WireError("Invalid JSON payload received. \(text)", reason: "badRequest", isFrontEnd: true)
  }

  /// A member has a value that its type doesn't allow.
  ///
  /// `field` is its path with snake-case names, and `type` is `TYPE_INT32` or a message's type.
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

  static let rootIsNoMessage = violation(
    "", "Invalid JSON payload received. Unknown name \"\": Root element must be a message.")

  static func notBase64(_ text: String, at field: String) -> WireError {
    violation(
      field,
      "Invalid value at '\(field)' (TYPE_BYTES), Base64 decoding failed for "
        + "\"\(shortened(text))\"")
  }

  /// A list is in place of a single value.
  static func repeated(_ field: String) -> WireError {
    let (parent, name) = split(field)
    return violation(
      parent,
      "Invalid JSON payload received. Unknown name \"\(name)\"\(at(parent)): "
        + "Proto field is not repeating, cannot start list.")
  }

  static func unknownName(_ name: String, in parent: String) -> WireError {
    violation(
      parent,
      "Invalid JSON payload received. Unknown name \"\(shortened(name))\"\(at(parent)): "
        + "Cannot find field.")
  }

  /// Two members of a oneof are set: `member` is the second one, and `parent` is the path of their
  /// message, which is empty for the body.
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

  /// Truncates input, which may be a megabyte, for error messages.
  private static func shortened(_ text: String) -> String {
    text.count > 100 ? text.prefix(100) + "…" : text
  }
}
