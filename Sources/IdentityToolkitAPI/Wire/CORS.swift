import HTTP
import Text

/// Cross-origin responses, because applications call from their own pages.
///
/// No request is authenticated by cookies, so every origin that may call may also read every
/// response, and `Access-Control-Allow-Credentials` is never sent. `EmulatorOrigins` decides which
/// origins may call in the emulator profile.
enum CORS {
  private static let allowPrivateNetwork: FieldName = "Access-Control-Allow-Private-Network"
  private static let requestPrivateNetwork: FieldName = "Access-Control-Request-Private-Network"

  /// Allows the calling page to read the response, including errors.
  static func open(_ response: inout Response, to request: Request) {
    response.fields.add(.vary, "Origin")
    if let origin = request.fields[.origin] {
      response.fields[.accessControlAllowOrigin] = origin
    }
  }

  /// Responds to a preflight request; nil if the request isn't one.
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
