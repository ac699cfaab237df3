import CMicroHTTPD
import HTTP
import Text

/// Reads and validates the header of a request that the engine parsed.
struct HeaderReader {
  /// How the end of a request's body is determined.
  enum Framing: Equatable {
    case none
    case length(Int)
    case chunked
  }

  private(set) var fields = Fields()
  private let version: String
  private var isWellFormed = true

  /// Copies the header fields of a request.
  ///
  /// - Parameters:
  ///   - raw: The engine's connection.
  ///   - version: The version in the request line.
  init(_ raw: OpaquePointer, version: String) {
    self.version = version
    fields.reserveCapacity(8)
    unsafe withUnsafeMutablePointer(to: &self) { reader in
      _ = unsafe MHD_get_connection_values_n(
        raw, MHD_ValueKind.HEADER_KIND,
        { context, _, key, keySize, value, valueSize in
          if let reader = unsafe context?.assumingMemoryBound(to: HeaderReader.self) {
            unsafe reader.pointee.add(
              UnsafeRawBufferPointer(start: key, count: keySize),
              UnsafeRawBufferPointer(start: value, count: valueSize))
          }
          return MHD_Result.YES
        }, reader)
    }
  }

  private mutating func add(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    guard let name = unsafe FieldName(String(decoding: key, as: UTF8.self)),
      let text = unsafe UntrustedText(checking: HeaderReader.text(value, of: name)),
      fields.add(name, text.text)
    else {
      isWellFormed = false
      return
    }
  }

  /// Returns a value without trailing spaces; bytes that aren't UTF-8 become replacement
  /// characters.
  private static func text(_ value: UnsafeRawBufferPointer, of name: FieldName) -> String {
    var count = value.count
    if name != .contentLength, name != .transferEncoding {
      while count > 0, unsafe value[count - 1] == 0x20 || value[count - 1] == 0x09 { count -= 1 }
    }
    return unsafe String(decoding: value[..<count], as: UTF8.self)
  }

  /// How the end of the body is determined; nil when it's ambiguous (RFC 9112 section 6.3).
  ///
  /// Two parties that disagree on where a body ends disagree on the next request (request
  /// smuggling). A length together with a transfer coding, a repeated length, and codings other
  /// than `chunked` are therefore rejected, as are trailing spaces in either value, which the
  /// engine parses in its own way.
  var framing: Framing? {
    let isModern = version.isSameBytes(as: "HTTP/1.1")
    guard isWellFormed, isModern || version.isSameBytes(as: "HTTP/1.0"), !hasLongCookieName
    else { return nil }
    let hosts = fields.all(.host)
    guard hosts.count == 1 || hosts.isEmpty && !isModern,
      hosts.allSatisfy({ HostField.isValid($0) })
    else { return nil }
    let lengths = fields.all(.contentLength)
    let codings = fields.all(.transferEncoding)
    switch (lengths.count, codings.count) {
    case (0, 0): return Framing.none
    case (1, 0):
      let text = lengths[0].utf8
      guard !text.isEmpty,
        text.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
      else { return nil }
      // A length too large to parse is still a length, and above every limit.
      return .length(Int(lengths[0]) ?? .max)
    case (0, 1): return isModern && codings[0].isSameToken(as: "chunked") ? .chunked : nil
    default: return nil
    }
  }

  /// Whether a cookie name is too long.
  private var hasLongCookieName: Bool {
    fields.all(.cookie).contains { $0.utf8.count > UntrustedText.longestName }
      && Cookies(fields).hasLongName
  }

  /// Whether `Expect` has a value other than `100-continue`.
  var expectsTheUnknown: Bool {
    fields.all(.expect).contains { !$0.isSameToken(as: "100-continue") }
  }
}
