import CMicroHTTPD
import HTTP

enum Answer {
  /// Queues a response, or only the length of its body, which the engine sends after the callback
  /// returns.
  static func queue(
    _ response: Response, on raw: OpaquePointer, hasBody: Bool, andClose: Bool
  ) -> MHD_Result {
    let code = UInt32(response.status.code)
    if !andClose, case .file(let file) = response.body, let held = file as? HeldResponse,
      response.status == .ok, response.fields == held.fields
    {
      return unsafe MHD_queue_response(raw, code, held.raw)
    }
    let created =
      unsafe hasBody
      ? make(response.body.bytes, response.fields) : make(length(response), response.fields)
    guard let created = unsafe created else { return MHD_Result.NO }
    if andClose { _ = unsafe MHD_add_response_header(created, "Connection", "close") }
    let result = unsafe MHD_queue_response(raw, code, created)
    unsafe MHD_destroy_response(created)
    return result
  }

  /// Creates an engine response, which the caller owns.
  static func make(_ bytes: [UInt8], _ fields: Fields) -> OpaquePointer? {
    let created = unsafe bytes.withUnsafeBytes { bytes in
      unsafe MHD_create_response_from_buffer(
        bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
    }
    return unsafe add(fields, to: created)
  }

  /// Creates an engine response with a `Content-Length` but no body, for HEAD and 304.
  private static func make(_ length: Int, _ fields: Fields) -> OpaquePointer? {
    let created = unsafe MHD_create_response_from_callback(
      UInt64(length), 1, { _, _, _, _ in -1 }, nil, nil)
    return unsafe add(fields, to: created)
  }

  private static func add(_ fields: Fields, to created: OpaquePointer?) -> OpaquePointer? {
    guard let created = unsafe created else { return nil }
    for field in fields where !isOwnBusiness(field.name) {
      _ = unsafe MHD_add_response_header(created, field.name.text, field.value)
    }
    return unsafe created
  }

  /// Returns the `Content-Length` of a response sent without its body.
  private static func length(_ response: Response) -> Int {
    if response.body.count > 0 { return response.body.count }
    return response.fields[.contentLength].flatMap { Int($0) }.map { max($0, 0) } ?? 0
  }

  /// Returns whether the engine writes a field itself: the body length, connection, and date.
  private static func isOwnBusiness(_ name: FieldName) -> Bool {
    name == .contentLength || name == .transferEncoding || name == .connection || name == .date
  }
}

/// An engine response that is created once and sent many times.
///
/// `@unchecked Sendable`, because:
/// 1. `raw` is created in `init`, destroyed in `deinit`, and never changed in between;
/// 2. the engine protects a response's reference count with its own lock.
@safe final class HeldResponse: HeldFile, @unchecked Sendable {
  let bytes: [UInt8]
  let fields: Fields
  let raw: OpaquePointer

  init?(bytes: [UInt8], fields: Fields) {
    guard let raw = unsafe Answer.make(bytes, fields) else { return nil }
    self.bytes = bytes
    self.fields = fields
    unsafe self.raw = raw
  }

  deinit {
    unsafe MHD_destroy_response(raw)
  }
}
