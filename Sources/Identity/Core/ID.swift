import Text

/// The id of something of the type `Owner`; ids of different things cannot be confused.
///
/// Ids are opaque text. They are compared byte for byte, as the database compares them, and not as
/// Swift compares text, which takes two spellings of one character for equal.
public struct ID<Owner>: Hashable, Sendable, CustomStringConvertible {
  /// The id as it stands in addresses, on the wire and in the database.
  public let text: String

  /// Takes a text as an id; whether it exists is another question.
  public init(_ text: String) { self.text = text }

  /// The text.
  public var description: String { text }

  /// Compares the bytes.
  public static func == (left: ID, right: ID) -> Bool { left.text.isSameBytes(as: right.text) }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}
