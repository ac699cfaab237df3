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
}

/// A response status code (RFC 9110 section 15).
public struct Status: Hashable, Sendable, CustomStringConvertible {
  /// The code, 100 to 599.
  public let code: Int

  /// Creates a status; traps when the code isn't 100 to 599.
  public init(_ code: Int) {
    precondition((100...599).contains(code), "a status code has three digits, 100 to 599")
    self.code = code
  }

  /// The code and its reason phrase, such as `404 Not Found`.
  public var description: String { "\(code) \(reason)" }

  /// 200 OK.
  public static let ok = Status(200)
  /// 204 No Content.
  public static let noContent = Status(204)
  /// 302 Found.
  public static let found = Status(302)
  /// 303 See Other, the response to an accepted form.
  public static let seeOther = Status(303)
  /// 304 Not Modified.
  public static let notModified = Status(304)
  /// 400 Bad Request.
  public static let badRequest = Status(400)
  /// 401 Unauthorized.
  public static let unauthorized = Status(401)
  /// 403 Forbidden.
  public static let forbidden = Status(403)
  /// 404 Not Found.
  public static let notFound = Status(404)
  /// 405 Method Not Allowed.
  public static let methodNotAllowed = Status(405)
  /// 409 Conflict.
  public static let conflict = Status(409)
  /// 410 Gone.
  public static let gone = Status(410)
  /// 413 Content Too Large.
  public static let contentTooLarge = Status(413)
  /// 414 URI Too Long.
  public static let targetTooLong = Status(414)
  /// 415 Unsupported Media Type.
  public static let unsupportedMediaType = Status(415)
  /// 417 Expectation Failed.
  public static let expectationFailed = Status(417)
  /// 422 Unprocessable Content, the response to an invalid form.
  public static let unprocessableContent = Status(422)
  /// 429 Too Many Requests.
  public static let tooManyRequests = Status(429)
  /// 431 Request Header Fields Too Large.
  public static let fieldsTooLarge = Status(431)
  /// 500 Internal Server Error.
  public static let internalServerError = Status(500)
  /// 501 Not Implemented.
  public static let notImplemented = Status(501)
  /// 503 Service Unavailable.
  public static let serviceUnavailable = Status(503)

  /// The reason phrase in RFC 9110; empty when the RFC doesn't define the code.
  public var reason: String {
    switch code {
    case 200: "OK"
    case 201: "Created"
    case 202: "Accepted"
    case 204: "No Content"
    case 302: "Found"
    case 303: "See Other"
    case 304: "Not Modified"
    case 308: "Permanent Redirect"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 406: "Not Acceptable"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 410: "Gone"
    case 411: "Length Required"
    case 412: "Precondition Failed"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 415: "Unsupported Media Type"
    case 417: "Expectation Failed"
    case 422: "Unprocessable Content"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 503: "Service Unavailable"
    default: ""
    }
  }
}
