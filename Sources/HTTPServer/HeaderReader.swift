import CMicroHTTPD
import Glibc
import HTTP

/// The header of a request as the engine read it, and what is wrong with it.
///
/// The engine is lenient: it drops field lines without a name, cuts values at a NUL, joins folded
/// lines to the wrong text and takes more spaces than one. Whoever stands in front of this server
/// may read such a header in another way, so all of that is refused: every part that the engine
/// found must follow the one before it in memory, with nothing between them but what HTTP puts
/// there.
struct HeaderReader {
  /// How the body of a request is delimited.
  enum Framing: Equatable {
    case none
    case length(Int)
    case chunked
  }

  private(set) var fields = Fields()
  /// The bytes of request line and header.
  private(set) var size = 0
  private var isWellFormed: Bool
  private let isModern: Bool
  /// Where the next field line must start.
  private var next: UInt

  /// The most digits of a length that is read as a number.
  private static let mostDigits = 18

  /// Whether a text is a length that the engine may be told: digits, few enough for a number.
  static func isLength(_ text: UnsafeRawBufferPointer) -> Bool {
    unsafe (1...mostDigits).contains(text.count)
      && text.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  /// Copies the fields of a request.
  ///
  /// - Parameters:
  ///   - raw: The engine's connection.
  ///   - method: The engine's text of the method.
  ///   - target: The address and length of the engine's text of the target.
  ///   - version: The engine's text of the version.
  init(
    _ raw: OpaquePointer, method: UnsafePointer<CChar>, target: (start: UInt, count: Int),
    version: UnsafePointer<CChar>
  ) {
    let start = UInt(bitPattern: method)
    let name = unsafe String(cString: version)
    isModern = name.isSameBytes(as: "HTTP/1.1")
    isWellFormed =
      (isModern || name.isSameBytes(as: "HTTP/1.0"))
      && start + UInt(unsafe strlen(method)) + 1 == target.start
      && target.start + UInt(target.count) + 1 == UInt(bitPattern: version)
    next = UInt(bitPattern: version) + 10
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
    size = unsafe engine_header_size(raw)
    if next + 2 != start + UInt(size) { isWellFormed = false }
  }

  private mutating func add(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    let keyStart = UInt(bitPattern: key.baseAddress)
    let valueStart = UInt(bitPattern: value.baseAddress)
    guard keyStart == next, valueStart > keyStart + UInt(key.count),
      let name = unsafe FieldName(String(decoding: key, as: UTF8.self)),
      let text = unsafe UntrustedText(checking: HeaderReader.text(value, of: name)),
      fields.add(name, text.text)
    else {
      isWellFormed = false
      return
    }
    next = valueStart + UInt(value.count) + 2
  }

  /// The text of a value without spaces behind it; bytes that are not UTF-8 become replacement
  /// characters.
  private static func text(_ value: UnsafeRawBufferPointer, of name: FieldName) -> String {
    var count = value.count
    if name != .contentLength, name != .transferEncoding {
      while count > 0, unsafe value[count - 1] == 0x20 || value[count - 1] == 0x09 { count -= 1 }
    }
    return unsafe String(decoding: value[..<count], as: UTF8.self)
  }

  /// How the body is delimited, or nothing when that is not beyond doubt (RFC 9112 section 6.3).
  ///
  /// Two parties that see different ends of a body see different requests behind it. So both ways
  /// of telling the length at once, a length that is told twice, and a coding other than `chunked`
  /// are refused rather than read in one of several ways; so are spaces behind either value, which
  /// the engine reads in its own way.
  var framing: Framing? {
    guard isWellFormed else { return nil }
    guard !hasLongCookieName else { return nil }
    let hosts = fields.all(.host).count
    guard hosts == 1 || hosts == 0 && !isModern else { return nil }
    let lengths = fields.all(.contentLength)
    let codings = fields.all(.transferEncoding)
    switch (lengths.count, codings.count) {
    case (0, 0): return Framing.none
    case (1, 0):
      let text = lengths[0].utf8
      guard !text.isEmpty,
        text.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
      else { return nil }
      // A length beyond all numbers is a length still, and too long for everything.
      return .length(text.count <= HeaderReader.mostDigits ? Int(lengths[0]) ?? .max : .max)
    case (0, 1): return isModern && codings[0].lowercased() == "chunked" ? .chunked : nil
    default: return nil
    }
  }

  /// Whether a cookie has a name longer than any that is read.
  private var hasLongCookieName: Bool {
    fields.all(.cookie).contains { $0.utf8.count > UntrustedText.longestName }
      && Cookies(fields).hasLongName
  }

  /// Whether the client asks for something with `Expect` that is not known here.
  var expectsTheUnknown: Bool {
    fields.all(.expect).contains { $0.lowercased() != "100-continue" }
  }

  /// Whether the client waits for leave to send the body.
  var waitsForContinue: Bool {
    fields.all(.expect).contains { $0.lowercased() == "100-continue" }
  }
}
