import HTTP
import Identity

extension Instant {
  /// The seconds to wait until this time, at least one, as `Retry-After` has them.
  func wait(at now: Instant) -> Int64 { max(seconds - now.seconds, 1) }
}

extension Response {
  /// A page with errors, and the time to wait if there were too many attempts.
  static func html(_ html: [UInt8], errors: [FieldError], seconds: Int64?) -> Response {
    let fitting: Status = errors.isEmpty ? .ok : .unprocessableContent
    var response = Response.html(html, status: seconds == nil ? fitting : .tooManyRequests)
    if let seconds { response.fields[.retryAfter] = String(seconds) }
    return response
  }
}
