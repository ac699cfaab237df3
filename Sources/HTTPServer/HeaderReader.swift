import CMicroHTTPD
import HTTP
import Network
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

  private var hasLongCookieName: Bool {
    fields.all(.cookie).contains { $0.utf8.count > UntrustedText.longestName }
      && Cookies(fields).hasLongName
  }

  /// Whether `Expect` has a value other than `100-continue`.
  var expectsTheUnknown: Bool {
    fields.all(.expect).contains { !$0.isSameToken(as: "100-continue") }
  }
}

/// The syntax of the Host field: a host as in URLs, and a port (RFC 9110 section 7.2).
enum HostField {
  /// The maximum length of a host, in bytes, which is that of a domain name.
  private static let longestHost = 255
  private static let mostPortDigits = 5

  /// Returns whether a value is empty, or a host with or without a port.
  static func isValid(_ value: String) -> Bool {
    let bytes = value.utf8
    guard bytes.count <= longestHost + 1 + mostPortDigits else { return false }
    guard bytes.first == UInt8(ascii: "[") else {
      let end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
      return isName(bytes[..<end]) && isPort(bytes[end...])
    }
    guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return false }
    let address = NetworkAddress(value[bytes.index(after: bytes.startIndex)..<end])
    // An IPv4 address has no brackets.
    return address != nil && bytes[..<end].contains(UInt8(ascii: ":"))
      && isPort(bytes[bytes.index(after: end)...])
  }

  /// Returns whether bytes are a registered name or an IPv4 address (RFC 3986 section 3.2.2).
  private static func isName(_ bytes: Substring.UTF8View) -> Bool {
    guard bytes.count <= longestHost else { return false }
    var index = bytes.startIndex
    while index < bytes.endIndex {
      if bytes[index] == UInt8(ascii: "%") {
        guard let code = bytes.index(index, offsetBy: 2, limitedBy: bytes.endIndex),
          code < bytes.endIndex, isHex(bytes[bytes.index(after: index)]), isHex(bytes[code])
        else { return false }
        index = code
      } else if !isNameByte(bytes[index]) {
        return false
      }
      index = bytes.index(after: index)
    }
    return true
  }

  /// Returns whether bytes are a colon and a port, or nothing.
  private static func isPort(_ bytes: Substring.UTF8View) -> Bool {
    guard let colon = bytes.first else { return true }
    let digits = bytes.dropFirst()
    return colon == UInt8(ascii: ":") && digits.count <= mostPortDigits
      && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-._~!$&'()*+,;=".utf8.contains(byte)
    }
  }

  private static func isHex(_ byte: UInt8) -> Bool {
    Character(Unicode.Scalar(byte)).isHexDigit
  }
}
