public import Text

/// The reason that a JSON document can't be parsed.
///
/// Offsets are in bytes from the start of the input.
public enum JSONError: Error, Equatable, Sendable {
  /// The document is empty or only white space.
  case empty
  /// The byte at this offset isn't allowed there; at the end of the input, something is missing.
  case syntax(offset: Int)
  /// Arrays and objects are nested too deeply.
  case tooDeep
  /// An object has two members with this name.
  case duplicateMember(UntrustedText)
  /// The member name at this offset is longer than ``UntrustedText/longestName`` bytes.
  case nameTooLong(offset: Int)
  /// The string at this offset has too many combining marks in a row
  /// (``UntrustedText/longestRun``).
  case tooManyMarks(offset: Int)
  /// The byte at this offset begins a sequence that isn't UTF-8.
  case invalidUTF8(offset: Int)
  /// An element is larger than the reader allows.
  case tooLarge
}

extension JSONError: CustomStringConvertible {
  /// A description for users, without the input's content except a member's name.
  public var description: String {
    switch self {
    case .empty: "The JSON document is empty."
    case .syntax(let offset): "The JSON document is not well formed at byte \(offset)."
    case .tooDeep: "The JSON document is nested too deeply."
    case .duplicateMember(let name): "The JSON document has the member \"\(name)\" twice."
    case .nameTooLong(let offset):
      "A name in the JSON document is longer than \(UntrustedText.longestName) bytes, at byte "
        + "\(offset)."
    case .tooManyMarks(let offset):
      "A string in the JSON document has more than \(UntrustedText.longestRun) combining marks in "
        + "a row, at byte \(offset)."
    case .tooLarge: "An element of the JSON document is too large."
    case .invalidUTF8(let offset): "The JSON document is not valid UTF-8 at byte \(offset)."
    }
  }
}
