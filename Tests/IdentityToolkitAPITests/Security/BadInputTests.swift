import HTTP
import Identity
import IdentityToolkitAPI
import JSON
import Testing

/// A body that every method refuses, and the expected error message.
struct BadBody: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let bytes: [UInt8]
  let message: String
  var contentType = "application/json"

  init(_ name: String, _ text: String, says: String, contentType: String = "application/json") {
    self.init(name, Array(text.utf8), says: says, contentType: contentType)
  }

  init(_ name: String, _ bytes: [UInt8], says: String, contentType: String = "application/json") {
    testDescription = name
    self.bytes = bytes
    self.message = says
    self.contentType = contentType
  }

  static let all = [
    BadBody(
      "a missing closing brace", "{",
      says: "Unexpected end of string. Expected an object key or }.\n\n^"),
    BadBody(
      "a placeholder", #"{"mfa": NUM_ADJ_INTERVALS}"#,
      says: "Unexpected token.\n{\"mfa\": NUM_ADJ_INTERVALS}\n        ^"),
    BadBody(
      "trailing text", "{} x", says: "Parsing terminated before end of input.\n{} x\n   ^"),
    BadBody("not JSON", "not json", says: "Unexpected token.\nnot json\n^"),
    BadBody(
      "no value", #"{"mfa":"#, says: "Unexpected end of string. Expected a value.\n\n^"),
    BadBody(
      "no colon", "{not json",
      says: "Expected : between key:value pair.\n{not json\n     ^"),
    BadBody(
      "an unterminated string", #"{"email": "a@"#,
      says: "Closing quote expected in string.\n\"a@\n^"),
    BadBody(
      "a member after the excerpt", #"{"email":"somebody@example.com" "password":"secret-123"}"#,
      says: "Expected , or } after key:value pair.\n"
        + #"mebody@example.com" "password":"secret-1"# + "\n                    ^"),
    BadBody(
      "an unterminated array", #"{"mfa": [1"#,
      says: "Unexpected end of string. Expected , or ] after array value.\n1\n ^"),
    BadBody(
      "an octal number", #"{"mfa": 07}"#,
      says: "Octal/hex numbers are not valid JSON values.\n{\"mfa\": 07}\n        ^"),
    BadBody(
      "a trailing comma, which only production accepts", #"{"mfa": {},}"#,
      says: "The JSON document is not well formed at byte 11."),
    BadBody(
      "a thousand nesting levels", String(repeating: #"{"a":"#, count: 1000),
      says: "Message too deep. Max recursion depth reached for key 'a'"),
    BadBody(
      "ten megabytes of nesting levels", String(repeating: "[", count: 10_000_000),
      says: "Message too deep. Max recursion depth reached for key ''"),
    BadBody(
      "a duplicate name", #"{"mfa":{},"mfa":{}}"#,
      says: #"The member "mfa" appears twice in an object."#),
    BadBody(
      "both spellings", #"{"tenantId":"a","tenant_id":"a"}"#,
      says: #"The member "tenantId" appears twice."#),
    BadBody(
      "invalid UTF-8", [0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D],
      says: "Encountered non UTF-8 code points."),
    BadBody(
      "NUL", "{\u{0}}", says: "Expected an object key or }.\n\u{0}}\n^"),
    BadBody(
      "an escaped NUL", #"{"email":"a\u0000@example.com"}"#,
      says: "A string contains the character U+0000."),
    BadBody(
      "an escaped NUL in a name", #"{"x":[{"a\u0000":1}]}"#,
      says: "A string contains the character U+0000."),
    BadBody(
      "a lone surrogate", #"{"email":"\ud800"}"#,
      says: "Missing low surrogate.\n\"\\ud800\"}\n ^"),
    BadBody(
      "white space", " \n", says: "Unexpected end of string. Expected a value.\n\n^"),
    BadBody("an array", "[]", says: #"Unknown name "": Root element must be a message."#),
    BadBody("a string", #""mfa""#, says: #"Unknown name "": Root element must be a message."#),
    BadBody(
      "a form", "mfa=1", says: "The Content-Type of the request must be application/json.",
      contentType: "application/x-www-form-urlencoded"),
    BadBody(
      "plain text", "{}", says: "The Content-Type of the request must be application/json.",
      contentType: "text/plain;charset=UTF-8"),
  ]
}

struct BadInputTests {
  private static let beginning = "Invalid JSON payload received. "

  private static func withoutDetails(_ answer: Response) throws -> JSON {
    var error = try #require(try JSON.parse(answer.body.bytes)["error"]?.objectValue)
    error["details"] = nil
    return ["error": .object(error)]
  }

  @Test(arguments: BadBody.all)
  func `an unreadable body is refused with a v2 error`(_ body: BadBody)
    async throws
  {
    try await TestServer.with { server in
      // Only account methods read `tenantId` from the body.
      guard body.testDescription != "both spellings" else { return }
      let answer = try #require(
        try await server.send(
          .patch, TestServer.config + "?updateMask=mfa", body.bytes, .owner,
          fields: [.contentType: body.contentType]))
      #expect(
        try Self.withoutDetails(answer) == [
          "error": [
            "code": 400, "message": .string(Self.beginning + body.message),
            "status": "INVALID_ARGUMENT",
          ]
        ])
    }
  }

  @Test(arguments: BadBody.all)
  func `an unreadable body is refused with a v1 error`(_ body: BadBody)
    async throws
  {
    try await TestServer.with { server in
      let answer = try #require(
        try await server.send(
          .post, "/v1/accounts:signUp", body.bytes, .key,
          fields: [.contentType: body.contentType]))
      let message = JSON.string(Self.beginning + body.message)
      // JSON that isn't an object is reported like an unknown member.
      let error: JSON =
        body.message.hasSuffix("Root element must be a message.")
        ? ["message": message, "reason": "invalid"]
        : ["message": message, "domain": "global", "reason": "badRequest"]
      #expect(
        try Self.withoutDetails(answer) == [
          "error": [
            "code": 400, "message": message,
            "errors": [error],
            "status": "INVALID_ARGUMENT",
          ]
        ])
    }
  }

  @Test func `a PATCH without a body is refused and clears nothing`() async throws {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      let answer = try await server.call(
        .patch, TestServer.config + "?updateMask=mfa", text: "", .owner)
      #expect(answer.error == Self.beginning + "The request has no body.")
      #expect(try await server.get(TestServer.config)["mfa"]?["providerConfigs"] != nil)
    }
  }

  @Test(arguments: [nil, "application/json; charset=utf-8", "Application/JSON", "text/json"])
  func `JSON is accepted with any JSON content type, or with none`(type: String?) async throws {
    try await TestServer.with { server in
      var fields = Fields()
      fields[.contentType] = type
      let request = Request(
        method: .post, target: try #require(Target("/v1/accounts:signUp?key=\(server.key)")),
        fields: fields, body: Array("{}".utf8))
      #expect(await server.api.respond(to: request)?.status == .ok)
    }
  }

  @Test(arguments: [
    (#"{"localId":true}"#, "Invalid value at 'local_id' (TYPE_LIST), true"),
    (#"{"localId":[true]}"#, "Invalid value at 'local_id[0]' (TYPE_STRING), true"),
    (
      #"{"localId":[["a"]]}"#,
      "Invalid JSON payload received. Unknown name \"local_id[0]\": Proto field is not repeating, cannot start list."
    ),
  ])
  func `a member with the wrong type is refused, and the error names its path`(
    body: String, error: String
  )
    async throws
  {
    try await TestServer.with { server in
      let answer = try await server.call(
        .post, TestServer.accounts + ":lookup", text: body, .owner)
      #expect(answer.error == error)
      #expect(answer["error"]?["details"]?.arrayValue?.first?["fieldViolations"] != nil)
    }
  }

  @Test func `an error doesn't echo a megabyte of input`() async throws {
    try await TestServer.with { server in
      let long = String(repeating: "x", count: 1_000_000)
      for body in [
        #"{"mfa":{"state":"\#(long)"}}"#, #"{"mfa":{"\#(long)":1}}"#,
        #"{"\#(long)":1,"\#(long)":1}"#,
      ] {
        let answer = try await server.call(.patch, TestServer.config, text: body, .owner)
        #expect(answer.status == 400)
        #expect(answer.response.body.count < 2000)
      }
    }
  }

  @Test func `K2: no response echoes a secret`() async throws {
    try await TestServer.with { server in
      let marker = "marker-7d1f"
      for body in [
        #"{"password":{"\#(marker)":1}}"#, #"{"email":"a@example.com","password":"\#(marker)"}"#,
        #"{"idToken":"\#(marker)"}"#, #"{"password":"\#(marker)""#,
      ] {
        for path in ["signUp", "signInWithPassword", "lookup", "update"] {
          let answer = try await server.call(.post, "/v1/accounts:\(path)", text: body, .key)
          #expect(!String(decoding: answer.response.body.bytes, as: UTF8.self).contains(marker))
        }
      }
    }
  }
}
