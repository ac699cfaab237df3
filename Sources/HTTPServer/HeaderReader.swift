import CMicroHTTPD
import HTTP

/// The header of a request as the engine read it, and what is wrong with it.
struct HeaderReader {
  private(set) var fields = Fields()
  private(set) var bytes = 0
  private var isWellFormed = true

  /// Copies the fields of a request.
  init(_ connection: OpaquePointer) {
    fields.reserveCapacity(8)
    unsafe withUnsafeMutablePointer(to: &self) { reader in
      _ = unsafe MHD_get_connection_values_n(
        connection, MHD_ValueKind.HEADER_KIND,
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
    bytes += key.count + value.count + 4
    guard let name = unsafe FieldName(String(decoding: key, as: UTF8.self)),
      unsafe fields.add(name, String(decoding: value, as: UTF8.self))
    else {
      isWellFormed = false
      return
    }
  }

  /// How the body of a request is delimited.
  enum Framing: Equatable {
    case none
    case length(Int)
    case chunked
  }

  /// How the body is delimited, or nothing when that is not beyond doubt (RFC 9112 section 6.3).
  ///
  /// Two parties that see different ends of a body see different requests behind it. So both ways
  /// of telling the length at once, a length that is told twice, and a coding other than `chunked`
  /// are refused rather than read in one of several ways.
  var framing: Framing? {
    guard isWellFormed else { return nil }
    let lengths = fields.all(.contentLength)
    let codings = fields.all(.transferEncoding)
    switch (lengths.count, codings.count) {
    case (0, 0): return Framing.none
    case (1, 0):
      let text = lengths[0].utf8
      guard !text.isEmpty, text.count <= 18,
        text.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
      else { return nil }
      return Int(lengths[0]).map { .length($0) }
    case (0, 1): return codings[0].lowercased() == "chunked" ? .chunked : nil
    default: return nil
    }
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
