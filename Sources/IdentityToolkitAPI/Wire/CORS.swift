import HTTP

/// Cross-origin answers: applications call from pages of their own.
///
/// Nothing here is authenticated by cookies, so every origin that may call (`EmulatorOrigins` says
/// which do in the emulator profile) may read every answer, and
/// `Access-Control-Allow-Credentials` is never sent.
enum CORS {
  private static let allowPrivateNetwork: FieldName = "Access-Control-Allow-Private-Network"
  private static let requestPrivateNetwork: FieldName = "Access-Control-Request-Private-Network"

  /// Lets the page that asked read the answer, errors included.
  static func open(_ response: inout Response, to request: Request) {
    response.fields.add(.vary, "Origin")
    if let origin = request.fields[.origin] {
      response.fields[.accessControlAllowOrigin] = origin
    }
  }

  /// Answers the question whether a page may send a request; nil when this is none.
  static func preflight(_ request: Request) -> Response? {
    guard request.method == .options else { return nil }
    var response = Response.noContent
    response.fields[.accessControlAllowMethods] = "GET,POST,PUT,PATCH,DELETE,HEAD"
    if let names = request.fields[.accessControlRequestHeaders] {
      response.fields[.accessControlAllowHeaders] = names
      response.fields.add(.vary, "Access-Control-Request-Headers")
    }
    if request.fields[requestPrivateNetwork]?.isSameBytes(as: "true") ?? false {
      response.fields[allowPrivateNetwork] = "true"
    }
    response.fields[.accessControlMaxAge] = "3600"
    open(&response, to: request)
    return response
  }
}
