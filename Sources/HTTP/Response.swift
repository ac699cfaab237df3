public import JSON

/// An answer.
public struct Response: Sendable {
  /// What follows the header.
  public enum Body: Sendable {
    /// Bytes that were made for this answer.
    case bytes([UInt8])
    /// A file that the server holds ready.
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
  /// What follows the header.
  public var body: Body

  /// Makes a response.
  public init(status: Status = .ok, fields: Fields = Fields(), body: Body = .bytes([])) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  private init(_ status: Status, _ contentType: String, _ bytes: [UInt8]) {
    self.init(status: status, fields: [.contentType: contentType], body: .bytes(bytes))
  }

  /// A page.
  public static func html(_ bytes: [UInt8], status: Status = .ok) -> Response {
    Response(status, "text/html; charset=utf-8", bytes)
  }

  /// A JSON value.
  public static func json(_ value: JSON, status: Status = .ok) -> Response {
    Response(status, "application/json; charset=utf-8", value.serialized())
  }

  /// A plain text.
  public static func text(_ text: String, status: Status = .ok) -> Response {
    Response(status, "text/plain; charset=utf-8", Array(text.utf8))
  }

  /// Sends a browser on to another page, with GET (303).
  ///
  /// - Parameter location: A path made by `Path`, or a whole URL. Bytes that no URL may hold are
  ///   percent-coded, so that no value can break or end the line.
  /// - Returns: 303 with the location.
  public static func redirect(to location: String) -> Response {
    Response(status: .seeOther, fields: [.location: PercentCoding.cleaned(location)])
  }

  /// Nothing to show (204).
  public static let noContent = Response(status: .noContent)
}

/// A file that a server holds ready to send, with the fields that go with it.
///
/// The server that made it knows its own kind again and sends it without making anything anew,
/// provided that the response has just these `fields`; any other answers with the bytes.
public protocol HeldFile: AnyObject, Sendable {
  /// The content as it is sent, so possibly compressed.
  var bytes: [UInt8] { get }
  /// The fields that belong to it.
  var fields: Fields { get }
}
