import Database
import JSON
import Testing

@testable import Identity
@testable import IdentityToolkitAPI

/// What changes how a user signs in needs more than an open session, in every call that reaches it.
struct SignInChangeTests {
  /// The account and the session in which its user makes a change.
  enum Situation: CaseIterable {
    case fresh, old
    /// The sign-in requires a factor, which the session didn't pass.
    case notPassed
    case passed, passedOld
    /// As `notPassed`, but the pool's setting or its second factor is off.
    case settingOff, factorOff
    /// Old sessions, of an anonymous account and of one that only custom tokens sign in to.
    case anonymous, firstMethod
    /// As `notPassed` and `old`, in the emulator profile.
    case emulator

    var isOld: Bool {
      [.old, .passedOld, .anonymous, .firstMethod, .emulator].contains(self)
    }
    var hasFactor: Bool {
      [.notPassed, .passed, .passedOld, .settingOff, .factorOff, .emulator].contains(self)
    }
    var hasMethods: Bool { ![.anonymous, .firstMethod].contains(self) }
  }

  /// A user with a password, an email link, a phone number, an identity, and perhaps a factor.
  private struct User {
    let uid: String
    let email: String
    /// A new address, a new number, and the user's own number.
    let other: (email: String, number: String)
    let token: String
    let factor: String
  }

  private struct Call {
    let entry: SignInChange?
    /// The operation, and the members of the request that make it this change.
    let operation: String
    let members: [String]
    let body: @Sendable (TestServer, User) async throws -> JSON.Object
    /// The response if the account has a factor, in whatever session.
    var withFactor: String?

    init(
      _ entry: SignInChange?, _ operation: String, _ members: [String], withFactor: String? = nil,
      _ body: @escaping @Sendable (TestServer, User) async throws -> JSON.Object
    ) {
      (self.entry, self.operation, self.members) = (entry, operation, members)
      (self.body, self.withFactor) = (body, withFactor)
    }
  }

  private static let tooOld = "CREDENTIAL_TOO_OLD_LOGIN_AGAIN"
  private static let needsMail = "EMAIL_CHANGE_NEEDS_VERIFICATION"
  private static let unsupported =
    "UNSUPPORTED_FIRST_FACTOR : A phone number cannot be set as a first factor on an SMS based MFA "
    + "user."

  /// Every call with an ID token that changes how its user signs in, or could seem to.
  private static let calls: [Call] = [
    Call(.password, "accounts.update", ["password"]) { _, _ in ["password": "another horse"] },
    Call(.password, "accounts.update", ["deleteAttribute"]) { _, _ in
      ["deleteAttribute": ["PASSWORD"]]
    },
    Call(.password, "accounts.update", ["deleteProvider"]) { _, _ in
      ["deleteProvider": ["password"]]
    },
    // It has a password already, so nothing is linked.
    Call(.password, "accounts.signUp", []) { _, user in
      ["email": .string(user.email), "password": "another horse"]
    },
    Call(.address, "accounts.update", ["email"], withFactor: needsMail) { _, user in
      ["email": .string(user.other.email)]
    },
    Call(.address, "accounts.update", ["deleteAttribute"], withFactor: needsMail) { _, _ in
      ["deleteAttribute": ["EMAIL"]]
    },
    Call(.address, "accounts.sendOobCode", []) { _, user in
      ["requestType": "VERIFY_AND_CHANGE_EMAIL", "newEmail": .string(user.other.email)]
    },
    Call(.address, "accounts.signInWithEmailLink", []) { server, user in
      let code = try await server.code(
        "EMAIL_SIGNIN", user.other.email, ["continueUrl": "http://localhost/"])
      return ["email": .string(user.other.email), "oobCode": code["oobCode"] ?? nil]
    },
    Call(.phone, "accounts.update", ["deleteProvider"]) { _, _ in ["deleteProvider": ["phone"]] },
    Call(.phone, "accounts.signInWithPhoneNumber", [], withFactor: unsupported) { server, user in
      let sent = try await server.post(
        "/v1/accounts:sendVerificationCode", ["phoneNumber": .string(user.other.number)])
      return [
        "sessionInfo": sent["sessionInfo"] ?? nil, "code": .string(PhoneTests.code),
        "operation": "UPDATE",
      ]
    },
    Call(.deletion, "accounts.delete", []) { _, _ in [:] },
    Call(.unlinking, "accounts.update", ["deleteProvider"]) { _, _ in
      ["deleteProvider": ["google.com"]]
    },
    Call(.unlinking, "accounts.update", ["deleteAttribute"]) { _, _ in
      ["deleteAttribute": ["PROVIDER"]]
    },
    Call(.withdrawal, "accounts.mfaEnrollment.withdraw", []) { _, user in
      ["mfaEnrollmentId": .string(user.factor)]
    },
    Call(.recoveryCodes, "accounts.mfaRecoveryCodes.generate", []) { _, _ in [:] },
    Call(nil, "accounts.update", ["displayName", "photoUrl", "returnSecureToken"]) { _, _ in
      ["displayName": "Alice", "photoUrl": "https://example.com/a", "returnSecureToken": true]
    },
    Call(nil, "accounts.update", ["deleteAttribute"]) { _, _ in
      ["deleteAttribute": ["DISPLAY_NAME", "PHOTO_URL"]]
    },
    // The values that are there already.
    Call(nil, "accounts.update", ["email", "deleteProvider"]) { _, user in
      ["email": .string(user.email), "deleteProvider": ["facebook.com"]]
    },
    Call(nil, "accounts.sendOobCode", []) { _, _ in ["requestType": "VERIFY_EMAIL"] },
    Call(nil, "accounts.lookup", []) { _, _ in [:] },
    Call(nil, "accounts.mfaRecoveryCodes.lookup", []) { _, _ in [:] },
  ]

  /// Other calls that take an ID token, with the reason why they aren't changes.
  private static let others: [String: String] = [
    "accounts.signInWithIdp": "links an identity",
    "accounts.mfaEnrollment.start": "adds a factor",
    "accounts.mfaEnrollment.finalize": "adds a factor",
    "accounts.revokeToken": "is about a token of a provider",
  ]

  /// The members of `accounts.update` that change nothing of the kind with an ID token.
  private static let otherMembers: [String: String] = [
    "idToken": "names the user", "localId": "is ignored", "oobCode": "is proof itself",
    "emailVerified": "is ignored", "createdAt": "is ignored", "lastLoginAt": "is ignored",
    "phoneNumber": "is refused", "customAttributes": "is refused", "disableUser": "is refused",
    "validSince": "is refused", "linkProviderUserInfo": "is refused", "mfa": "is refused",
  ]

  @Test func `every call that takes an ID token is one of these, with all its members`()
    async throws
  {
    try await TestServer.with { server in
      let taking = server.api.operations.filter { operation in
        guard !operation.isDeprecated else { return false }
        switch operation.access {
        case .client, .either:
          return operation.declaration.request?.members.contains { $0.name == "idToken" } == true
        case .open, .emulator, .admin: return false
        }
      }
      let listed = Set(Self.calls.map(\.operation)).union(Self.others.keys)
      #expect(Set(taking.map(\.id)) == listed)
      let members = try #require((Methods.update as Declaration).request?.members.map(\.name))
      let known = Self.calls.filter { $0.operation == "accounts.update" }.flatMap(\.members)
      #expect(Set(members) == Set(known).union(Self.otherMembers.keys))
      #expect(Set(Self.calls.compactMap(\.entry)) == Set(SignInChange.allCases))
    }
  }

  /// The error of a call that changes how a user signs in; nil if it succeeds.
  private func refusal(of call: Call, _ situation: Situation) -> String? {
    if situation.hasFactor, let always = call.withFactor { return always }
    guard let entry = call.entry, situation != .emulator else { return nil }
    if entry == .recoveryCodes, situation == .factorOff {
      return "OPERATION_NOT_ALLOWED : TOTP based MFA not enabled."
    }
    let isRecent = [.password, .address, .deletion, .recoveryCodes].contains(entry)
    switch situation {
    case .notPassed: return Self.tooOld
    case .old, .passedOld: return isRecent ? Self.tooOld : nil
    case .settingOff: return entry == .recoveryCodes ? Self.tooOld : nil
    // Deleting an account adds no method to it.
    case .firstMethod: return entry == .deletion ? Self.tooOld : nil
    case .fresh, .passed, .factorOff, .anonymous, .emulator: return nil
    }
  }

  @Test(arguments: Situation.allCases)
  func `each change in each session`(situation: Situation) async throws {
    try await TestServer.with(situation == .emulator ? .emulator : .standalone) { server in
      try await prepare(server)
      let needsFactor: Set<SignInChange> = [.withdrawal, .recoveryCodes]
      let calls = Self.calls.filter { call in
        // Without a factor or a method there's nothing to remove.
        situation.hasFactor || call.entry.map { !needsFactor.contains($0) } ?? true
      }.filter { situation.hasMethods || Self.canBeFirst($0) }
      var users: [User] = []
      for index in calls.indices { users.append(try await user(index, situation, server)) }
      if situation.isOld { server.advance(seconds: 301) }
      switch situation {
      case .settingOff:
        _ = try await server.identity.pools.update(
          project: ID(TestServer.project), by: .program(Author(actor: .commandLine))
        ) { $0.changesNeedFactor = false }
      case .factorOff:
        let off: JSON = [
          "mfa": ["providerConfigs": [["state": "DISABLED", "totpProviderConfig": [:]]]]
        ]
        #expect(
          try await server.patch(TestServer.config + "?updateMask=mfa.providerConfigs", off).status
            == 200)
      default: break
      }
      for (call, user) in zip(calls, users) {
        var body = try await call.body(server, user)
        body["idToken"] = .string(user.token)
        let operation = try #require(server.api.operations.first { $0.id == call.operation })
        let before = try await notices(user, server)
        let answer = try await server.post(operation.path.template, .object(body))
        let expected = refusal(of: call, situation)
        #expect(answer.error == expected, "\(situation): \(call.operation) \(body)")
        guard call.entry != nil, situation.hasMethods else { continue }
        let told = try await notices(user, server).count > before.count
        #expect(told == (expected == nil), "\(situation): \(call.operation) \(body)")
      }
    }
  }

  /// Whether a call can be made for an account without any method.
  private static func canBeFirst(_ call: Call) -> Bool {
    switch call.operation {
    case "accounts.update": call.members == ["password"] || call.members == ["email"]
    case "accounts.delete", "accounts.signUp": true
    default: false
    }
  }

  /// Returns the emails that told a user of a change, and those to confirm or undo one.
  private func notices(_ user: User, _ server: TestServer) async throws -> [String] {
    try await server.database.read { connection in
      try connection.all(
        """
        SELECT /* test */ purpose FROM outbox
        WHERE recipient = \(user.email) OR recipient = \(user.other.email) ORDER BY message_id
        """
      ) { try $0.next() as String }
    }.filter { purpose in
      purpose.hasPrefix("notice-") && purpose != "notice-new-factor"
        || ["recover-email", "verify-new-email"].contains(purpose)
    }
  }

  @Test func `linking asks for nothing, and the user is told with a link to report it`()
    async throws
  {
    try await TestServer.with { server in
      try await prepare(server)
      // Her sign-in requires a factor, which custom tokens can't pass.
      let alice = try await user(0, .firstMethod, server)
      let factor = try await server.post(
        TestServer.accounts + ":update",
        [
          "localId": .string(alice.uid), "email": .string(alice.email), "emailVerified": true,
          "mfa": ["enrollments": [["phoneInfo": "+14155550199"]]],
        ], .owner)
      #expect(factor.status == 200, "\(factor.json)")
      #expect(
        try await server.patch(
          TestServer.config + "?updateMask=mfa.state,mfa.enabledProviders",
          ["mfa": ["state": "ENABLED", "enabledProviders": ["PHONE_SMS"]]]
        ).status == 200)
      let custom = try await customSession(alice.uid, server)
      let bob = try await user(1, .old, server)
      _ = try await server.post(
        TestServer.accounts + ":update",
        ["localId": .string(bob.uid), "deleteProvider": ["phone"]], .owner)
      server.advance(seconds: 301)
      let known = try await notices(bob, server)
      let sent = try await server.post(
        "/v1/accounts:sendVerificationCode", ["phoneNumber": .string(bob.other.number)])
      let phone = try await server.post(
        "/v1/accounts:signInWithPhoneNumber",
        [
          "idToken": .string(bob.token), "sessionInfo": sent["sessionInfo"] ?? nil,
          "code": .string(PhoneTests.code), "operation": "LINK",
        ])
      #expect(phone.status == 200, "\(phone.json)")
      let link = try await server.code(
        "EMAIL_SIGNIN", bob.email, ["continueUrl": "http://localhost/"])
      let linked = try await server.post(
        "/v1/accounts:signInWithEmailLink",
        [
          "idToken": phone["idToken"] ?? nil, "email": .string(bob.email),
          "oobCode": link["oobCode"] ?? nil,
        ])
      #expect(linked.status == 200, "\(linked.json)")
      #expect(
        try await notices(bob, server)
          == known + ["notice-phone-number-set", "notice-email-link-added"])
      let update: JSON = ["idToken": .string(custom), "password": "a new horse"]
      #expect(try await server.post("/v1/accounts:update", update).error == Self.tooOld)
      let password = try await server.post(
        "/v1/accounts:signUp",
        ["idToken": .string(custom), "email": .string(alice.email), "password": "a new horse"])
      #expect(password.status == 200, "\(password.json)")
      #expect(try await notices(alice, server).last == "notice-password-set")
      var links: [String] = []
      while let mail = try await server.identity.deliveries.claim() {
        if mail.body.contains("not-me?code=") { links.append(mail.recipient) }
      }
      #expect(links.count { $0 == bob.email } >= 2 && links.contains(alice.email))
      // It isn't a sign-in: what needs a recent one is still refused.
      let deletion = try await server.post(
        "/v1/accounts:delete", ["idToken": linked["idToken"] ?? nil])
      #expect(deletion.error == Self.tooOld)
    }
  }

  private func prepare(_ server: TestServer) async throws {
    try await server.configure(privacy: false)
    try await PhoneTests.switchOn(server)
    try await server.switchTOTPOn()
    try await server.allowBackupCodes()
    let numbers = (0..<40).map {
      ("+1202555\(String($0 + 1_000).suffix(3))0", JSON.string(PhoneTests.code))
    }
    var codes = JSON.Object()
    for (number, code) in numbers { codes.append(number, code) }
    let answer = try await server.patch(
      TestServer.config + "?updateMask=signIn.phoneNumber.testPhoneNumbers",
      ["signIn": ["phoneNumber": ["testPhoneNumbers": .object(codes)]]])
    #expect(answer.status == 200, "\(answer.json)")
  }
}

extension SignInChangeTests {
  private func user(
    _ index: Int, _ situation: Situation, _ server: TestServer
  ) async throws -> User {
    let name = "user\(index)"
    let other = (
      email: "other-\(name)@example.com", number: "+1202555\(String(index + 1_000).suffix(3))0"
    )
    switch situation {
    case .anonymous:
      let new = try await server.post("/v1/accounts:signUp", [:])
      return User(
        uid: try new.text("localId"), email: "\(name)@example.com", other: other,
        token: try new.text("idToken"), factor: "")
    case .firstMethod:
      if index == 0 {
        _ = try await server.identity.trustedTokenKeys.add(
          to: ID(TestServer.project), issuer: "backend@acme.example", keyID: nil,
          key: TestTokenIssuer.back.pem(), by: .program(Author(actor: .commandLine)))
      }
      return User(
        uid: name, email: "\(name)@example.com", other: other,
        token: try await customSession(name, server), factor: "")
    default: break
    }
    let person = try await server.addPerson(name)
    let change = try await server.post(
      TestServer.accounts + ":update",
      [
        "localId": .string(person.uid), "phoneNumber": .string("+1415555\(1_000 + index)"),
        "linkProviderUserInfo": ["providerId": "google.com", "rawId": .string(name)],
      ], .owner)
    #expect(change.status == 200, "\(change.json)")
    let token = try await server.signIn(person).text("idToken")
    guard situation.hasFactor else {
      return User(uid: person.uid, email: person.email, other: other, token: token, factor: "")
    }
    let enrolled = try await server.enroll(token)
    let passed = [.passed, .passedOld].contains(situation)
    return User(
      uid: person.uid, email: person.email, other: other,
      token: passed ? try enrolled.answer.text("idToken") : token, factor: enrolled.id)
  }

  private func customSession(_ uid: String, _ server: TestServer) async throws -> String {
    let token = try TestTokenIssuer.back.token(
      CustomTokenTests.payload(server, ["uid": .string(uid)]))
    return try await server.post(
      "/v1/accounts:signInWithCustomToken", ["token": .string(token), "returnSecureToken": true]
    ).text("idToken")
  }
}
