import HTTP
import JSON

/// An answer that is an error, before it has taken the shape of its API version.
struct WireError: Error, Sendable {
  var status: Status
  /// `CODE` or `CODE : text`, with one space on both sides of the colon: clients take it apart.
  var message: String
  /// The word in `errors[]` of version 1.
  var reason: String
  /// What stands in `details[]`.
  var details: [JSON]
  /// Whether a conflict is that the resource exists already.
  var isTaken = false
  /// Whether `errors[]` names a domain, as all do but those about a member of the message.
  var hasDomain = true
  /// Whether it was made before a method was reached; such an error has `status` in version 1 too.
  var isFrontEnd: Bool
  /// Seconds until trying again makes sense.
  var retryAfter: Int?
  /// What happened, for the log alone.
  var cause: String?

  init(
    _ message: String, status: Status = .badRequest, reason: String = "invalid",
    details: [JSON] = [], isFrontEnd: Bool = false, retryAfter: Int? = nil
  ) {
    self.status = status
    self.message = message
    self.reason = reason
    self.details = details
    self.isFrontEnd = isFrontEnd
    self.retryAfter = retryAfter
  }
}

/// The form of an error body.
enum ErrorShape: Sendable {
  /// Version 1: `errors[]`, and no `status` unless the error came before the method.
  case v1
  /// Version 2 and token refresh: `status`, and no `errors[]`.
  case v2
  /// Where the address tells no version: both.
  case both
}

extension WireError {
  func response(_ shape: ErrorShape) -> Response {
    var error: JSON.Object = [
      "code": .number(JSON.Number(status.code)), "message": .string(message),
    ]
    if shape != .v2 {
      var entry: JSON.Object = ["message": .string(message)]
      if hasDomain { entry.append("domain", "global") }
      entry.append("reason", .string(reason))
      error.append("errors", [.object(entry)])
    }
    if shape != .v1 || isFrontEnd { error.append("status", .string(statusWord)) }
    if !details.isEmpty { error.append("details", .array(details)) }
    var response = Response.json(["error": .object(error)], status: status)
    // A scheme without a parameter is more than httplib2, of Google's client for Python, can read.
    if status == .unauthorized {
      response.fields[.wwwAuthenticate] = #"Bearer realm="countersign""#
    }
    if let retryAfter { response.fields[.retryAfter] = String(retryAfter) }
    return response
  }

  /// The status as a word of google.rpc.Code.
  private var statusWord: String {
    switch status.code {
    case 401: "UNAUTHENTICATED"
    case 403: "PERMISSION_DENIED"
    case 404: "NOT_FOUND"
    case 405, 501: "UNIMPLEMENTED"
    case 408: "DEADLINE_EXCEEDED"
    case 409: isTaken ? "ALREADY_EXISTS" : "ABORTED"
    case 429: "RESOURCE_EXHAUSTED"
    case 503: "UNAVAILABLE"
    case 500...: "INTERNAL"
    default: "INVALID_ARGUMENT"
    }
  }
}

extension WireError {
  /// What a person reads when the engine refuses a request before a method is reached.
  static func engine(_ status: Status) -> WireError {
    let text =
      switch status {
      case .notFound: "Not Found"
      case .methodNotAllowed: "Method Not Allowed"
      case .contentTooLarge: "Request payload size exceeds the limit."
      case .internalServerError: "Internal error encountered."
      case .serviceUnavailable: "The service is currently unavailable."
      default: status.reason.isEmpty ? "Request failed." : status.reason
      }
    let reason =
      switch status.code {
      case 404: "notFound"
      case 405: "httpMethodNotAllowed"
      case 413: "uploadTooLarge"
      case 429: "rateLimitExceeded"
      case 500...: "backendError"
      default: "badRequest"
      }
    return WireError(text, status: status, reason: reason, isFrontEnd: true)
  }

  /// Production's answer where a part of a message is missing that has no word of its own.
  static let invalidArgument = WireError("Request contains an invalid argument.")

  static let unavailable = WireError(
    "The service is currently unavailable.", status: .serviceUnavailable, reason: "backendError",
    isFrontEnd: true, retryAfter: 1)

  /// For what must not happen; the reason stands in the log.
  static let `internal` = WireError(
    "Internal error encountered.", status: .internalServerError, reason: "backendError",
    isFrontEnd: true)
}
