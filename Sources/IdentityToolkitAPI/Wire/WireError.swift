import HTTP
import JSON

/// An error response, independent of the format of an API version.
struct WireError: Error, Sendable {
  var status: Status
  /// `CODE` or `CODE : text`, with one space on each side of the colon, because clients parse it.
  var message: String
  /// The reason in `errors[]` of version 1.
  var reason: String
  var details: [JSON]
  /// Whether a conflict means that the resource already exists.
  var isTaken = false
  /// Whether `errors[]` has a domain, which is omitted only in errors about a member of the
  /// message.
  var hasDomain = true
  /// Whether the error occurred before a method was reached, in which case version 1 includes
  /// `status` too.
  var isFrontEnd: Bool
  /// When to retry, in seconds.
  var retryAfter: Int?
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

enum ErrorShape: Sendable {
  /// Version 1: `errors[]`, and `status` only if the error occurred before the method.
  case v1
  /// Version 2 and token refresh: `status`, but no `errors[]`.
  case v2
  /// Both, for paths without a version.
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
    // The realm is required: httplib2, used by Google's Python client, can't parse a scheme without
    // parameters.
    if status == .unauthorized {
      response.fields[.wwwAuthenticate] = #"Bearer realm="countersign""#
    }
    if let retryAfter { response.fields[.retryAfter] = String(retryAfter) }
    return response
  }

  /// The status as a google.rpc.Code name.
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

  /// Returns the error, with a human-readable message, for a request that the HTTP engine rejects
  /// before a method is reached.
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

  /// Production's response if a message lacks a part that has no specific error.
  static let invalidArgument = WireError("Request contains an invalid argument.")

  static let unavailable = WireError(
    "The service is currently unavailable.", status: .serviceUnavailable, reason: "backendError",
    isFrontEnd: true, retryAfter: 1)

  static let tooManyRequests = WireError(
    "QUOTA_EXCEEDED : Exceeded quota.", status: .tooManyRequests, reason: "rateLimitExceeded",
    retryAfter: 1)
}

/// JSON errors, with the messages of Google's frontends.
extension WireError {
  /// What's wrong with text that not every database can store.
  static let nulInString = "A string contains the character U+0000."

  static func payload(_ text: String) -> WireError {
    WireError("Invalid JSON payload received. \(text)", reason: "badRequest", isFrontEnd: true)
  }

  /// A member has a value that its type doesn't allow.
  ///
  /// `field` is its path with snake-case names, and `type` is `TYPE_INT32` or a message's type.
  static func invalidValue(at field: String, type: String, _ value: JSON) -> WireError {
    let text =
      switch value {
      case .object: "Starting an object on a scalar field"
      default: String(decoding: value.serialized(), as: UTF8.self)
      }
    guard case .array = value else {
      return violation(field, "Invalid value at '\(field)' (\(type)), \(shortened(text))")
    }
    return repeated(field)
  }

  static let rootIsNoMessage = violation(
    "", "Invalid JSON payload received. Unknown name \"\": Root element must be a message.")

  static func notBase64(_ text: String, at field: String) -> WireError {
    violation(
      field,
      "Invalid value at '\(field)' (TYPE_BYTES), Base64 decoding failed for "
        + "\"\(shortened(text))\"")
  }

  static func repeated(_ field: String) -> WireError {
    let (parent, name) = split(field)
    return violation(
      parent,
      "Invalid JSON payload received. Unknown name \"\(name)\"\(at(parent)): "
        + "Proto field is not repeating, cannot start list.")
  }

  static func unknownName(_ name: String, in parent: String) -> WireError {
    violation(
      parent,
      "Invalid JSON payload received. Unknown name \"\(shortened(name))\"\(at(parent)): "
        + "Cannot find field.")
  }

  /// Two members of a oneof are set: `member` is the second one, and `parent` is the path of their
  /// message, which is empty for the body.
  static func oneof(_ name: String, setting member: String, in parent: String) -> WireError {
    violation(
      parent,
      "Invalid value\(at(parent)) (oneof), oneof field '\(name)' is already set. "
        + "Cannot set '\(member)'")
  }

  private static func violation(_ field: String, _ text: String) -> WireError {
    var violation: JSON.Object = ["description": .string(text)]
    if !field.isEmpty { violation = ["field": .string(field), "description": .string(text)] }
    var error = WireError(
      text,
      details: [
        [
          "@type": "type.googleapis.com/google.rpc.BadRequest",
          "fieldViolations": [.object(violation)],
        ]
      ],
      isFrontEnd: true)
    error.hasDomain = false
    return error
  }

  private static func at(_ parent: String) -> String { parent.isEmpty ? "" : " at '\(parent)'" }

  private static func split(_ field: String) -> (parent: String, name: String) {
    guard let dot = field.lastIndex(of: ".") else { return ("", field) }
    return (String(field[..<dot]), String(field[field.index(after: dot)...]))
  }

  /// Truncates input, which may be a megabyte, for error messages.
  private static func shortened(_ text: String) -> String {
    text.count > 100 ? text.prefix(100) + "…" : text
  }
}
