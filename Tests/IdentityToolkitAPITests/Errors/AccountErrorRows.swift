import Identity
import JSON
import Testing

extension ErrorRow {
  /// Errors of creating, signing in to, and changing accounts.
  static let account: [ErrorRow] = [
    ErrorRow("EMAIL_EXISTS") { server in
      let alice = try await server.addPerson()
      return try await server.post(
        signUp, ["email": .string(alice.email), "password": "swordfish"])
    },
    ErrorRow("INVALID_EMAIL") { server in
      try await server.post(signUp, ["email": "no address", "password": "swordfish"])
    },
    ErrorRow("MISSING_EMAIL") { server in
      try await server.post(signUp, ["password": "swordfish"])
    },
    ErrorRow("MISSING_PASSWORD") { server in
      try await server.post(signUp, ["email": "bob@example.com"])
    },
    ErrorRow("WEAK_PASSWORD") { server in
      try await server.post(signUp, ["email": "bob@example.com", "password": "short"])
    },
    ErrorRow("ADMIN_ONLY_OPERATION") { server in
      try await server.configure(
        "signIn.anonymous.enabled", ["signIn": ["anonymous": ["enabled": false]]])
      return try await server.post(signUp, [:])
    },
    ErrorRow("PASSWORD_LOGIN_DISABLED") { server in
      let alice = try await server.addPerson()
      try await server.configure(
        "signIn.email.enabled", ["signIn": ["email": ["enabled": false]]])
      return try await server.signIn(alice)
    },
    ErrorRow("INVALID_LOGIN_CREDENTIALS") { server in
      try await server.signIn(Person(email: "nobody@example.com", uid: ""))
    },
    ErrorRow("EMAIL_NOT_FOUND") { server in
      try await server.hideNobody()
      return try await server.signIn(Person(email: "nobody@example.com", uid: ""))
    },
    ErrorRow("INVALID_PASSWORD") { server in
      try await server.hideNobody()
      let alice = try await server.addPerson()
      return try await server.post(
        signIn, ["email": .string(alice.email), "password": "something else"])
    },
    ErrorRow("TOO_MANY_ATTEMPTS_TRY_LATER") { server in
      let alice = try await server.addPerson()
      let wrong: JSON = ["email": .string(alice.email), "password": "something else"]
      for _ in 0..<30 {
        let answer = try await server.post(signIn, wrong)
        guard answer.error == "INVALID_LOGIN_CREDENTIALS" else { return answer }
      }
      return try await server.post(signIn, wrong)
    },
    ErrorRow("USER_NOT_FOUND") { server in
      let (alice, token) = try await server.session()
      _ = try await server.post(
        TestServer.accounts + ":delete", ["localId": .string(alice.uid)], .owner)
      return try await server.post(lookup, ["idToken": token])
    },
    ErrorRow("INVALID_ID_TOKEN") { server in
      try await server.post(lookup, ["idToken": "garbage"])
    },
    ErrorRow("TOKEN_EXPIRED") { server in
      let (alice, token) = try await server.session()
      server.advance(seconds: 2)
      _ = try await server.change(
        alice.uid, ["validSince": .string(String(server.now.seconds))])
      return try await server.post(lookup, ["idToken": token])
    },
    ErrorRow("CLAIMS_TOO_LARGE") { server in
      let alice = try await server.addPerson()
      let text = #"{"a":"\#(String(repeating: "x", count: 1000))"}"#
      return try await server.change(alice.uid, ["customAttributes": .string(text)])
    },
    ErrorRow("INVALID_CLAIMS") { server in
      let alice = try await server.addPerson()
      return try await server.change(alice.uid, ["customAttributes": "[]"])
    },
    ErrorRow("FORBIDDEN_CLAIM") { server in
      let alice = try await server.addPerson()
      return try await server.change(alice.uid, ["customAttributes": #"{"sub":"x"}"#])
    },
    ErrorRow("MISSING_USER_ACCOUNT") { server in
      try await server.post(TestServer.accounts + ":batchCreate", ["users": []], .owner)
    },
    ErrorRow("DUPLICATE_EMAIL") { server in
      let body: JSON = [
        "sanityCheck": true,
        "users": [
          ["localId": "one", "email": "a@example.com"],
          ["localId": "two", "email": "a@example.com"],
        ],
      ]
      return try await server.post(TestServer.accounts + ":batchCreate", body, .owner)
    },
    ErrorRow("DUPLICATE_LOCAL_ID") { server in
      let alice = try await server.addPerson()
      return try await server.post(
        TestServer.accounts, ["localId": .string(alice.uid)], .owner)
    },
    ErrorRow("PHONE_NUMBER_EXISTS") { server in
      let body: JSON = ["phoneNumber": "+15551230001"]
      _ = try await server.post(TestServer.accounts, body, .owner)
      return try await server.post(TestServer.accounts, body, .owner)
    },
    ErrorRow("INVALID_PHONE_NUMBER") { server in
      try await server.post(TestServer.accounts, ["phoneNumber": "12"], .owner)
    },
    ErrorRow("MISSING_LOCAL_ID") { server in
      try await server.post(TestServer.accounts + ":delete", [:], .owner)
    },
    ErrorRow("EMAIL_CHANGE_NEEDS_VERIFICATION") { server in
      try await server.hideNobody()
      let alice = try await server.waiting()
      return try await server.post(
        update,
        ["idToken": alice.enrolled.answer["idToken"] ?? nil, "email": "other@example.com"])
    },
    ErrorRow("PASSWORD_DOES_NOT_MEET_REQUIREMENTS") { server in
      try await server.configure(
        "passwordPolicyConfig",
        [
          "passwordPolicyConfig": [
            "passwordPolicyEnforcementState": "ENFORCE",
            "passwordPolicyVersions": [
              ["customStrengthOptions": ["minPasswordLength": 12]]
            ],
          ]
        ])
      return try await server.post(
        signUp, ["email": "bob@example.com", "password": "swordfish"])
    },
  ]
}
