/// A strong entity tag for conditional requests (RFC 9110 section 8.8.3).
public struct EntityTag: Hashable, Sendable, CustomStringConvertible {
  /// The opaque text, without quotation marks.
  public let text: String

  /// Creates a tag; traps unless the text is printable ASCII without quotation marks and spaces.
  public init(_ text: String) {
    precondition(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") })
    self.text = text
  }

  /// The value for `ETag`.
  public var description: String { "\"\(text)\"" }

  /// Returns whether an `If-None-Match` value contains this tag, by weak comparison.
  public func matches(_ field: String) -> Bool {
    let span = field.utf8.span
    let own = text.utf8.span
    var index = 0
    while index < span.count {
      switch span[index] {
      case UInt8(ascii: "*"): return true
      case UInt8(ascii: "\""):
        var end = index + 1
        while end < span.count, span[end] != UInt8(ascii: "\"") { end += 1 }
        guard end < span.count else { return false }
        var isSame = end - index - 1 == own.count
        if isSame {
          for offset in own.indices where own[offset] != span[index + 1 + offset] { isSame = false }
        }
        if isSame { return true }
        index = end + 1
      default: index += 1
      }
    }
    return false
  }
}

extension Response {
  /// Returns this response with an `ETag`, or 304 when the client's copy is current.
  ///
  /// Only a 200 response to GET or HEAD becomes 304. The 304 keeps the fields that RFC 9110 section
  /// 15.4.5 requires, and has the `Content-Length` of the 200 response.
  public func conditional(on tag: EntityTag, for request: Request) -> Response {
    var response = self
    response.fields[.eTag] = tag.description
    guard status == .ok, request.method == .get || request.method == .head,
      request.fields.all(.ifNoneMatch).contains(where: tag.matches)
    else { return response }
    response.status = .notModified
    response.fields[.contentLength] = String(body.count)
    response.body = .bytes([])
    response.fields[.contentType] = nil
    response.fields[.contentEncoding] = nil
    response.fields[.contentLanguage] = nil
    return response
  }
}
