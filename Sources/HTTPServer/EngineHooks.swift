import CMicroHTTPD
import Glibc
import HTTP
import Synchronization

/// Functions of libmicrohttpd that the program defines in its place.
///
/// The library calls two of its own public functions through the dynamic linker, which prefers the
/// program's definitions. So what the library would answer on its own, in HTML and without security
/// headers, is answered by the caller's `failure` instead; and what it believes about the length of
/// a body comes from here.
enum EngineHooks {
  /// Whether the library's calls come here.
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

  /// The connection of ours behind one of the engine's; nil for a probe.
  fileprivate static func connection(_ raw: OpaquePointer) -> Connection? {
    guard let held = unsafe engine_connection_context(raw) else { return nil }
    return unsafe Unmanaged<Connection>.fromOpaque(held).takeUnretainedValue()
  }
}

/// Answers in place of the engine, which calls this only to refuse a request on its own.
///
/// - Parameters:
///   - raw: The engine's connection.
///   - status: The engine's status.
///   - response: The engine's answer, which isn't sent.
/// - Returns: 1 when the answer was queued.
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
  guard let made = unsafe Answer.make(answer.body.bytes, answer.fields) else { return 0 }
  defer { unsafe MHD_destroy_response(made) }
  return unsafe Int32(engine_queue(raw, UInt32(answer.status.code), made).rawValue)
}

/// Tells the engine what it may know of a header.
///
/// A body with a transfer coding has no end for the engine, which hands its bytes over as they come.
/// A length that isn't one is 0, until `HeaderReader` refuses the request. Cookies aren't split.
///
/// - Parameters:
///   - raw: The engine's connection.
///   - kind: What is looked through.
///   - key: The name that is looked up.
///   - keySize: The bytes of the name.
///   - value: Where the value goes.
///   - valueSize: Where the number of its bytes goes.
/// - Returns: 1 when there is a value.
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
