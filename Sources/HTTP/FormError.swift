import Text

/// The reason a body or a query can't be parsed as a form.
public enum FormError: Error, Equatable, Sendable {
  /// A percent sign without two hexadecimal digits, or bytes that aren't UTF-8.
  case badCoding
  /// A NUL character, which a database may not store.
  case containsNUL
  /// A field name longer than ``UntrustedText/longestName`` bytes.
  case nameTooLong
  /// More than ``UntrustedText/longestRun`` combining marks in a row.
  case tooManyMarks
  /// More than ``Form/maximumCount`` fields.
  case tooManyFields
}

extension FormError: CustomStringConvertible {
  /// A description for API clients and logs, without the form's content.
  public var description: String {
    switch self {
    case .badCoding: "The form isn't percent-encoded UTF-8."
    case .containsNUL: "A field contains a NUL character."
    case .nameTooLong:
      "The name of a field is longer than \(UntrustedText.longestName) bytes."
    case .tooManyMarks:
      "A field has more than \(UntrustedText.longestRun) combining marks in a row."
    case .tooManyFields: "The form has more than \(Form.maximumCount) fields."
    }
  }
}
