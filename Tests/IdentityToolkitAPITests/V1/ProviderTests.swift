import HTTP
import JSON
import Testing

struct ProviderTests {
  private static let bothNeeded =
    "MISSING_IDENTIFIER : providerId & rawId are both required for provider linking"
  private static let update = TestServer.accounts + ":update"
  private static let lookup = TestServer.accounts + ":lookup"
  private static let google: JSON = [
    "providerId": "google.com", "rawId": "1001", "email": "alice@gmail.com",
    "displayName": "Alice", "photoUrl": "https://example.com/a.png",
  ]
  private static let shown: JSON = [
    "providerId": "google.com", "displayName": "Alice", "photoUrl": "https://example.com/a.png",
    "federatedId": "1001", "email": "alice@gmail.com", "rawId": "1001",
  ]

  @Test func `an identity linked by an administrator is shown in lookups and tokens`() async throws
  {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let linked = try await server.post(
        Self.update, ["localId": .string(alice.uid), "linkProviderUserInfo": Self.google], .owner)
      #expect(linked.status == 200)
      #expect(linked["providerUserInfo"]?.arrayValue?.first == Self.shown)
      let found = try await server.post(
        Self.lookup,
        [
          "federatedUserId": [
            ["providerId": "google.com", "rawId": "1001"],
            ["providerId": "google.com", "rawId": "nobody"],
          ]
        ], .owner)
      #expect(found["users"]?.arrayValue?.count == 1)
      let user = try #require(found["users"]?.arrayValue?.first)
      #expect(user["localId"]?.stringValue == alice.uid)
      #expect(user["providerUserInfo"]?.arrayValue?.first == Self.shown)
      let batch = try await server.get(TestServer.accounts + ":batchGet")
      #expect(
        batch["users"]?.arrayValue?.first?["providerUserInfo"]?.arrayValue?.first == Self.shown)
      let token = try claims(try await server.signIn(alice)["idToken"])
      #expect(
        token["firebase"]?["identities"]
          == ["email": ["alice@example.com"], "google.com": ["1001"]])
    }
  }

  @Test func `users and administrators can unlink an identity`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let link: JSON = ["localId": .string(alice.uid), "linkProviderUserInfo": Self.google]
      _ = try await server.post(Self.update, link, .owner)
      let token = try await server.signIn(alice)["idToken"] ?? nil
      let own = try await server.post(
        "/v1/accounts:update", ["idToken": token, "deleteProvider": ["google.com"]])
      #expect(
        own["providerUserInfo"]?.arrayValue?.compactMap { $0["providerId"]?.stringValue }
          == ["password"])
      _ = try await server.post(Self.update, link, .owner)
      let cleared = try await server.post(
        Self.update, ["localId": .string(alice.uid), "deleteAttribute": ["PROVIDER"]], .owner)
      #expect(cleared["providerUserInfo"]?.arrayValue?.count == 1)
      #expect(cleared["passwordHash"] != nil)
    }
  }

  @Test(arguments: [
    (#"{"rawId":"1"}"#, bothNeeded),
    (#"{"providerId":"google.com"}"#, bothNeeded),
    (#"{"providerId":"password","rawId":"1"}"#, "INVALID_PROVIDER_ID"),
    (#"{"providerId":"google.com","rawId":"1001"}"#, "FEDERATED_USER_ID_ALREADY_LINKED"),
    (
      #"{"providerId":"google.com","rawId":"\u0007"}"#,
      "INVALID_RAW_ID : The raw ID of a user at a provider must have 1 to 512 bytes."
    ),
    (
      #"{"providerId":true,"rawId":"1"}"#,
      "Invalid value at 'link_provider_user_info.provider_id' (TYPE_STRING), true"
    ),
  ])
  func `invalid identities can't be linked`(link: String, error: String) async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let bob = try await server.addPerson("bob")
      _ = try await server.post(
        Self.update, ["localId": .string(bob.uid), "linkProviderUserInfo": Self.google], .owner)
      let answer = try await server.call(
        .post, Self.update,
        text: #"{"localId":"\#(alice.uid)","linkProviderUserInfo":\#(link)}"#, .owner)
      #expect(answer.error == error)
    }
  }

  @Test func `users can't link an identity without proof`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let token = try await server.signIn(alice)["idToken"] ?? nil
      let answer = try await server.post(
        "/v1/accounts:update", ["idToken": token, "linkProviderUserInfo": Self.google])
      #expect(
        answer.error
          == "UNEXPECTED_PARAMETER : link_provider_user_info is not allowed with ID token.")
    }
  }
}
