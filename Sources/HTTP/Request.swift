import Text

/// A request with its complete body.
public struct Request: Sendable {
  /// The method.
  public var method: Method
  /// The path and query.
  public var target: Target
  /// The header fields.
  public var fields: Fields { didSet { cookies = Cookies(fields) } }
  /// The cookies in the header fields.
  public private(set) var cookies: Cookies
  /// The body; empty when there's none.
  public var body: [UInt8]
  /// The client's address, without a port.
  public var peer: String
  /// Whether the request was sent over TLS.
  public var isSecure: Bool
  /// The ID of the request in the access log and on error pages.
  public var id: RequestID

  /// Creates a request.
  public init(
    method: Method = .get, target: Target, fields: Fields = Fields(), body: [UInt8] = [],
    peer: String = "127.0.0.1", isSecure: Bool = false, id: RequestID = RequestID(0)
  ) {
    self.method = method
    self.target = target
    self.fields = fields
    cookies = Cookies(fields)
    self.body = body
    self.peer = peer
    self.isSecure = isSecure
    self.id = id
  }

  /// Parses the body as a form.
  ///
  /// Returns nil when the content type isn't `application/x-www-form-urlencoded`.
  ///
  /// - Parameter field: The name of a field in which NUL becomes ``Form/visibleNUL``, so that a
  ///   page can show it with an error; nil for none.
  /// - Returns: The form.
  /// - Throws: The reason the body is invalid.
  public func form(showingNULIn field: StaticString? = nil) throws(FormError) -> Form? {
    guard mediaType?.isSameBytes(as: "application/x-www-form-urlencoded") ?? false else {
      return nil
    }
    return try Form(reading: body.span, showingNULIn: field)
  }

  /// The content type in lowercase and without parameters, such as `application/json`.
  public var mediaType: String? {
    guard let text = fields[.contentType] else { return nil }
    let type = text.utf8.prefix { $0 != UInt8(ascii: ";") }
    let bytes = type.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
    return String(decoding: bytes, as: UTF8.self).lowercased()
  }
}
