import JSON
import Testing

struct RevokeTokenTests {
  private static let path = "/v2/accounts:revokeToken"

  @Test func `revoking an Apple token isn't implemented`() async throws {
    try await TestServer.with { server in
      let token = try await server.signIn(try await server.addPerson())["idToken"] ?? nil
      var body: JSON.Object = [
        "idToken": token, "providerId": "apple.com", "tokenType": "CODE", "token": "c0de",
        "redirectUri": "https://example.com/callback",
      ]
      let answer = try await server.post(Self.path, .object(body))
      #expect(answer.status == 501)
      #expect(answer["error"]?["status"] == "UNIMPLEMENTED")
      #expect(answer.error?.hasPrefix("NOT_IMPLEMENTED : Countersign doesn't call") == true)
      let wrong: [(String, JSON?, String)] = [
        ("token", nil, "INVALID_ARGUMENT : token is required."),
        ("tokenType", "TOKEN_TYPE_UNSPECIFIED", "INVALID_ARGUMENT : token_type is required."),
        ("tokenType", "COOKIE", "Invalid value at 'token_type'"),
        ("providerId", "google.com", "INVALID_PROVIDER_ID"),
        ("providerId", nil, "INVALID_PROVIDER"),
        ("idToken", nil, "INVALID_ID_TOKEN"), ("idToken", "x", "INVALID_ID_TOKEN"),
      ]
      for (name, value, error) in wrong {
        let kept = body
        body[name] = value
        let answer = try await server.post(Self.path, .object(body))
        #expect(answer.error?.hasPrefix(error) == true, "\(name): \(answer.json)")
        #expect(answer.status == 400)
        body = kept
      }
      #expect(try await server.post(Self.path, .object(body), .none).status == 403)
    }
  }
}
