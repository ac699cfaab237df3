import HTTP
import Identity
import JSON

extension Declaration {
  static let createAuthUri = Declaration(
    "accounts.createAuthUri", "Returns the sign-in methods of an email address.",
    takes: [
      "identifier": .text, "continueUri": .text, "providerId": .text, "sessionId": .text,
      "authFlowType": .text, "context": .text, "customParameter": .map(.text),
      "hostedDomain": .text, "oauthScope": .text, "oauthConsumerKey": .text, "openidRealm": .text,
      "otaApp": .text,
    ],
    gives: [
      "kind": .kind("CreateAuthUriResponse"), "registered": .flag, "allProviders": .list(.text),
      "signinMethods": .list(.text), "sessionId": .text.required,
    ], failing: [501])
}

extension Methods {
  /// `accounts:createAuthUri`: reveals nothing about the email if email enumeration protection is
  /// enabled.
  func createAuthUri(_ call: ClientCall) async throws -> JSON {
    if let provider = try call.message.given("providerId") {
      throw try await refusal(of: provider, call)
    }
    guard let identifier = try call.message.given("identifier") else {
      throw WireError("MISSING_IDENTIFIER")
    }
    guard let uri = try call.message.given("continueUri") else {
      throw WireError("MISSING_CONTINUE_URI")
    }
    let pool = try await pool(of: call)
    let given = try call.message.text("sessionId") ?? ""
    let ways: WaysToSignIn
    do {
      ways = try await identity.signIns.ways(of: identifier, in: pool, goingOnTo: uri)
    } catch OutOfBandError.invalidEmail {
      throw WireError("INVALID_IDENTIFIER")
    } catch OutOfBandError.invalidContinueURL {
      throw WireError("INVALID_CONTINUE_URI")
    }
    var answer: JSON.Object = ["kind": "identitytoolkit#CreateAuthUriResponse"]
    if try await !hidesUsers(pool) {
      answer.append("registered", .bool(ways.isRegistered))
      // A user without a way to sign in has neither list.
      if ways.isRegistered, !ways.methods.isEmpty {
        answer.append("allProviders", .array(ways.providers.map { .string($0) }))
        answer.append("signinMethods", .array(ways.methods.map { .string($0) }))
      }
    }
    answer.append("sessionId", .string(given.isEmpty ? ways.sessionID : given))
    return .object(answer)
  }

  /// Returns why there is no URL for signing in with a provider: it isn't configured, or the server
  /// doesn't support it.
  ///
  /// The emulator profile accepts every provider.
  private func refusal(of provider: String, _ call: ClientCall) async throws -> WireError {
    guard try call.message.given("continueUri") != nil else {
      return WireError("MISSING_CONTINUE_URI")
    }
    if identity.profile == .standalone {
      let pool = try await pool(of: call)
      do {
        _ = try await identity.identityProviders.find(pool, provider)
      } catch ProviderError.notFound {
        throw FederationError.providerNotFound
      }
    }
    return WireError(
      "NOT_IMPLEMENTED : URLs for signing in with another provider are created by applications.",
      status: .notImplemented, reason: "notImplemented")
  }
}
