/// One request, read in full.
public struct Request: Sendable {
  /// The method.
  public var method: Method
  /// The path and query.
  public var target: Target
  /// The header fields.
  public var fields: Fields
  /// The body, empty when there was none.
  public var body: [UInt8]
  /// The address of the client, without a port.
  public var peer: String
  /// Whether it came over TLS.
  public var isSecure: Bool
  /// Its name in the log.
  public var id: RequestID

  /// Makes a request.
  public init(
    method: Method = .get, target: Target, fields: Fields = Fields(), body: [UInt8] = [],
    peer: String = "127.0.0.1", isSecure: Bool = false, id: RequestID = RequestID(0)
  ) {
    self.method = method
    self.target = target
    self.fields = fields
    self.body = body
    self.peer = peer
    self.isSecure = isSecure
    self.id = id
  }

  /// The cookies, read anew at each call.
  public var cookies: Cookies { Cookies(fields) }

  /// The body as a form.
  ///
  /// Nothing when the content type is not `application/x-www-form-urlencoded`.
  ///
  /// - Throws: What is wrong with the body.
  public func form() throws(FormError) -> Form? {
    guard mediaType?.isSameBytes(as: "application/x-www-form-urlencoded") ?? false else {
      return nil
    }
    return try Form(reading: body.span)
  }

  /// The content type in lower case and without its parameters, such as `application/json`.
  public var mediaType: String? {
    guard let text = fields[.contentType] else { return nil }
    let type = text.utf8.prefix { $0 != UInt8(ascii: ";") }
    let bytes = type.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
    return String(decoding: bytes, as: UTF8.self).lowercased()
  }
}
