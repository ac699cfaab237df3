/// A request to another server.
public struct ClientRequest: Sendable {
  /// A method.
  public enum Method: String, Sendable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
  }

  /// A header field.
  public struct Field: Sendable, Equatable {
    /// The name, in ASCII letters, digits, and hyphens.
    public let name: String
    /// The value, in printable ASCII.
    public let value: String

    /// Creates a field; nil when the value could end it (RFC 9110 section 5.5).
    public init?(_ name: String, _ value: String) {
      let isName = name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
          true
        default: false
        }
      }
      guard !name.isEmpty, isName, !value.isEmpty,
        value.utf8.allSatisfy({ (32...126).contains($0) })
      else { return nil }
      (self.name, self.value) = (name, value)
    }
  }

  /// The method.
  public let method: Method
  /// The URL.
  public let url: ClientURL
  /// The header fields, in order.
  public let fields: [Field]
  /// The body; nil for none.
  public let body: [UInt8]?
  /// Whether the status is the whole answer: the body of the response is cut off after 4 KiB, and
  /// one that's incomplete is no error.
  public var isAnsweredByStatus = false

  /// Creates a request.
  public init(_ method: Method, _ url: ClientURL, fields: [Field] = [], body: [UInt8]? = nil) {
    (self.method, self.url, self.fields, self.body) = (method, url, fields, body)
  }
}

/// The response to a request.
public struct ClientResponse: Sendable, Equatable {
  /// The status code, 200–599.
  public let status: Int
  /// The header fields by their names in lowercase; the last one of several with the same name.
  public let fields: [String: String]
  /// The body.
  public let body: [UInt8]

  /// Creates a response.
  public init(status: Int, fields: [String: String], body: [UInt8]) {
    (self.status, self.fields, self.body) = (status, fields, body)
  }
}
