/// Why bytes are not a JSON document that can be read.
///
/// Offsets count bytes from the start of the input, from 0.
public enum JSONError: Error, Equatable, Sendable {
  /// There is nothing, or nothing but white space.
  case empty
  /// The byte at this offset cannot stand there; at the input's length, something is missing.
  case syntax(offset: Int)
  /// Arrays and objects lie deeper in each other than allowed.
  case tooDeep
  /// An object has two members of this name.
  case duplicateMember(UntrustedText)
  /// The name of a member that begins at this offset has more than ``UntrustedText/longestName``
  /// bytes.
  case nameTooLong(offset: Int)
  /// The string that begins at this offset has too many combining marks in a row
  /// (``UntrustedText/longestRun``).
  case tooManyMarks(offset: Int)
  /// The byte at this offset begins a sequence that is not UTF-8.
  case invalidUTF8(offset: Int)
  /// An element is larger than its reader takes.
  case tooLarge
}

extension JSONError: CustomStringConvertible {
  /// The error as a sentence for people, without the input's content except a member's name.
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
