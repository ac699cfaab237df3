import HTTP
import Identity
import JSON
import Testing

@testable import IdentityToolkitAPI

/// Checks that every path that applications call leads to an operation.
struct SurfaceTests {
  private static let client = [
    "accounts:signUp", "accounts:signInWithPassword", "accounts:signInWithCustomToken",
    "accounts:signInWithEmailLink", "accounts:signInWithIdp", "accounts:signInWithPhoneNumber",
    "accounts:signInWithGameCenter", "accounts:sendVerificationCode", "accounts:sendOobCode",
    "accounts:resetPassword", "accounts:update", "accounts:lookup", "accounts:delete",
    "accounts:createAuthUri", "accounts:verifyIosClient", "token",
  ]

  private static let inPool = [
    "/accounts", "/accounts:lookup", "/accounts:update", "/accounts:delete", "/accounts:query",
    "/accounts:sendOobCode", "/accounts:batchCreate", "/accounts:batchDelete",
    ":createSessionCookie", ":queryAccounts",
  ]

  private static let read = [
    "/v1/projects", "/v1/projects/p", "/v1/recaptchaParams", "/v1/publicKeys",
    "/v1/sessionCookiePublicKeys", "/v2/recaptchaConfig", "/v2/passwordPolicy",
    "/v1/projects/p/accounts:batchGet", "/v1/projects/p/tenants/t/accounts:batchGet",
    "/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com",
    "/robot/v1/metadata/x509/securetoken@system.gserviceaccount.com",
    "/p/.well-known/openid-configuration", "/.well-known/countersign-evidence-keys",
    "/openapi.json",
  ]

  private static let version2 = [
    "POST /accounts/mfaEnrollment:start", "POST /accounts/mfaEnrollment:finalize",
    "POST /accounts/mfaEnrollment:withdraw", "POST /accounts/mfaSignIn:start",
    "POST /accounts/mfaSignIn:finalize", "POST /accounts/mfaRecoveryCodes:generate",
    "POST /accounts/mfaRecoveryCodes:lookup", "POST /accounts:revokeToken",
    "GET /projects/p/config",
    "PATCH /projects/p/config", "POST /projects/p/identityPlatform:initializeAuth",
    "GET /projects/p/tenants", "POST /projects/p/tenants",
    "GET /defaultSupportedIdps",
    "GET /projects/p/tenants/t", "PATCH /projects/p/tenants/t", "DELETE /projects/p/tenants/t",
  ]

  private static let legacy = [
    "POST createAuthUri", "POST deleteAccount", "POST emailLinkSignin", "POST getAccountInfo",
    "POST getOobConfirmationCode", "GET getProjectConfig", "GET getRecaptchaParam",
    "GET publicKeys", "POST resetPassword", "POST sendVerificationCode", "POST setAccountInfo",
    "POST signupNewUser", "POST verifyAssertion", "POST verifyCustomToken", "POST verifyPassword",
    "POST verifyPhoneNumber", "POST signInWithGameCenter", "POST verifyClient",
    "POST downloadAccount", "POST uploadAccount",
  ]

  private static let emulator = [
    "DELETE accounts", "GET config", "PATCH config", "GET oobCodes", "GET verificationCodes",
  ]

  /// Returns every path with its method, without a host prefix.
  private static func addresses(_ profile: Profile) -> [String] {
    var all = client.map { "POST /v1/" + $0 } + read.map { "GET " + $0 }
    for pool in ["/v1/projects/p", "/v1/projects/p/tenants/t"] {
      all += inPool.map { "POST " + pool + $0 }
    }
    for root in ["/v2", "/admin/v2"] {
      all += version2.map { $0.replacing(" ", with: " " + root) }
      for pool in ["/projects/p", "/projects/p/tenants/t"] {
        for kind in ["oauthIdpConfigs", "inboundSamlConfigs"] {
          let list = "\(root)\(pool)/\(kind)"
          all += ["GET \(list)", "POST \(list)"]
          all += ["GET", "PATCH", "DELETE"].map { "\($0) \(list)/one" }
        }
      }
    }
    all += legacy.map { $0.replacing(" ", with: " /identitytoolkit/v3/relyingparty/") }
    guard profile == .emulator else { return all }
    all += ["GET /", "GET /emulator/openapi.json", "GET /emulator/action"]
    all += ["GET /emulator/auth/handler", "GET /emulator/auth/iframe"]
    for pool in ["/emulator/v1/projects/p/", "/emulator/v1/projects/p/tenants/t/"] {
      all += emulator.map { $0.replacing(" ", with: " " + pool) }
    }
    return all
  }

  @Test(arguments: [Profile.standalone, .emulator])
  func `every path works, also with a host prefix and an encoded colon`(
    profile: Profile
  ) async throws {
    try await TestServer.with(profile) { server in
      for address in Self.addresses(profile) {
        let parts = address.split(separator: " ")
        let path = String(parts[1])
        var places = [path, path.replacing(":", with: "%3A")]
        if path != "/", path != "/openapi.json", !path.hasPrefix("/.well-known/") {
          places += ["/identitytoolkit.googleapis.com" + path, "/www.googleapis.com" + path]
        }
        for place in places {
          let response = try #require(try await server.send(Method(String(parts[0])), place))
          #expect(response.status != .methodNotAllowed, "\(parts[0]) \(place)")
          guard response.status == .notFound else { continue }
          let message = try JSON.parse(response.body.bytes)["error"]?["message"]
          #expect(message != "Not Found", "\(parts[0]) \(place)")
        }
      }
    }
  }
}
