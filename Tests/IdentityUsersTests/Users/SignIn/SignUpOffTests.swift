import Database
import Identity
import Testing

@testable import TestIdentity

/// Codes to sign in while users can't sign up.
struct SignUpOffTests {
  /// A way to get a code to sign in, which creates an account if the address has none.
  struct Way: CustomTestStringConvertible {
    let testDescription: String
    let known: String
    let unknown: String
    let refusal: String
    let send: @Sendable (Instance, String, _ hidingUsers: Bool) async throws -> Void
  }

  /// Every kind of emailed code, with whether it creates an account.
  private static func creates(_ kind: OutOfBandCode.Kind) -> Bool {
    switch kind {
    case .signIn: true
    case .passwordReset, .verifyEmail, .changeEmail, .recoverEmail, .revertFactor: false
    }
  }

  static let ways =
    OutOfBandCode.Kind.allCases.filter(creates).map { kind in
      Way(
        testDescription: kind.rawValue, known: "alice@example.com", unknown: "new@example.com",
        refusal: "account.adminOnly"
      ) { instance, email, hidingUsers in
        _ = try await instance.identity.outOfBandCodes.send(
          OutOfBandRequest(kind, for: .email(email)), in: instance.acme, hidingUsers: hidingUsers,
          from: "203.0.113.5")
      }
    } + [
      Way(
        testDescription: "SMS", known: "+4915799999999", unknown: "+4915788888888",
        refusal: "adminOnly"
      ) { instance, number, _ in
        _ = try await instance.identity.signIns.sendCode(instance.acme, instance.request(number))
      }
    ]

  @Test(arguments: ways)
  func `an address without an account gets no code`(way: Way) async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      var new = NewAccount()
      new.email = "alice@example.com"
      new.phoneNumber = "+4915799999999"
      _ = try await instance.identity.accounts.create(
        instance.acme, new, by: .program(Instance.boss))
      for hidesUsers in [true, false] {
        _ = try await instance.identity.pools.update(
          project: instance.acme.project, by: .program(Instance.boss)
        ) {
          $0.userPermissions.signUp = false
          $0.signIn.emailLink = true
          $0.emailPrivacy = hidesUsers
        }
        let before = try await instance.messages()
        let codes = try await Self.codes(instance)
        // With email enumeration protection, the response is that of a message that was sent.
        if hidesUsers {
          try await way.send(instance, way.unknown, true)
        } else {
          await expect(way.refusal) { try await way.send(instance, way.unknown, false) }
        }
        #expect(try await instance.messages() == before)
        #expect(try await Self.codes(instance) == codes)
        try await way.send(instance, way.known, hidesUsers)
        #expect(try await instance.messages().count == before.count + 1)
      }
    }
  }

  private static func codes(_ instance: Instance) async throws -> Int? {
    try await instance.database.read { connection in
      try connection.first("SELECT /* test */ count(*) FROM oob_code") { try $0.next() as Int }
    }
  }

  @Test func `the allowed regions are those of test numbers, too`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      try await instance.setMembers(
        """
        {"signIn":{"phoneNumber":{"testPhoneNumbers":{"\(Instance.number)":"\(Instance.code)",\
        "\(Instance.otherNumber)":"\(Instance.code)"}}},\
        "smsRegionConfig":{"allowlistOnly":{"allowedRegions":["US"]}}}
        """)
      await expect("regionNotAllowed") {
        try await instance.identity.signIns.sendCode(instance.acme, instance.request())
      }
      _ = try await instance.identity.signIns.sendCode(
        instance.acme, instance.request(Instance.otherNumber))
      #expect(try await instance.messages() == [])
    }
  }
}
