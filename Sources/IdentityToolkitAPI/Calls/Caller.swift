import Crypto
import HTTP
import Identity
import JSON
import Text

/// The holder of a bearer token.
enum Operator: Sendable {
  /// A client of the emulator with one of its well-known tokens.
  case emulatorOwner
  case service(ServiceToken)

  var actor: Actor {
    switch self {
    case .emulatorOwner: .emulatorOwner
    case .service(let token): .serviceToken(token.id, name: token.name)
    }
  }

  /// The author of what a request does by the token's permission.
  ///
  /// Its address is the peer's: the token's holder chooses the address that it forwards.
  func author(of request: Request) -> Author {
    Author(actor: actor, address: request.peer, requestID: request.id.text)
  }
}

struct Credentials: Sendable {
  let identity: Identity

  /// Other authentication schemes are ignored.
  func bearer(_ request: Request) async throws -> Operator? {
    guard let text = request.bearerToken else { return nil }
    if identity.profile == .emulator {
      guard text.isSameToken(as: "owner") || text.hasSameBytes(atStart: "ya29.") else {
        throw WireError.invalidCredentials
      }
      return .emulatorOwner
    }
    let token = try await identity.serviceTokens.find(Secret(text))
    guard let token else { throw WireError.invalidCredentials }
    return .service(token)
  }

  func keyProject(_ request: Request) async throws -> ID<Project>? {
    let key = request.parameter("key") ?? request.fields[Credentials.apiKey] ?? ""
    guard !key.isEmpty else { return nil }
    if identity.profile == .emulator, let project = identity.defaultProject { return project }
    let project = try await identity.apiKeys.project(for: key)
    guard let project else { throw WireError.invalidKey }
    return project
  }

  private static let apiKey: FieldName = "X-Goog-Api-Key"
}

extension Request {
  /// The token of the `Authorization` field (RFC 6750 section 2.1); nil without one, or with another
  /// scheme.
  var bearerToken: String? {
    guard let field = fields[.authorization] else { return nil }
    let parts = field.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1).map {
      String(decoding: $0, as: UTF8.self)
    }
    guard parts.count == 2, parts[0].isSameToken(as: "bearer") else { return nil }
    return parts[1]
  }
}

extension WireError {
  static let missingKey = WireError(
    "Method doesn't allow unregistered callers (callers without established identity). Please use "
      + "API Key or other form of API consumer identity to call this API.", status: .forbidden,
    reason: "forbidden",
    isFrontEnd: true)

  /// The iOS SDK checks the reason in `errors[]`.
  static let invalidKey = WireError(
    "API key not valid. Please pass a valid API key.", reason: "keyInvalid",
    details: [
      [
        "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID",
        "domain": "googleapis.com", "metadata": ["service": "identitytoolkit.googleapis.com"],
      ]
    ],
    isFrontEnd: true)

  static let missingCredentials = WireError(
    "Request is missing required authentication credential. Expected OAuth 2 access token, login "
      + "cookie or other valid authentication credential.",
    status: .unauthorized, reason: "required", isFrontEnd: true)

  static let invalidCredentials = WireError(
    "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie "
      + "or other valid authentication credential.",
    status: .unauthorized, reason: "authError", isFrontEnd: true)

  /// The token isn't valid for this pool, or its role doesn't allow the method.
  ///
  /// It's returned before anything in the project is looked up, so that it doesn't reveal what
  /// exists.
  static let permissionDenied = WireError(
    "PERMISSION_DENIED : The caller does not have permission", status: .forbidden,
    reason: "forbidden", isFrontEnd: true)
}
