import Text

/// A request method, compared case-sensitively (RFC 9110 section 9.1).
public struct Method: Hashable, Sendable, CustomStringConvertible {
  /// The name, such as `GET`.
  public let name: String

  /// Creates a method with any name; an unknown one matches no route.
  public init(_ name: String) {
    self.name = name
  }

  /// The name.
  public var description: String { name }

  /// Compares the names byte by byte, since clients can send any text.
  public static func == (one: Method, other: Method) -> Bool {
    one.name.isSameBytes(as: other.name)
  }

  /// Hashes the bytes of the name.
  public func hash(into hasher: inout Hasher) { name.hashBytes(into: &hasher) }

  /// Reads a resource.
  public static let get = Method("GET")
  /// Reads the header fields that `get` would return, without the body.
  public static let head = Method("HEAD")
  /// Submits data.
  public static let post = Method("POST")
  /// Replaces a resource.
  public static let put = Method("PUT")
  /// Changes part of a resource.
  public static let patch = Method("PATCH")
  /// Deletes a resource.
  public static let delete = Method("DELETE")
  /// Asks for the allowed methods; browsers send it as a CORS preflight.
  public static let options = Method("OPTIONS")
}
