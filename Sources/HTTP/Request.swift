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

/// An ID for a request in the access log and on error pages: 12 characters, unique per run.
///
/// It isn't secret and can be guessed.
public struct RequestID: Hashable, Sendable, CustomStringConvertible {
  /// The number behind the text, below 2^60.
  public let number: UInt64

  /// Creates an ID from a number, using its lower 60 bits.
  public init(_ number: UInt64) {
    self.number = number & (1 << 60 - 1)
  }

  /// The 12 characters: digits and uppercase letters except I, L, O, and U.
  public var text: String {
    var text = ""
    text.reserveCapacity(12)
    for index in 0..<12 { text.unicodeScalars.append(Unicode.Scalar(character(index))) }
    return text
  }

  /// The 12 characters.
  public var description: String { text }

  /// Returns one character of the text as ASCII.
  ///
  /// - Parameter index: The position, 0 to 11 from the left.
  /// - Returns: A digit or an uppercase letter.
  public func character(_ index: Int) -> UInt8 {
    let digit = UInt8(truncatingIfNeeded: number >> UInt64(5 * (11 - index))) & 31
    return switch digit {
    case 0...9: UInt8(ascii: "0") + digit
    case 10...17: UInt8(ascii: "A") + digit - 10
    case 18...19: UInt8(ascii: "J") + digit - 18
    case 20...21: UInt8(ascii: "M") + digit - 20
    case 22...26: UInt8(ascii: "P") + digit - 22
    default: UInt8(ascii: "V") + digit - 27
    }
  }
}
