/// The id of something of the type `Owner`; ids of different things cannot be confused.
///
/// Ids are opaque text. They are compared byte for byte.
public struct ID<Owner>: Hashable, Sendable, CustomStringConvertible {
  /// The id as it stands in addresses, on the wire and in the database.
  public let text: String

  /// Takes a text as an id; whether it exists is another question.
  public init(_ text: String) { self.text = text }

  /// The text.
  public var description: String { text }
}
