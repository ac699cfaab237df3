import HTTP
import HostileText
import JSON
import Testing

/// Checks that combining marks anywhere in a request don't take extra CPU time.
struct HostileTextTests {
  private static let bodies: [(path: String, body: String, credential: Credential)] = [
    ("/v1/accounts:signUp", ##"{"email":"#","password":"secret-1"}"##, .key),
    ("/v1/accounts:signUp", ##"{"#":"alice@example.com","password":"secret-1"}"##, .key),
    ("/v1/accounts:signUp", ##"{"displayName":"#"}"##, .key),
    ("/v1/accounts:signInWithPassword", ##"{"email":"#","password":"secret-1"}"##, .key),
    ("/v1/accounts:sendOobCode", ##"{"requestType":"PASSWORD_RESET","email":"#"}"##, .key),
    ("/v1/accounts:createAuthUri", ##"{"identifier":"#","continueUri":"http://a"}"##, .key),
    ("/v1/accounts:signInWithCustomToken", ##"{"token":"#"}"##, .key),
    (TestServer.accounts, ##"{"email":"#"}"##, .owner),
    (TestServer.accounts, ##"{"localId":"#"}"##, .owner),
    (TestServer.accounts, ##"{"phoneNumber":"#"}"##, .owner),
    (TestServer.accounts, ##"{"photoUrl":"#"}"##, .owner),
    (
      TestServer.accounts,
      ##"{"email":"a@example.com","mfaInfo":[{"mfaEnrollmentId":"#","phoneInfo":"+4917000001"}]}"##,
      .owner
    ),
    (TestServer.accounts + ":lookup", ##"{"localId":["#"]}"##, .owner),
    (TestServer.accounts + ":lookup", ##"{"email":["#"]}"##, .owner),
    (TestServer.accounts + ":update", ##"{"localId":"a","customAttributes":"#"}"##, .owner),
    (TestServer.accounts + ":delete", ##"{"localId":"#"}"##, .owner),
    (
      TestServer.accounts + ":batchCreate",
      ##"{"users":[{"localId":"#","email":"a@example.com"},{"localId":"b","email":"#"}]}"##, .owner
    ),
  ]

  @Test(arguments: bodies.indices)
  func `combining marks in a request take no extra CPU time`(index: Int) async throws {
    let (path, body, credential) = Self.bodies[index]
    try await TestServer.with { server in
      let work = try await Work.of { text in
        let parts = body.split(separator: "#", omittingEmptySubsequences: false)
        _ = try await server.send(
          .post, path, Array(parts.joined(separator: text).utf8), credential)
      }
      #expect(work.isLinear, "\(work)")
    }
  }

  /// The document's parser doesn't see the marks, which are percent-encoded in a form inside it.
  @Test(arguments: [
    "id_token=#&providerId=google.com", "id_token=x&providerId=#", "#=x&providerId=google.com",
  ])
  func `combining marks in the form of a provider take no extra CPU time`(form: String)
    async throws
  {
    try await TestServer.with { server in
      let parts = form.split(separator: "#", omittingEmptySubsequences: false)
      let signIn: @Sendable (String) async throws -> Void = { text in
        let body = parts.joined(separator: HostileText.coded(text))
        let message = #"{"requestUri":"http://localhost","postBody":"\#(body)"}"#
        let answer = try await server.send(
          .post, "/v1/accounts:signInWithIdp", Array(message.utf8), .key)
        #expect(answer?.status == .badRequest)
      }
      let work = try await Work.of(64 << 10, HostileText.marks, signIn)
      #expect(work.isLinear, "\(work)")
      let accepted = try await Work.of(16 << 10, HostileText.acceptedMarks, signIn)
      #expect(accepted.isLinearInLength, "\(accepted)")
    }
  }

  @Test func `combining marks in the name of a second factor take no extra CPU time`()
    async throws
  {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      let token = try await server.signIn(try await server.addPerson()).text("idToken")
      let start = try await server.post(
        "/v2/accounts/mfaEnrollment:start",
        ["idToken": .string(token), "totpEnrollmentInfo": [:]])
      let session = try #require(start["totpSessionInfo"]?["sessionInfo"]?.stringValue)
      let finalize: @Sendable (String) async throws -> Void = { text in
        let message = """
          {"idToken":"\(token)","displayName":"\(text)","totpVerificationInfo":
          {"sessionInfo":"\(session)","verificationCode":"000000"}}
          """
        let answer = try await server.send(
          .post, "/v2/accounts/mfaEnrollment:finalize", Array(message.utf8), .key)
        #expect(answer?.status == .badRequest)
      }
      let work = try await Work.of(64 << 10, HostileText.marks, finalize)
      #expect(work.isLinear, "\(work)")
      let accepted = try await Work.of(16 << 10, HostileText.acceptedMarks, finalize)
      #expect(accepted.isLinearInLength, "\(accepted)")
    }
  }

  @Test func `overlong names and too many combining marks are refused with a clear error`()
    async throws
  {
    try await TestServer.with { server in
      for (text, words) in [
        (
          "{\"\(HostileText.plain(257))\":1}",
          "A name in the JSON document is longer than 256 bytes"
        ),
        ("{\"email\":\"\(HostileText.marks(65))\"}", "more than 30 combining marks in a row"),
      ] {
        let answer = try await server.call(.post, "/v1/accounts:signUp", text: text, .key)
        #expect(answer.status == 400)
        #expect(answer.error?.contains(words) == true, "\(answer.error ?? "")")
      }
    }
  }
}
