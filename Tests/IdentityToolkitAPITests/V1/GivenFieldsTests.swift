import JSON
import Testing

/// Tests for how responses show fields that are false, empty, or absent.
struct GivenFieldsTests {
  private func shown(_ server: TestServer, _ uid: String) async throws -> JSON? {
    try await server.post(TestServer.accounts + ":lookup", ["localId": [.string(uid)]], .owner)[
      "users"]?.arrayValue?.first
  }

  @Test func `disabled is shown for users that an administrator created, imported, or enabled`()
    async throws
  {
    try await TestServer.with { server in
      let created = try await server.addPerson()
      #expect(try await shown(server, created.uid)?["disabled"] == false)
      let signedUp = try await server.post(
        "/v1/accounts:signUp", ["email": "bob@example.com", "password": "correct horse"]
      ).text("localId")
      #expect(try await shown(server, signedUp)?["disabled"] == nil)
      for isDisabled in [true, false] {
        _ = try await server.change(signedUp, ["disableUser": .bool(isDisabled)])
        #expect(try await shown(server, signedUp)?["disabled"] == .bool(isDisabled))
      }
      _ = try await server.post(
        TestServer.accounts + ":batchCreate", ["users": [["localId": "carol"]]], .owner)
      let imported = try await shown(server, "carol")
      #expect(imported?["disabled"] == false)
      #expect(imported?["emailVerified"] == false)
    }
  }

  @Test func `an email that was removed or isn't there isn't verified, and neither is a new one`()
    async throws
  {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let removed = try await server.change(alice.uid, ["deleteAttribute": ["EMAIL"]])
      #expect(removed["email"] == nil && removed["emailVerified"] == false)
      let verified = try await server.change(alice.uid, ["emailVerified": true])
      #expect(verified["emailVerified"] == false)
      #expect(try await shown(server, alice.uid)?["emailVerified"] == false)
      _ = try await server.post(
        TestServer.accounts + ":batchCreate",
        ["users": [["localId": "carol", "emailVerified": true]]], .owner)
      #expect(try await shown(server, "carol")?["emailVerified"] == false)
      let changed = try await server.change(alice.uid, ["email": "new@example.com"])
      #expect(changed["emailVerified"] == false)
    }
  }

  @Test func `an email changed by a backend inherits the previous verification state`()
    async throws
  {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let kept = try await server.change(alice.uid, ["email": "new@example.com"])
      #expect(kept["emailVerified"] == true)
      let explicit = try await server.change(
        alice.uid, ["email": "newer@example.com", "emailVerified": false])
      #expect(explicit["emailVerified"] == false)
      let still = try await server.change(alice.uid, ["email": "newest@example.com"])
      #expect(still["emailVerified"] == false)
      // An email that users change themselves is unverified.
      try await server.hideNobody()
      _ = try await server.change(alice.uid, ["emailVerified": true])
      let person = Person(email: "newest@example.com", uid: alice.uid)
      let token = try await server.signIn(person)["idToken"] ?? nil
      let own = try await server.post(
        "/v1/accounts:update", ["idToken": token, "email": "own@example.com"])
      #expect(own["emailVerified"] == false, "\(own.json)")
    }
  }

  @Test func `an empty name is shown until it's removed`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let empty = try await server.change(alice.uid, ["displayName": "", "photoUrl": ""])
      #expect(empty["displayName"] == "" && empty["photoUrl"] == "")
      let user = try await shown(server, alice.uid)
      #expect(user?["displayName"] == "" && user?["photoUrl"] == "")
      let removed = try await server.change(
        alice.uid, ["deleteAttribute": ["DISPLAY_NAME", "PHOTO_URL"]])
      #expect(removed["displayName"] == nil && removed["photoUrl"] == nil)
    }
  }

  @Test(arguments: [
    ("+49 (0)170 1234567", "+491701234567"), ("+44 (0) 20 7946 0958", "+442079460958"),
    ("+39 (0)6 12345678", "+390612345678"), ("+1 (650) 555-0104", "+16505550104"),
    ("+1650555ABCD", "+16505552223"),
    ("+49.30/901820", "+4930901820"),
  ])
  func `a phone number is stored in E 164 format`(written: String, stored: String) async throws {
    try await TestServer.with { server in
      let created = try await server.post(
        TestServer.accounts, ["localId": "alice", "phoneNumber": .string(written)], .owner)
      #expect(created.status == 200, "\(created.json)")
      #expect(try await shown(server, "alice")?["phoneNumber"] == .string(stored))
      let found = try await server.post(
        TestServer.accounts + ":lookup", ["phoneNumber": [.string(written)]], .owner)
      #expect(found["users"]?.arrayValue?.count == 1)
    }
  }

  @Test(arguments: ["6505550101", "+0 650 555 0104", "+1650555010A", "+1_6505550104", "+1 650;5"])
  func `an invalid phone number is refused`(written: String) async throws {
    try await TestServer.with { server in
      let answer = try await server.post(
        TestServer.accounts, ["phoneNumber": .string(written)], .owner)
      #expect(answer.error == "INVALID_PHONE_NUMBER : Invalid format.")
    }
  }

  @Test func `changing the password returns a refresh token only if requested`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      for (wanted, password) in [(false, "battery staple"), (true, "staple battery")] {
        let session = try await server.signIn(alice)
        let token =
          session.status == 200
          ? session["idToken"]
          : try await server.post(
            "/v1/accounts:signInWithPassword",
            ["email": .string(alice.email), "password": "battery staple"])["idToken"]
        let changed = try await server.post(
          "/v1/accounts:update",
          [
            "idToken": token ?? nil, "password": .string(password),
            "returnSecureToken": .bool(wanted),
          ])
        #expect(changed.status == 200 && changed["idToken"] != nil, "\(changed.json)")
        #expect((changed["refreshToken"] != nil) == wanted)
        server.advance(seconds: 5)
      }
    }
  }
}
