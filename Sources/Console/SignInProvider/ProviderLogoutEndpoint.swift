import HTTP
import Identity
import JSON
import OpenIDConnect

/// `/sign-in/provider/logout`: ends sessions because the provider says so (OpenID Connect
/// Back-Channel Logout 1.0, section 2.8).
struct ProviderLogoutEndpoint: Sendable {
  let identity: Identity

  private static let longestToken = 16_384

  func receive(_ request: Request) async throws(Refusal) -> Response {
    let form: Form?
    do throws(FormError) { form = try request.form() } catch {
      return Self.refusal("invalid_request", "The body isn't a form.")
    }
    guard let token = form?.text("logout_token", atMost: Self.longestToken) else {
      return Self.refusal("invalid_request", "The field logout_token is missing.")
    }
    do {
      try await identity.consoleProviders.logOut(
        token, address: request.peer, requestID: request.id.text)
      return Response(status: .ok)
    } catch {
      switch error {
      case .notConfigured: return Self.refusal("invalid_request", "There is no provider.")
      case .invalid(let fault):
        return Self.refusal("invalid_request", "The token isn't valid: \(fault.rawValue).")
      case .replayed: return Self.refusal("invalid_request", "The token was used before.")
      case .provider:
        return Self.refusal("temporarily_unavailable", "The provider's keys can't be fetched.")
      case .throttled(let until):
        var response = Self.refusal("slow_down", "Too many invalid tokens.")
        response.status = .tooManyRequests
        response.fields[.retryAfter] = String(until.wait(at: identity.clock.now()))
        return response
      case .unavailable: throw .unavailable(error)
      }
    }
  }

  private static func refusal(_ code: String, _ text: String) -> Response {
    .json(
      ["error": .string(code), "error_description": .string(text)], status: .badRequest)
  }
}
