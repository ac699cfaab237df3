import Identity
import JSON
import Testing

struct WorkedExchangeTests {
  @Test(arguments: [Profile.standalone, .emulator])
  func `a user enrolls, signs in with a code, and withdraws`(profile: Profile) async throws {
    try await TestServer.with(profile) { server in
      try await server.switchTOTPOn()
      let email = "alice@example.com"

      // 1, 2: a new user's email is unverified.
      let signUp = try await server.post(
        "/v1/accounts:signUp",
        ["email": .string(email), "password": "correct horse", "returnSecureToken": true])
      #expect(signUp.status == 200)
      let refused = try await server.post(
        "/v2/accounts/mfaEnrollment:start",
        ["idToken": signUp["idToken"] ?? nil, "totpEnrollmentInfo": [:]])
      #expect(refused.status == 400)
      #expect(
        refused.error
          == "UNVERIFIED_EMAIL : Need to verify email first before enrolling second factors.")

      // 3: an administrator verifies it.
      let uid = try signUp.text("localId")
      let verified = try await server.post(
        TestServer.accounts + ":update", ["localId": .string(uid), "emailVerified": true], .owner)
      #expect(verified["emailVerified"] == true)
      let alice = Person(email: email, uid: uid)
      let second = try await server.signIn(alice)
      #expect(second["mfaPendingCredential"] == nil)

      // 4 to 6: enrollment.
      let enrolled = try await server.enroll(try second.text("idToken"))
      let third = try claims(enrolled.answer["idToken"])
      #expect(third["firebase"]?["sign_in_second_factor"] == "totp")
      #expect(third["firebase"]?["second_factor_identifier"]?.stringValue == enrolled.id)
      #expect(enrolled.answer["totpAuthInfo"] == [:])
      #expect(enrolled.answer["expiresIn"] == nil)
      let user = try await server.post(
        "/v1/accounts:lookup", ["idToken": enrolled.answer["idToken"] ?? nil])
      let factors = try #require(user["users"]?.arrayValue?.first?["mfaInfo"]?.arrayValue)
      #expect(factors.count == 1)
      #expect(factors[0]["totpInfo"] == [:])

      // 7: the first factor alone returns no tokens.
      let first = try await server.signIn(alice)
      #expect(first.status == 200)
      #expect(first["idToken"] == nil)
      #expect(first["refreshToken"] == nil)
      #expect(first["expiresIn"] == nil)
      let pending = try first.text("mfaPendingCredential")

      // 8, 9: the enrollment code can't be reused; the next code is accepted.
      let finalize = { (steps: Int64) in
        try await server.post(
          "/v2/accounts/mfaSignIn:finalize",
          [
            "mfaPendingCredential": .string(pending), "mfaEnrollmentId": .string(enrolled.id),
            "totpVerificationInfo": [
              "verificationCode": .string(try enrolled.device.code(at: server.now, steps: steps))
            ],
          ])
      }
      #expect(try await finalize(0).error == "INVALID_CODE")
      let done = try await finalize(1)
      #expect(done.status == 200)
      #expect(try claims(done["idToken"])["firebase"]?["sign_in_second_factor"] == "totp")

      // 10: a refresh preserves the session's second factor.
      server.advance(seconds: 60)
      let refreshed = try await server.post(
        "/v1/token",
        ["grantType": "refresh_token", "refreshToken": done["refreshToken"] ?? nil])
      let kept = try claims(refreshed["id_token"])
      #expect(kept["firebase"]?["sign_in_second_factor"] == "totp")
      #expect(kept["auth_time"] == (try claims(done["idToken"])["auth_time"]))

      // 11: withdrawing revokes earlier sessions.
      let withdrawn = try await server.post(
        "/v2/accounts/mfaEnrollment:withdraw",
        ["idToken": done["idToken"] ?? nil, "mfaEnrollmentId": .string(enrolled.id)])
      #expect(withdrawn.status == 200)
      let fresh = try claims(withdrawn["idToken"])
      #expect(fresh["firebase"]?["sign_in_second_factor"] == nil)
      let old = try await server.post("/v1/accounts:lookup", ["idToken": done["idToken"] ?? nil])
      #expect(old.error == "TOKEN_EXPIRED")
      let new = try await server.post(
        "/v1/accounts:lookup", ["idToken": withdrawn["idToken"] ?? nil])
      #expect(new["users"]?.arrayValue?.first?["mfaInfo"] == nil)
      let last = try await server.signIn(alice)
      #expect(last["idToken"] != nil)
    }
  }
}
