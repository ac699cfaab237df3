/// A header field name, compared case-insensitively (RFC 9110 section 5.1).
public struct FieldName: Hashable, Sendable, CustomStringConvertible {
  /// The name as written.
  public let text: String

  /// Creates a name; nil when the text isn't a token (RFC 9110 section 5.6.2).
  public init?(_ text: String) {
    guard isToken(text) else { return nil }
    self.text = text
  }

  /// The name as written.
  public var description: String { text }

  /// Compares names, ignoring the case of ASCII letters.
  public static func == (left: FieldName, right: FieldName) -> Bool {
    let one = left.text.utf8.span
    let other = right.text.utf8.span
    guard one.count == other.count else { return false }
    for index in one.indices where lowercased(one[index]) != lowercased(other[index]) {
      return false
    }
    return true
  }

  /// Hashes the lowercase name.
  public func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(lowercased(byte)) }
  }
}

extension FieldName: ExpressibleByStringLiteral {
  /// Creates a name from a literal; traps when it isn't a token.
  public init(stringLiteral text: String) {
    precondition(isToken(text), "a field name is a token: \(text)")
    self.text = text
  }
}

extension FieldName {
  /// The field `Accept`.
  public static let accept: FieldName = "Accept"
  /// The field `Accept-Encoding`.
  public static let acceptEncoding: FieldName = "Accept-Encoding"
  /// The field `Accept-Language`.
  public static let acceptLanguage: FieldName = "Accept-Language"
  /// The field `Access-Control-Allow-Headers`.
  public static let accessControlAllowHeaders: FieldName = "Access-Control-Allow-Headers"
  /// The field `Access-Control-Allow-Methods`.
  public static let accessControlAllowMethods: FieldName = "Access-Control-Allow-Methods"
  /// The field `Access-Control-Allow-Origin`.
  public static let accessControlAllowOrigin: FieldName = "Access-Control-Allow-Origin"
  /// The field `Access-Control-Max-Age`.
  public static let accessControlMaxAge: FieldName = "Access-Control-Max-Age"
  /// The field `Access-Control-Request-Headers`.
  public static let accessControlRequestHeaders: FieldName = "Access-Control-Request-Headers"
  /// The field `Allow`.
  public static let allow: FieldName = "Allow"
  /// The field `Authorization`.
  public static let authorization: FieldName = "Authorization"
  /// The field `Cache-Control`.
  public static let cacheControl: FieldName = "Cache-Control"
  /// The field `Connection`.
  public static let connection: FieldName = "Connection"
  /// The field `Content-Disposition`.
  public static let contentDisposition: FieldName = "Content-Disposition"
  /// The field `Content-Encoding`.
  public static let contentEncoding: FieldName = "Content-Encoding"
  /// The field `Content-Language`.
  public static let contentLanguage: FieldName = "Content-Language"
  /// The field `Content-Length`.
  public static let contentLength: FieldName = "Content-Length"
  /// The field `Content-Security-Policy`.
  public static let contentSecurityPolicy: FieldName = "Content-Security-Policy"
  /// The field `Content-Type`.
  public static let contentType: FieldName = "Content-Type"
  /// The field `Cookie`.
  public static let cookie: FieldName = "Cookie"
  /// The field `Date`.
  public static let date: FieldName = "Date"
  /// The field `ETag`.
  public static let eTag: FieldName = "ETag"
  /// The field `Expect`.
  public static let expect: FieldName = "Expect"
  /// The field `Host`.
  public static let host: FieldName = "Host"
  /// The field `If-None-Match`.
  public static let ifNoneMatch: FieldName = "If-None-Match"
  /// The field `Location`.
  public static let location: FieldName = "Location"
  /// The field `Origin`.
  public static let origin: FieldName = "Origin"
  /// The field `Referrer-Policy`.
  public static let referrerPolicy: FieldName = "Referrer-Policy"
  /// The field `Retry-After`.
  public static let retryAfter: FieldName = "Retry-After"
  /// The field `Sec-Fetch-Site`.
  public static let secFetchSite: FieldName = "Sec-Fetch-Site"
  /// The field `Set-Cookie`.
  public static let setCookie: FieldName = "Set-Cookie"
  /// The field `Strict-Transport-Security`.
  public static let strictTransportSecurity: FieldName = "Strict-Transport-Security"
  /// The field `Transfer-Encoding`.
  public static let transferEncoding: FieldName = "Transfer-Encoding"
  /// The field `User-Agent`.
  public static let userAgent: FieldName = "User-Agent"
  /// The field `Vary`.
  public static let vary: FieldName = "Vary"
  /// The field `WWW-Authenticate`.
  public static let wwwAuthenticate: FieldName = "WWW-Authenticate"
  /// The field `X-Content-Type-Options`.
  public static let xContentTypeOptions: FieldName = "X-Content-Type-Options"
  /// The field `X-Forwarded-For`.
  public static let xForwardedFor: FieldName = "X-Forwarded-For"
  /// The field `X-Forwarded-Proto`.
  public static let xForwardedProto: FieldName = "X-Forwarded-Proto"
  /// The field `X-Request-ID`.
  public static let xRequestID: FieldName = "X-Request-ID"
}

/// Returns whether a text is a token (RFC 9110 section 5.6.2), as names of fields and cookies are.
func isToken(_ text: String) -> Bool {
  let bytes = text.utf8.span
  guard !bytes.isEmpty else { return false }
  for index in bytes.indices where !isTokenCharacter(bytes[index]) { return false }
  return true
}

/// Returns whether a byte is a letter, a digit, or one of `!#$%&'*+-.^_`|~`.
private func isTokenCharacter(_ byte: UInt8) -> Bool {
  // One bit per character, for 0 to 63 and 64 to 127.
  let (low, high): (UInt64, UInt64) = (0x03FF_6CFA_0000_0000, 0x57FF_FFFF_C7FF_FFFE)
  return byte < 64 ? low >> byte & 1 == 1 : byte < 128 && high >> (byte - 64) & 1 == 1
}

/// Returns the lowercase form of an ASCII letter, and any other byte unchanged.
func lowercased(_ byte: UInt8) -> UInt8 {
  switch byte {
  case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
  default: byte
  }
}
