/// Why a body or a query is not a form that is read.
public enum FormError: Error, Equatable, Sendable {
  /// A percent sign without two hexadecimal digits, NUL, or bytes that aren't UTF-8.
  case badCoding
  /// The name of a field has more than ``UntrustedText/longestName`` bytes.
  case nameTooLong
  /// More than ``UntrustedText/longestRun`` combining marks in a row.
  case tooManyMarks
  /// More than ``Form/maximumCount`` fields.
  case tooManyFields
}

extension FormError: CustomStringConvertible {
  /// The error as a sentence for people, without the form's content.
  public var description: String {
    switch self {
    case .badCoding: "The form isn't percent-encoded UTF-8."
    case .nameTooLong:
      "The name of a field is longer than \(UntrustedText.longestName) bytes."
    case .tooManyMarks:
      "A field has more than \(UntrustedText.longestRun) combining marks in a row."
    case .tooManyFields: "The form has more than \(Form.maximumCount) fields."
    }
  }
}
