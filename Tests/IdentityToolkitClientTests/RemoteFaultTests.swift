import JSON
import Localization
import Testing

@testable import IdentityToolkitClient

/// Each failure is one of the list, with a sentence that says what to do.
struct RemoteFaultTests {
  private static let disabled = """
    Identity Toolkit API has not been used in project 123456789012 before or it is disabled. Enable it \
    by visiting https://console.developers.google.com/apis/api/identitytoolkit.googleapis.com/\
    overview?project=123456789012 then retry.
    """

  /// An error of version 2, with the reason of an `ErrorInfo`.
  private static func error(
    _ status: Int, _ message: String, reason: String, consumer: String
  ) -> RemoteResponse {
    .json(
      [
        "error": [
          "code": .number(JSON.Number(status)), "message": .string(message),
          "status": "PERMISSION_DENIED",
          "details": [
            ["@type": "type.googleapis.com/google.rpc.Help", "links": []],
            [
              "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": .string(reason),
              "domain": "googleapis.com", "metadata": ["consumer": .string(consumer)],
            ],
          ],
        ]
      ], status: status)
  }

  /// An error of version 1 with a reason in a domain.
  private static func limited(_ status: Int, _ domain: String, _ reason: String) -> RemoteResponse {
    .json(
      [
        "error": [
          "code": .number(JSON.Number(status)), "message": "Access Not Configured",
          "errors": [["domain": .string(domain), "reason": .string(reason)]],
        ]
      ], status: status)
  }

  private static let users = "/v1/projects/demo-connected/accounts:batchGet"
  private static let tenants = "/v2/projects/demo-connected/tenants"

  private static let table:
    [(name: String, path: String, response: RemoteResponse, cause: RemoteFault.Cause)] = [
      (
        "API off", users,
        error(403, disabled, reason: "SERVICE_DISABLED", consumer: "projects/123456789012"),
        .apiOff(project: "123456789012")
      ),
      (
        "API off, and the project can't be part of an address", users,
        error(403, disabled, reason: "SERVICE_DISABLED", consumer: "projects/&evil=1"),
        .apiOff(project: "demo-connected")
      ),
      (
        "API off, as it was said before", users, limited(403, "usageLimits", "accessNotConfigured"),
        .apiOff(project: "demo-connected")
      ),
      (
        "quota project", users,
        error(403, "Caller does not have", reason: "USER_PROJECT_DENIED", consumer: "projects/a"),
        .quotaProject
      ),
      (
        "deleted project", users,
        error(
          403, "Project demo-connected has been deleted.", reason: "USER_PROJECT_DENIED",
          consumer: "projects/demo-connected"), .projectGone
      ),
      (
        "deleted project without a reason", users, .error(403, "Project #1 has been deleted."),
        .projectGone
      ),
      ("no such project", users, .error(400, "PROJECT_NOT_FOUND"), .projectGone),
      ("ID of no project", users, .error(400, "INVALID_PROJECT_ID"), .projectGone),
      ("tenants off", tenants, .error(400, "INVALID_PROJECT_ID"), .tenantsOff),
      ("tenant deleted", users, .error(400, "TENANT_DELETED"), .tenantGone),
      (
        "quota by its sentence", users, .error(403, "Quota exceeded for quota metric 'Reads'"),
        .quota(seconds: 5)
      ),
      ("a request that took too long", users, .init(status: 408, body: []), .unreachable),
      ("redirect", users, .init(status: 302, body: []), .unreadable),
      ("token", users, .error(401, "QUOTA_EXCEEDED"), .unauthorized),
      (
        "permission", users, .error(403, "The caller does not have permission"),
        .permissionMissing("x.get")
      ),
      (
        "permission as 400", users, .error(400, "INSUFFICIENT_PERMISSION : x"),
        .permissionMissing("x.get")
      ),
      (
        "factor that isn't kept", users, .error(400, "UNSUPPORTED_SECOND_FACTOR : x"),
        .factorRefused
      ),
      ("many requests", users, .error(429, "Too many"), .quota(seconds: 5)),
      ("quota as 400", users, .error(400, "QUOTA_EXCEEDED : Exceeded quota"), .quota(seconds: 5)),
      (
        "quota as 403", users, limited(403, "usageLimits", "rateLimitExceeded"),
        .quota(seconds: 5)
      ),
      (
        "quota by its reason", users,
        error(403, "Quota", reason: "RATE_LIMIT_EXCEEDED", consumer: "projects/1"),
        .quota(seconds: 5)
      ),
      ("backend error", users, .error(503, "Error code: 39"), .unreachable),
      (
        "error page of a proxy", users, .init(status: 502, body: Array("<html>".utf8)), .unreachable
      ),
      (
        "page of another server", users, .init(status: 404, body: Array("<html>".utf8)), .unreadable
      ),
      ("limit of a proxy", users, .init(status: 429, body: []), .quota(seconds: 5)),
      ("unknown word", users, .error(418, "TEAPOT : Short and stout"), .other("TEAPOT")),
      ("unknown sentence", users, .error(418, "I'm a teapot"), .other("HTTP 418")),
      ("no message", users, .json(["error": [:]], status: 409), .other("HTTP 409")),
    ]

  @Test func `an error of the API is told apart`() throws {
    let project = try #require(RemoteProject(kind: .identityPlatform, id: "demo-connected"))
    for row in Self.table {
      let call = RemoteCall(path: row.path, permission: "x.get")
      let fault = RemoteFault(row.response, to: call, of: project)
      #expect(fault.cause == row.cause, "\(row.name)")
    }
  }

  @Test func `another Countersign says which role a token needs`() throws {
    let project = try #require(
      RemoteProject(kind: .countersign, id: "acme-app", url: "https://a.example"))
    let call = RemoteCall(path: Self.users, needs: .support, permission: "x.get")
    let denied = RemoteResponse.error(
      403, "PERMISSION_DENIED : The caller does not have permission")
    #expect(
      RemoteFault(denied, to: call, of: project).cause == .permissionMissing("connection-support"))
  }

  // MARK: - The token endpoint

  private static let tokens: [(description: String, cause: RemoteFault.Cause)] = [
    ("Invalid JWT Signature.", .keyDeleted("3f2a0000000000000000000000000000000000aa")),
    (
      "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.",
      .clock(seconds: 420)
    ),
    (
      "Invalid JWT: Token must be a short-lived token and in a reasonable timeframe",
      .clock(seconds: 420)
    ),
    ("Invalid grant: account not found", .accountGone(TestKey.email)),
    ("Robot is disabled.", .accountGone(TestKey.email)),
    ("The account has been deleted", .accountGone(TestKey.email)),
    ("The OAuth client was deleted.", .accountGone(TestKey.email)),
    ("Invalid JWT: No valid verifier found for issuer.", .notServiceAccount(TestKey.email)),
    ("Not a valid email.", .invalidEmail), ("Invalid email or User ID", .invalidEmail),
    ("Bad Request", .other("invalid_grant")),
  ]

  private func key() throws -> ServiceAccountKey {
    guard case .serviceAccount(let key) = try TestKey.credential() else { throw Unexpected() }
    return key
  }

  private struct Unexpected: Error {}

  @Test func `an error of the token endpoint is told apart by a part of its sentence`() throws {
    for row in Self.tokens {
      let body: JSON = ["error": "invalid_grant", "error_description": .string(row.description)]
      let response = RemoteResponse(
        status: 400, date: "Fri, 20 Nov 2026 15:53:00 GMT", body: body.serialized())
      let fault = RemoteFault(token: response, of: try key(), at: 1_795_190_400)
      #expect(fault.cause == row.cause, "\(row.description)")
      #expect(fault.detail == "invalid_grant: \(row.description)")
    }
  }

  @Test(arguments: [
    ("token/invalid-signature", "keyDeleted"), ("token/clock-new-text", "clock"),
    ("token/account-not-found", "accountGone"), ("token/account-deleted", "accountGone"),
    ("token/deleted-client", "accountGone"), ("token/not-an-email", "invalidEmail"),
    ("token/scope", "other"), ("token/internal", "unreachable"),
  ])
  func `each recorded answer of the token endpoint has a cause`(id: String, cause: String) throws {
    let recording = try Recording.with(id).answer
    let response = RemoteResponse(
      status: recording.status, date: "Thu, 01 Jan 1970 00:07:00 GMT", body: recording.body)
    let fault = RemoteFault(token: response, of: try key(), at: 0)
    #expect("\(fault.cause)".hasPrefix(cause))
  }

  @Test func `every recorded answer of the token endpoint is in the table above`() throws {
    #expect(try Recording.all.get().count { !$0.path.hasPrefix("/") } == 8)
  }

  // MARK: - Sentences

  private static let causes: [RemoteFault.Cause] = [
    .clock(seconds: 420), .clock(seconds: -1), .keyDeleted("3f2a"),
    .accountGone("a@b.example"), .notServiceAccount("a@b.example"), .invalidEmail,
    .apiOff(project: "123"), .neverSetUp, .noIdentityPlatform, .projectGone, .tenantsOff,
    .tenantDisabled, .tenantGone, .permissionMissing("firebaseauth.users.get"), .quotaProject,
    .quota(seconds: 1), .quota(seconds: 30), .beyondAccess(.policy),
    .unauthorized, .unreachable, .addressRefused, .untrusted, .tooLarge, .unreadable,
    .factorRefused, .unknownFactor, .other("X"),
  ]

  @Test func `each cause has a separate sentence without apostrophes`() throws {
    let google = try #require(RemoteProject(kind: .identityPlatform, id: "demo-connected"))
    let other = try #require(
      RemoteProject(kind: .countersign, id: "acme-app", url: "https://mfa.example.com"))
    for project in [google, other] {
      let texts = Self.causes.map { RemoteFault($0).message(at: project).english }
      #expect(Set(texts).count == texts.count)
      for text in texts {
        #expect(!text.contains("'") && !text.contains("’") && !text.contains("{"), "\(text)")
        #expect(text.count > 20, "\(text)")
      }
    }
  }

  @Test(
    arguments: [
      (
        .clock(seconds: 420),
        "The clock of this server is 420 seconds ahead of that of Google. Set it."
      ),
      (
        .clock(seconds: -1), "The clock of this server is 1 second behind that of Google. Set it."
      ),
      (
        .apiOff(project: "123"),
        """
        The Identity Toolkit API is off in 123. Turn it on, and wait a few minutes: \
        https://console.developers.google.com/apis/api/identitytoolkit.googleapis.com/overview\
        ?project=123
        """
      ),
      (
        .permissionMissing("firebaseauth.users.get"),
        """
        The service account lacks firebaseauth.users.get. Add it to its role, and wait a few minutes.
        """
      ),
    ] as [(RemoteFault.Cause, String)])
  func `a sentence names what's wrong`(cause: RemoteFault.Cause, text: String) throws {
    let project = try #require(RemoteProject(kind: .identityPlatform, id: "demo-connected"))
    #expect(RemoteFault(cause).message(at: project).english == text)
  }

  @Test func `a clock that can't be compared is told in Google's words`() throws {
    let body: JSON = ["error": "invalid_grant", "error_description": "…a reasonable timeframe."]
    for date in [nil, "soon"] {
      let response = RemoteResponse(status: 400, date: date, body: body.serialized())
      let fault = RemoteFault(token: response, of: try key(), at: 0)
      #expect(fault.cause == .other("invalid_grant"))
      #expect(fault.detail == "invalid_grant: …a reasonable timeframe.")
    }
  }

  @Test(arguments: ["eyJhbGciOiJSUzI1NiJ9.e30.c2ln", "ya29.c.Kq0-_x", "cst_abc"])
  func `a credential that a server repeats isn't kept`(credential: String) throws {
    let project = try #require(RemoteProject(kind: .identityPlatform, id: "demo-connected"))
    let call = RemoteCall(path: Self.users, permission: "x.get")
    // Only the beginning of the last one is in the part that's kept.
    let between = String(repeating: "x", count: 486 - 2 * credential.utf8.count)
    let text = "bad: \(credential)\" \(credential) \(between)\(credential)"
    let body: JSON = ["error": "invalid_grant", "error_description": .string(text)]
    for fault in [
      RemoteFault(.error(400, text), to: call, of: project),
      RemoteFault(.init(status: 400, body: Array(text.utf8)), to: call, of: project),
      RemoteFault(token: .json(body, status: 400), of: try key(), at: 0),
      RemoteFault(token: .init(status: 400, body: Array(text.utf8)), of: try key(), at: 0),
    ] {
      #expect(fault.detail?.contains("bad: … … xxx") == true)
      #expect(fault.detail?.contains(credential.prefix(6)) == false)
    }
  }

  @Test func `the words of a hostile server are kept in part, and cost no more than others`() throws
  {
    let project = try #require(RemoteProject(kind: .identityPlatform, id: "demo-connected"))
    let call = RemoteCall(path: Self.users, permission: "x.get")
    let marks = "\\uD800" + String(repeating: "\\u0301", count: 100_000)
    let body = #"{"error":{"message":"BAD : \#(marks)","errors":[{"reason":"\#(marks)"}]}}"#
    let fault = RemoteFault(
      RemoteResponse(status: 400, body: Array(body.utf8)), to: call, of: project)
    #expect(fault.cause == .other("BAD"))
    #expect(fault.detail?.unicodeScalars.count == 37)
  }
}

extension RemoteFaultTests {
  @Test func `what a transport couldn't send is a refusal`() {
    for cause in [RemoteFault.Cause.addressRefused, .untrusted] {
      #expect(RemoteFault(cause).isRefusal)
    }
    for cause in [RemoteFault.Cause.unreachable, .tooLarge, .unreadable] {
      #expect(!RemoteFault(cause).isRefusal)
      #expect(RemoteFault(cause).beforeSending.isRefusal)
    }
  }
}
