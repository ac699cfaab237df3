/// A request method, compared with case as RFC 9110 section 9.1 asks.
public struct Method: Hashable, Sendable, CustomStringConvertible {
  /// The name as it stands in the request line, such as `GET`.
  public let name: String

  /// Makes a method of any name; an unknown one simply matches no route.
  public init(_ name: String) {
    self.name = name
  }

  /// The name.
  public var description: String { name }

  /// Compares the bytes of the names: a client may write anything.
  public static func == (one: Method, other: Method) -> Bool {
    one.name.isSameBytes(as: other.name)
  }

  /// Hashes the bytes of the name.
  public func hash(into hasher: inout Hasher) { name.hashBytes(into: &hasher) }

  /// Asks for the state of a resource.
  public static let get = Method("GET")
  /// Asks what `get` would answer, without the body.
  public static let head = Method("HEAD")
  /// Hands over data to be worked on.
  public static let post = Method("POST")
  /// Puts a state in place of another.
  public static let put = Method("PUT")
  /// Changes part of a state.
  public static let patch = Method("PATCH")
  /// Takes a resource away.
  public static let delete = Method("DELETE")
  /// Asks what may be done; browsers send it before a request to another origin.
  public static let options = Method("OPTIONS")
}
