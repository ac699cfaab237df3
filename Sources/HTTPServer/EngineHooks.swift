import CMicroHTTPD
import Glibc
import HTTP
import Synchronization

/// Functions of libmicrohttpd that the program overrides.
///
/// The library calls two of its own public functions through the dynamic linker, which prefers the
/// program's definitions. Responses that the library would send itself, in HTML and without
/// security headers, therefore come from the caller's `failure`, and the library sees only the body
/// lengths that this module allows.
enum EngineHooks {
  /// Whether the library's calls reach the overrides.
  static var areInPlace: Bool {
    let queue: @convention(c) (OpaquePointer?, UInt32, OpaquePointer?) -> Int32 =
      unsafe engineQueuesResponse
    let lookup:
      @convention(c) (
        OpaquePointer?, UInt32, UnsafePointer<CChar>?, Int,
        UnsafeMutablePointer<UnsafePointer<CChar>?>?, UnsafeMutablePointer<Int>?
      ) -> Int32 = unsafe engineLooksUp
    return unsafe engine_is_hooked(
      "MHD_queue_response", unsafeBitCast(queue, to: UnsafeRawPointer.self)) != 0
      && engine_is_hooked(
        "MHD_lookup_connection_value_n", unsafeBitCast(lookup, to: UnsafeRawPointer.self)) != 0
  }

  /// Returns the connection for one of the engine's; nil for a probe.
  fileprivate static func connection(_ raw: OpaquePointer) -> Connection? {
    guard let held = unsafe engine_connection_context(raw) else { return nil }
    return unsafe Unmanaged<Connection>.fromOpaque(held).takeUnretainedValue()
  }
}

/// Replaces the engine's own response; the engine calls this only to reject a request itself.
///
/// - Parameters:
///   - raw: The engine's connection.
///   - status: The engine's status code.
///   - response: The engine's response, which isn't sent.
/// - Returns: 1 when a response was queued.
@_cdecl("MHD_queue_response")
public func engineQueuesResponse(
  _ raw: OpaquePointer?, _ status: UInt32, _ response: OpaquePointer?
)
  -> Int32
{
  guard let raw = unsafe raw, let connection = unsafe EngineHooks.connection(raw),
    (400...599).contains(status)
  else { return unsafe Int32(engine_queue(raw, status, response).rawValue) }
  let answer = connection.refuse(Status(Int(status)))
  guard let created = unsafe Answer.make(answer.body.bytes, answer.fields) else { return 0 }
  defer { unsafe MHD_destroy_response(created) }
  return unsafe Int32(engine_queue(raw, UInt32(answer.status.code), created).rawValue)
}

/// Filters the header values that the engine sees.
///
/// For the engine, a body with a transfer coding has no end, so it passes on the bytes as they
/// arrive. An invalid length is 0, until `HeaderReader` rejects the request. Cookies aren't parsed.
///
/// - Parameters:
///   - raw: The engine's connection.
///   - kind: The kind of values to search.
///   - key: The name.
///   - keySize: The length of the name, in bytes.
///   - value: Receives the value.
///   - valueSize: Receives the length of the value, in bytes.
/// - Returns: 1 when there's a value.
@_cdecl("MHD_lookup_connection_value_n")
public func engineLooksUp(
  _ raw: OpaquePointer?, _ kind: UInt32, _ key: UnsafePointer<CChar>?, _ keySize: Int,
  _ value: UnsafeMutablePointer<UnsafePointer<CChar>?>?, _ valueSize: UnsafeMutablePointer<Int>?
) -> Int32 {
  func real() -> Int32 {
    guard let kind = MHD_ValueKind(rawValue: kind) else { return 0 }
    return unsafe Int32(engine_lookup(raw, kind, key, keySize, value, valueSize).rawValue)
  }
  guard let raw = unsafe raw, let key = unsafe key,
    let connection = unsafe EngineHooks.connection(raw)
  else { return real() }
  switch (keySize, UInt8(bitPattern: unsafe key.pointee)) {
  case (6, UInt8(ascii: "C")):  // Cookie
    return 0
  case (17, UInt8(ascii: "T")):  // Transfer-Encoding
    connection.isTransferCoded.store(real() != 0, ordering: .relaxed)
    return 0
  case (14, UInt8(ascii: "C")):  // Content-Length
    if connection.isTransferCoded.load(ordering: .relaxed) {
      unsafe engine_give(engine_endless(), value, valueSize)
      return 1
    }
    guard real() != 0 else { return 0 }
    guard let text = unsafe value?.pointee else { return 1 }
    let bytes = unsafe UnsafeRawBufferPointer(start: text, count: strlen(text))
    if unsafe !HeaderReader.isLength(bytes) { unsafe engine_give(engine_zero(), value, valueSize) }
    return 1
  default:
    return real()
  }
}
