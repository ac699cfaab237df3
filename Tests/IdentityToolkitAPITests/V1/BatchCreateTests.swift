import Crypto
import HTTP
import Identity
import JSON
import Testing

struct BatchCreateTests {
  static let path = TestServer.accounts + ":batchCreate"

  /// A hash of the password `password`, with the request members that describe its algorithm.
  struct Hashed: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let members: JSON
    let hash: [UInt8]
    var salt = Array("somesalt".utf8)

    init(_ name: String, _ members: JSON, _ hash: String, salt: String = "somesalt") {
      testDescription = name
      self.members = members
      // The Node SDK sends an MD5 hash as hexadecimal text.
      let isText = name.hasSuffix("as text")
      self.hash = isText ? Array(hash.utf8) : Hex.decode(Array(hash.utf8)) ?? Array(hash.utf8)
      self.salt = Array(salt.utf8)
    }
  }

  static let key: JSON = "a2V5"
  static let hashes: [Hashed] = HashCases.all

  private func row(_ hashed: Hashed, padded: Bool) -> JSON {
    func text(_ bytes: [UInt8]) -> JSON {
      .string(padded ? Base64URL.encodePadded(bytes) : Base64URL.encode(bytes))
    }
    return [
      "localId": "imported", "email": "imported@example.com", "passwordHash": text(hashed.hash),
      "salt": text(hashed.salt),
    ]
  }

  private func signIn(_ server: TestServer, _ password: String) async throws -> Answer {
    try await server.post(
      "/v1/accounts:signInWithPassword",
      ["email": "imported@example.com", "password": .string(password)])
  }

  @Test(arguments: hashes)
  func `a hash of any algorithm signs in and is upgraded to Argon2id`(hashed: Hashed) async throws {
    try await TestServer.with { server in
      var body = try #require(hashed.members.objectValue)
      body["users"] = [row(hashed, padded: true)]
      let answer = try await server.post(Self.path, .object(body), .owner)
      #expect(answer.status == 200)
      #expect(answer.json == ["kind": "identitytoolkit#UploadAccountResponse"])
      #expect(try await signIn(server, "Password").status == 400)
      #expect(try await signIn(server, "password").status == 200)
      let user = try await server.get(TestServer.accounts + ":batchGet")["users"]?.arrayValue?.first
      let hash = try #require(user?["passwordHash"]?.stringValue)
      let text = String(decoding: Base64URL.decode(hash) ?? [], as: UTF8.self)
      #expect(text.hasPrefix("$argon2id$v=19$m=64,t=1,p=1$"))
      #expect(try await signIn(server, "password").status == 200)
    }
  }

  @Test(arguments: hashes)
  func `an exported hash signs in after it's imported again`(hashed: Hashed) async throws {
    try await TestServer.with { server in
      var body = try #require(hashed.members.objectValue)
      body["users"] = [row(hashed, padded: false)]
      _ = try await server.post(Self.path, .object(body), .owner)
      let user = try await server.get(TestServer.accounts + ":batchGet")["users"]?.arrayValue?.first
      var again = try #require(user?.objectValue)
      if again["version"] != nil { return }  // Firebase's scrypt, which needs its parameters
      again["localId"] = "again"
      again["email"] = "again@example.com"
      let answer = try await server.post(Self.path, ["users": [.object(again)]], .owner)
      #expect(answer.json == ["kind": "identitytoolkit#UploadAccountResponse"])
      let signedIn = try await server.post(
        "/v1/accounts:signInWithPassword", ["email": "again@example.com", "password": "password"])
      #expect(signedIn.status == 200)
    }
  }

  @Test func `Firebase scrypt hashes are exported in Firebase's form`() async throws {
    try await TestServer.with { server in
      let hashed = try #require(Self.hashes.first { $0.testDescription == "SCRYPT" })
      var body = try #require(hashed.members.objectValue)
      body["users"] = [row(hashed, padded: true)]
      _ = try await server.post(Self.path, .object(body), .owner)
      let user = try await server.get(TestServer.accounts + ":batchGet")["users"]?.arrayValue?.first
      #expect(user?["passwordHash"] == .string(Base64URL.encodePadded(hashed.hash)))
      #expect(user?["salt"] == .string(Base64URL.encodePadded(hashed.salt)))
      #expect(user?["version"] == 0)
    }
  }

  @Test func `only owners can export hashes, and exports are logged`() async throws {
    try await TestServer.with { server in
      _ = try await server.addPerson()
      let application = try await server.identity.serviceTokens.create(
        project: ID(TestServer.project), tenant: nil, role: .application, name: "app",
        by: .program(Author(actor: .commandLine))
      ).value
      let page = try await server.get(
        TestServer.accounts + ":batchGet", .bearer(application.secret.revealedText))
      #expect(page["users"]?.arrayValue?.first?["passwordHash"] == "UkVEQUNURUQ=")
      let log = try await server.identity.audit.list(AuditFilter(), limit: 1).items
      #expect(log.first?.action != .accountDownload)
      _ = try await server.get(TestServer.accounts + ":batchGet")
      let after = try await server.identity.audit.list(AuditFilter(), limit: 1).items
      #expect(after.first?.action == .accountDownload)
      #expect(after.first?.changes.contains { $0.field == .passwordHashes } == true)
    }
  }

  @Test func `refused rows are reported by index and message`() async throws {
    try await TestServer.with { server in
      let body = try json(
        """
        {"users": [
          {"localId": "a", "email": "a@example.com"},
          {"email": "b@example.com"},
          {"localId": "c", "email": "nobody"},
          {"localId": "d", "email": "A@example.com"},
          {"localId": "e", "phoneNumber": "123"},
          {"localId": "f", "email": "x y@example.com"},
          {"localId": "g", "passwordHash": "bm9uc2Vuc2U="},
          {"localId": "h", "customAttributes": "[]"},
          {"localId": "i", "customAttributes": "{\\"sub\\": 1}"},
          {"localId": "j", "providerUserInfo": [{"providerId": "google.com"}]},
          {"localId": "k", "tenantId": "other"},
          {"localId": "l", "mfaInfo": [{"phoneInfo": "+15555550100"}]},
          {"localId": "m", "email": "m@example.com", "mfaInfo": [{"phoneInfo": "+15555550100"}]},
          {"localId": "n", "email": "n@example.com", "emailVerified": true, "mfaInfo": [{"totpInfo": {}}]},
          {"localId": "o", "email": "o@example.com", "emailVerified": true, "mfaInfo": [{"phoneInfo": "1"}]},
          {"localId": "p", "email": "p@example.com", "emailVerified": true, "mfaInfo": [{}]},
          {"localId": "q", "email": "q@example.com", "emailVerified": true, "mfaInfo": [
            {"mfaEnrollmentId": "x", "phoneInfo": "+15555550100"},
            {"mfaEnrollmentId": "x", "phoneInfo": "+15555550101"}]},
          {"local_id": "r", "email_verified": true, "created_at": 1500000000000}
        ]}
        """)
      let answer = try await server.post(Self.path, body, .owner)
      #expect(answer.status == 200)
      let errors = try #require(answer["error"]?.arrayValue)
      #expect(errors.map { $0["index"]?.numberValue?.int64 } == (1...16).map { Int64($0) })
      #expect(
        errors.map { $0["message"]?.stringValue } == [
          "localId is missing", "email is invalid", "email exists in other account in database",
          "phone number format is invalid", "email is invalid",
          "password hash is invalid for the hash algorithm", "Invalid custom claims provided.",
          "Custom claims provided include a reserved claim.",
          "federatedId or (providerId & rawId) is required",
          "Tenant id in userInfo does not match the tenant id in request.",
          "Second factor account requires email to be presented.",
          "Second factor account requires email to be verified.",
          "Importing TOTP MFA is not supported.", "Phone number format is invalid",
          "Second factor not supported.", "Enrollment id already exists.",
        ])
      let page = try await server.get(TestServer.accounts + ":batchGet")
      #expect(page["users"]?.arrayValue?.compactMap { $0["localId"]?.stringValue } == ["a", "r"])
      #expect(page["users"]?.arrayValue?.last?["createdAt"] == "1500000000000")
    }
  }

  @Test(arguments: [
    (#"{}"#, "MISSING_USER_ACCOUNT"),
    (#"{"users": [{"localId": "a"}, {"localId": "a"}]}"#, "DUPLICATE_LOCAL_ID : a"),
    (
      #"{"sanityCheck": true, "users": [{"localId": "a", "email": "x@y.z"}, {"localId": "b", "email": "X@y.z"}]}"#,
      "DUPLICATE_EMAIL : X@y.z"
    ),
    (
      #"{"sanityCheck": true, "users": [{"localId": "a", "providerUserInfo": [{"providerId": "google.com", "rawId": "1"}]}, {"localId": "b", "providerUserInfo": [{"providerId": "google.com", "rawId": "1"}]}]}"#,
      "DUPLICATE_RAW_ID : Provider id(google.com), Raw id(1)"
    ),
    (
      #"{"hashAlgorithm": "ROT13", "users": [{"localId": "a"}]}"#,
      "INVALID_HASH_ALGORITHM"
    ),
    (
      #"{"hashAlgorithm": "SHA256", "users": [{"localId": "a"}]}"#,
      "INVALID_HASH_ROUNDS"
    ),
    (
      #"{"hashAlgorithm": "HMAC_SHA1", "users": [{"localId": "a"}]}"#,
      "EMPTY_HASH_KEY"
    ),
    (
      #"{"hashAlgorithm": "PBKDF2_SHA256", "rounds": 2000001, "users": [{"localId": "a"}]}"#,
      "INVALID_HASH_ROUNDS"
    ),
    (
      #"{"hashAlgorithm": "STANDARD_SCRYPT", "cpuMemCost": 524288, "blockSize": 8, "parallelization": 1, "users": [{"localId": "a"}]}"#,
      "INVALID_HASH_PARAMETER : A hash can use at most 256 MiB, and 1 GiB across all parallelization or iterations."
    ),
    (
      #"{"hashAlgorithm": "ARGON2", "argon2Parameters": {"hashType": "ARGON2_ID", "parallelism": 1, "iterations": 1, "memoryCostKib": 262145}, "users": [{"localId": "a"}]}"#,
      "INVALID_ARGON2_MEMORY_COST"
    ),
    (
      #"{"hashAlgorithm": "ARGON2", "argon2Parameters": {"parallelism": 1, "iterations": 1, "memoryCostKib": 8}, "users": [{"localId": "a"}]}"#,
      "INVALID_ARGON2_HASH_TYPE"
    ),
    (
      #"{"hashAlgorithm": "PBKDF_SHA1", "users": [{"localId": "a"}]}"#, "INVALID_HASH_ROUNDS"
    ),
    (
      #"{"hashAlgorithm": "BCRYPT", "users": [{"localId": "a", "passwordHash": "no base64!"}]}"#,
      #"Invalid value at 'users[0].password' (TYPE_BYTES), Base64 decoding failed for "no base64!""#
    ),
  ])
  func `an error in the request refuses the whole import`(body: String, error: String) async throws
  {
    try await TestServer.with { server in
      let answer = try await server.call(.post, Self.path, text: body, .owner)
      #expect(answer.status == 400)
      #expect(answer.error == error)
    }
  }

  @Test func `a bcrypt hash with cost 15 is a row error`() async throws {
    try await TestServer.with { server in
      let text = "$2a$15$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"
      let answer = try await server.post(
        Self.path,
        [
          "hashAlgorithm": "BCRYPT",
          "users": [
            ["localId": "a", "passwordHash": .string(Base64URL.encode(Array(text.utf8)))]
          ],
        ], .owner)
      #expect(
        answer["error"]?.arrayValue?.first?["message"]
          == "password hash exceeds the cost limits of this server")
    }
  }

  @Test func `at most a thousand users can be imported at once`() async throws {
    try await TestServer.with { server in
      let users = (0...1000).map { JSON.object(["localId": .string("u\($0)")]) }
      let tooMany = try await server.post(Self.path, ["users": .array(users)], .owner)
      #expect(
        tooMany.error
          == "MAXIMUM_USER_COUNT_EXCEEDED : At most 1000 users can be imported at once.")
      let answer = try await server.post(
        Self.path, ["users": .array(Array(users.dropLast()))], .owner)
      #expect(answer.status == 200 && answer["error"] == nil)
    }
  }

  @Test func `existing users are refused unless overwriting is allowed`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let row: JSON = [
        "localId": .string(alice.uid), "email": "new@example.com", "displayName": "New",
      ]
      let refused = try await server.post(Self.path, ["users": [row]], .owner)
      #expect(
        refused["error"]?.arrayValue?.first?["message"]
          == "localId belongs to an existing account - can not overwrite.")
      let done = try await server.post(
        Self.path, ["users": [row], "allowOverwrite": true], .owner)
      #expect(done["error"] == nil)
      let user = try await server.post(
        TestServer.accounts + ":lookup", ["localId": [.string(alice.uid)]], .owner)
      #expect(user["users"]?.arrayValue?.first?["email"] == "new@example.com")
    }
  }

  @Test func `users imported into a tenant belong to that tenant`() async throws {
    try await TestServer.with { server in
      let tenant = try await server.addTenant()
      let path = "/v1/projects/acme-mfa/tenants/\(tenant)/accounts:batchCreate"
      let row: JSON = ["localId": "a", "email": "a@example.com", "tenantId": .string(tenant)]
      let done = try await server.post(path, ["users": [row]], .owner)
      #expect(done["error"] == nil)
      let page = try await server.get("/v1/projects/acme-mfa/tenants/\(tenant)/accounts:batchGet")
      #expect(page["users"]?.arrayValue?.first?["tenantId"] == .string(tenant))
      let own = try await server.get(TestServer.accounts + ":batchGet")
      #expect(own["users"] == nil)
    }
  }

  @Test(
    arguments: [
      (#""hashingAlgorithm": "SHA1", "verificationCodeLength": 6, "periodSec": 30"#, nil),
      (#""hashingAlgorithm": "", "verificationCodeLength": 0, "periodSec": 0"#, nil),
      (
        #""algorithm": "sha1", "digits": "6", "period": 30, "issuer": "Acme", "counter": null"#, nil
      ),
      (#""hashingAlgorithm": "sha-1""#, nil),
      (#""hashingAlgorithm": "SHA256""#, "hashingAlgorithm"),
      (#""hashing_algorithm": "SHA512""#, "hashingAlgorithm"),
      (#""hashingAlgorithm": "SHA1", "algorithm": "SHA256""#, "algorithm"),
      (#""verificationCodeLength": 8"#, "verificationCodeLength"), (#""digits": 8"#, "digits"),
      (#""digits": "8""#, "digits"), (#""periodSec": 60"#, "periodSec"),
      (#""period": 60"#, "period"), (#""counter": 0"#, "counter"), (#""type": "hotp""#, "type"),
      (#""interval": 60"#, "interval"),
    ] as [(String, String?)])
  func `a TOTP secret of codes with other parameters isn't imported`(
    parameters: String, refused: String?
  ) async throws {
    try await TestServer.with { server in
      _ = try await server.patch(
        TestServer.config + "?updateMask=importTotpSecrets", ["importTotpSecrets": true])
      let row = try json(
        """
        {"localId": "a", "email": "a@example.com", "emailVerified": true, "mfaInfo": [
          {"totpInfo": {"sharedSecretKey": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", \(parameters)}}]}
        """)
      let done = try await server.post(Self.path, ["users": [row]], .owner)
      let message = done["error"]?.arrayValue?.first?["message"]
      let text = refused.map {
        """
        totpInfo.\($0) is not supported: TOTP secret should be of codes with SHA1, 6 digits, and 30 \
        seconds.
        """
      }
      #expect(message == text.map { JSON.string($0) })
    }
  }

  @Test func `TOTP secrets can be imported only if the configuration allows it`() async throws {
    try await TestServer.with { server in
      let row = try json(
        """
        {"localId": "a", "email": "a@example.com", "emailVerified": true,
         "rawPassword": "correct horse", "mfaInfo": [{"mfaEnrollmentId": "app",
           "displayName": "App", "enrolledAt": "2024-05-06T07:08:09.123Z",
           "totpInfo": {"sharedSecretKey": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"}}]}
        """)
      let refused = try await server.post(Self.path, ["users": [row]], .owner)
      #expect(
        refused["error"]?.arrayValue?.first?["message"]
          == "Importing TOTP MFA is not supported unless the project's importTotpSecrets is true.")
      let before = try await server.get(TestServer.config)
      #expect(before["importTotpSecrets"] == nil)
      let on = try await server.patch(
        TestServer.config + "?updateMask=importTotpSecrets", ["importTotpSecrets": true])
      #expect(on["importTotpSecrets"] == true)
      let done = try await server.post(Self.path, ["users": [row]], .owner)
      #expect(done["error"] == nil)
      try await server.switchTOTPOn()
      let first = try await server.post(
        "/v1/accounts:signInWithPassword",
        ["email": "a@example.com", "password": "correct horse"])
      let factor = first["mfaInfo"]?.arrayValue?.first
      #expect(factor?["enrolledAt"] == "2024-05-06T07:08:09.123000Z")
      let device = try Device("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")
      let signedIn = try await server.post(
        "/v2/accounts/mfaSignIn:finalize",
        [
          "mfaPendingCredential": .string(try first.text("mfaPendingCredential")),
          "mfaEnrollmentId": "app",
          "totpVerificationInfo": ["verificationCode": .string(try device.code(at: server.now))],
        ])
      #expect(signedIn.status == 200, "\(signedIn.json)")
      let page = try await server.get(TestServer.accounts + ":batchGet")
      #expect(!String(decoding: page.json.serialized(), as: UTF8.self).contains("GEZDG"))
      let off = try await server.patch(
        TestServer.config + "?updateMask=importTotpSecrets", [:])
      #expect(off["importTotpSecrets"] == nil)
    }
  }

  @Test func `the emulator's fake hash is accepted only in the emulator profile`() async throws {
    let fake = "fakeHash:salt=fakeSaltX:password=secret-word"
    for text in [fake, Base64URL.encodePadded(Array(fake.utf8))] {
      let users: JSON = [
        "users": [
          ["localId": "imported", "email": "imported@example.com", "passwordHash": .string(text)]
        ]
      ]
      try await TestServer.with(.emulator) { server in
        let done = try await server.post(Self.path, users, .owner)
        #expect(done["error"] == nil)
        #expect(try await signIn(server, "secret-word").status == 200)
        #expect(try await signIn(server, "secret-work").status == 400)
      }
      try await TestServer.with { server in
        let answer = try await server.post(Self.path, users, .owner)
        #expect(
          answer["error"]?.arrayValue?.first?["message"] == "password hash is from the emulator")
      }
    }
  }
}
