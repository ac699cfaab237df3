import Crypto
import HTTP
import Identity
import JSON
import Text

enum BearerAction: CaseIterable, Sendable {
  case readConfig, changeConfig
  case readTenants, createTenants, changeTenants, deleteTenants
  case readProviders, changeProviders
  case createAccounts, lookUpAccounts, updateAccounts, deleteAccounts
  /// A session cookie outlives the user's session, so creating one is a separate permission.
  case createSessionCookies
  /// Returns all data of all users at once.
  case listAccounts

  /// The permission that a token needs; `ServiceTokenRole` defines which roles have it.
  var permission: Permission {
    switch self {
    case .readConfig, .readTenants, .readProviders: .readPolicy
    case .changeProviders: .manageTrust
    case .changeConfig: .changePolicy
    case .changeTenants: .changePool
    case .createTenants, .deleteTenants: .manageTenants
    case .lookUpAccounts: .findUsers
    case .createAccounts, .updateAccounts, .deleteAccounts, .createSessionCookies: .changeUsers
    case .listAccounts: .exportUsers
    }
  }

  /// Whether the path refers to a tenant itself rather than its contents.
  var isAboutTenants: Bool {
    switch self {
    case .readConfig, .changeConfig, .readTenants, .createTenants, .changeTenants, .deleteTenants,
      .readProviders, .changeProviders:
      true
    default: false
    }
  }
}

extension BearerAction {
  /// Whether the action is about tenants themselves, which the project has to allow.
  var needsTenants: Bool {
    switch self {
    case .readTenants, .createTenants, .changeTenants, .deleteTenants: true
    default: false
    }
  }
}

/// The permissions of a bearer token's holder.
///
/// A token is for a project with all its tenants, or for one tenant. Anything else is denied with
/// the same response, whether or not it exists, before more than a project's number is looked up.
extension Operator {
  /// The project of the token; nil for all projects.
  var project: ID<Project>? {
    if case .service(let token) = self { token.project } else { nil }
  }

  /// The tenant of the token; nil for all tenants of its project.
  var tenant: ID<Tenant>? {
    if case .service(let token) = self { token.tenant } else { nil }
  }

  func covers(_ project: ID<Project>, _ tenant: ID<Tenant>?) -> Bool {
    guard case .service(let token) = self else { return true }
    return token.project == project && (token.tenant == nil || token.tenant == tenant)
  }

  /// Whether responses include password hashes, which requires full access.
  ///
  /// An application's backend doesn't need hashes, and a token stolen from it must not expose
  /// them.
  var readsHashes: Bool {
    guard case .service(let token) = self else { return true }
    return token.role == .owner
  }

  func may(_ permission: Permission, in pool: Pool) -> Bool {
    guard case .service(let token) = self else { return true }
    return token.may(permission, in: pool)
  }

  func may(_ action: BearerAction, _ project: ID<Project>, _ tenant: ID<Tenant>?) -> Bool {
    guard case .service(let token) = self else { return true }
    // Creating and deleting tenants is a project-level permission that a tenant's token can't
    // grant.
    let place = action.permission == .manageTenants ? nil : tenant
    return token.may(action.permission, project: project, tenant: place)
  }
}

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
