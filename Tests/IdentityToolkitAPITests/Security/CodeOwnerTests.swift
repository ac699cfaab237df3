import HTTP
import Identity
import JSON
import Testing

@testable import IdentityToolkitAPI

/// Calls that take a code from an email next to an ID token.
struct CodeOwnerTests {
  /// The calls that take both; each is tried.
  private static let calls: Set = [
    "accounts.update", "accounts.signInWithEmailLink", "setAccountInfo", "emailLinkSignin",
  ]

  /// The older paths of both.
  private static let older = "/identitytoolkit/v3/relyingparty/"

  @Test func `every call that takes a code and an ID token is tried`() async throws {
    let operations = try await TestServer.with(.emulator) { $0.api.operations }
    let both = operations.filter { operation in
      let names = Set((operation.declaration.request?.members ?? []).map(\.name))
      return names.isSuperset(of: ["oobCode", "idToken"])
    }
    #expect(Set(both.map(\.declaration.id)) == Self.calls)
  }

  @Test func `an invalid token, or one of another user, is refused and leaves the code`()
    async throws
  {
    try await TestServer.with { server in
      try await server.configure()
      let alice = try await server.addPerson("alice")
      let bob = try await server.addPerson("bob")
      let theirs = try await server.signIn(bob)["idToken"] ?? nil
      let own = try await server.signIn(alice)["idToken"] ?? nil
      let code = try await server.code("VERIFY_EMAIL", alice.email)["oobCode"] ?? nil
      let projects = TestServer.accounts + ":update"
      for (token, error) in [
        ("not-a-token", "INVALID_ID_TOKEN"), (theirs, "INVALID_OOB_CODE"),
      ] as [(JSON, String)] {
        let body: JSON = ["oobCode": code, "idToken": token]
        for path in ["/v1/accounts:update", Self.older + "setAccountInfo"] {
          #expect(try await server.post(path, body).error == error)
        }
        #expect(try await server.post(projects, body, .owner).error == error)
      }
      #expect(
        try await server.post(projects, ["oobCode": code, "localId": .string(bob.uid)], .owner)
          .error == "INVALID_OOB_CODE")
      let done = try await server.post(
        "/v1/accounts:update", ["oobCode": code, "idToken": own])
      #expect(done.status == 200 && done["localId"]?.stringValue == alice.uid)
      let link = try await server.code("EMAIL_SIGNIN", alice.email)["oobCode"] ?? nil
      for (token, error) in [("not-a-token", "INVALID_ID_TOKEN"), (theirs, "EMAIL_EXISTS")]
        as [(JSON, String)]
      {
        for path in [TestServer.emailLink, Self.older + "emailLinkSignin"] {
          let answer = try await server.post(
            path, ["oobCode": link, "email": .string(alice.email), "idToken": token])
          #expect(answer.error == error)
        }
      }
      let signedIn = try await server.post(
        TestServer.emailLink, ["oobCode": link, "email": .string(alice.email)])
      #expect(signedIn.status == 200)
    }
  }
}
