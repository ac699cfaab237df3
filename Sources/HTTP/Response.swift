public import JSON

/// An HTTP response.
public struct Response: Sendable {
  /// The body of a response.
  public enum Body: Sendable {
    /// Bytes generated for this response.
    case bytes([UInt8])
    /// A file that the server holds in memory.
    case file(any HeldFile)

    /// The number of bytes.
    public var count: Int {
      switch self {
      case .bytes(let bytes): bytes.count
      case .file(let file): file.bytes.count
      }
    }

    /// The bytes.
    public var bytes: [UInt8] {
      switch self {
      case .bytes(let bytes): bytes
      case .file(let file): file.bytes
      }
    }
  }

  /// The status.
  public var status: Status
  /// The header fields; the server adds the length and the date.
  public var fields: Fields
  /// The body.
  public var body: Body
  /// The route that created the response, for measurements; nil for none.
  public var route: Route.Label?

  /// Creates a response.
  public init(status: Status = .ok, fields: Fields = Fields(), body: Body = .bytes([])) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  private init(_ status: Status, _ contentType: String, _ bytes: [UInt8]) {
    self.init(status: status, fields: [.contentType: contentType], body: .bytes(bytes))
  }

  /// Creates an HTML response.
  public static func html(_ bytes: [UInt8], status: Status = .ok) -> Response {
    Response(status, "text/html; charset=utf-8", bytes)
  }

  /// Creates a JSON response.
  public static func json(_ value: JSON, status: Status = .ok) -> Response {
    Response(status, "application/json; charset=utf-8", value.serialized())
  }

  /// Creates a plain text response.
  public static func text(_ text: String, status: Status = .ok) -> Response {
    Response(status, "text/plain; charset=utf-8", Array(text.utf8))
  }

  /// Creates a 303 redirect, which the browser follows with GET.
  ///
  /// - Parameter location: A path from `Path`, or a complete URL. Bytes not allowed in URLs are
  ///   percent-encoded, so that no value can end the header line.
  /// - Returns: A 303 response with the location.
  public static func redirect(to location: String) -> Response {
    Response(status: .seeOther, fields: [.location: PercentCoding.cleaned(location)])
  }

  /// An empty response (204).
  public static let noContent = Response(status: .noContent)
}

/// A file that the server holds in memory, with its header fields.
///
/// The server that created it sends it without copying, as long as the response has exactly these
/// `fields`; other servers send the bytes.
public protocol HeldFile: AnyObject, Sendable {
  /// The content as sent, possibly compressed.
  var bytes: [UInt8] { get }
  /// The header fields of the file.
  var fields: Fields { get }
}
