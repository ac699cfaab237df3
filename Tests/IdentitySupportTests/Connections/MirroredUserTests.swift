import Crypto
import Database
import JSON
import TestDatabases
import Testing

@testable import Identity
@testable import IdentityToolkitClient
@testable import TestIdentity

private func mirrored(_ members: [String: JSON] = [:], totp: Bool = false) -> MirroredUser {
  MirroredUser(RemoteUser(.object(TestRemote.user("a", totp: totp, members))))
}

struct MirroredUserTests {
  /// Each member that the mirror keeps, with another value.
  private static let kept: [String: JSON] = [
    "email": "b@example.com", "emailVerified": false,
    "phoneNumber": "+15555550100", "displayName": "A", "photoUrl": "https://example.com/a",
    "disabled": true, "emailLinkSignin": true, "customAuth": true, "createdAt": "1700000000001",
    "lastLoginAt": "1700000000002", "validSince": "1700000001",
    "providerUserInfo": [["providerId": "google.com", "rawId": "1"]],
    "mfaInfo": [["mfaEnrollmentId": "1", "totpInfo": [:]]],
  ]

  @Test(arguments: kept.keys.sorted())
  func `a change of what the mirror keeps changes the digest`(member: String) throws {
    let new = try #require(Self.kept[member])
    #expect(mirrored([member: new]).digest != mirrored().digest)
  }

  @Test(arguments: ["passwordHash", "salt", "customAttributes", "lastRefreshAt", "version"])
  func `what the mirror doesn't keep changes nothing`(member: String) {
    #expect(mirrored([member: "x"]).digest == mirrored().digest)
  }

  @Test func `nil, empty texts, and texts in other fields have different digests`() {
    let texts: [[String: JSON]] = [
      [:], ["displayName": "x"], ["photoUrl": "x"], ["phoneNumber": "x"],
      ["displayName": "xy"], ["displayName": "x", "photoUrl": "y"],
    ]
    #expect(Set(texts.map { mirrored($0).digest }).count == texts.count)
  }

  @Test func `long texts are cut at a character, and NUL is replaced`() throws {
    let long = String(repeating: "é", count: 2_000)
    let user = mirrored([
      "displayName": .string(long), "phoneNumber": .string("+1\0" + long),
      "photoUrl": .string(String(repeating: "p", count: 2_048)),
    ]).user
    #expect(user.displayName?.utf8.count == 1_024)
    #expect(user.displayName?.unicodeScalars.allSatisfy { $0 == "é" } == true)
    #expect(user.phoneNumber?.utf8.count ?? 0 <= 1_024)
    #expect(user.phoneNumber?.hasPrefix("+1\u{FFFD}é") == true)
    #expect(user.photoURL?.utf8.count == 2_048)
    #expect(MirroredUser.kept(String(repeating: "p", count: 2_049), longest: 2_048)?.count == 1_024)
  }

  @Test func `only factors that can be shown are kept`() {
    let user = mirrored([
      "mfaInfo": [
        ["mfaEnrollmentId": "1", "totpInfo": [:]], ["mfaEnrollmentId": "1", "phoneInfo": "+1555"],
        ["mfaEnrollmentId": "2", "somethingNew": [:]], ["phoneInfo": "+1555"],
        ["mfaEnrollmentId": "3", "phoneInfo": "+1555", "displayName": " "],
      ]
    ])
    #expect(user.factors.map(\.id.text) == ["1", "3"])
    #expect(user.factors.map(\.kind) == [.totp, .phone])
    #expect(user.factors[1].displayName == nil)
  }

  @Test(
    arguments: [
      ("", .missing), (String(repeating: "u", count: 513), .long), ("a\0b", .nul), ("a", nil),
      (String(repeating: "u", count: 512), nil), ("a/b c", nil),
    ] as [(String, MirrorFault?)])
  func `which UIDs can be stored`(uid: String, fault: MirrorFault?) {
    #expect(MirroredUser.fault(of: uid) == fault)
  }

  @Test func `texts that imports refuse are mirrored as they are`() async throws {
    try await withInstance { instance in
      let odd: [String: JSON] = [
        "email": "not an address", "phoneNumber": "123",
        "displayName": .string(String(repeating: "n", count: 300)),
        "providerUserInfo": [
          ["providerId": "password", "rawId": "x"], ["providerId": "phone"],
          ["providerId": "password", "rawId": "y"],
        ],
      ]
      instance.remote.set(TestRemote.user("a b/../c", totp: true, odd))
      let pool = try await instance.connect()
      #expect(try await instance.sync(pool) == nil)
      let user = try #require(try await instance.mirrored(pool).first)
      #expect(user.id.text == "a b/../c" && user.email == "not an address")
      #expect(user.phoneNumber == "123" && user.displayName?.count == 300)
      #expect(user.providers.map(\.rawID) == ["y", "123"])
      #expect(user.factors.count == 1)
    }
  }

  /// The remote changes at random, pages are small, and users are read one by one in between.
  @Test(arguments: [1, 2, 3, 4] as [UInt64]) func `the mirror converges`(seed: UInt64) async throws
  {
    try await withInstance { instance in
      let (remote, dice) = (instance.remote, Dice(seed: seed).source)
      func below(_ limit: Int) -> Int { Int(dice.bytes(1)[0]) % limit }
      let pool = try await instance.connect()
      remote.behavior.pageSize = 7
      for _ in 0..<8 {
        for _ in 0..<20 {
          let name = numbered(below(40))
          guard below(4) > 0 else {
            remote.remove(name)
            continue
          }
          remote.set(
            TestRemote.user(
              name, email: "\(below(20))@example.com", totp: below(2) == 0,
              phone: below(3) == 0 ? "+1555555010\(below(9))" : nil,
              createdAt: 1_700_000_000_000 + Int64(below(8) == 0 ? 1 : 0),
              ["disabled": .bool(below(5) == 0)]))
        }
        if try await instance.sync(pool) != nil {
          let walk = try await instance.mirror(pool).walk
          _ = try await instance.identity.connections.acceptGone(
            from: pool, of: pool, walk: walk, by: Instance.program)
        }
      }
      #expect(try await instance.sync(pool) == nil)
      let expected = (remote.behavior.users[""] ?? [:]).mapValues {
        MirroredUser(RemoteUser(.object($0)))
      }
      let present = try await instance.mirrored(pool).filter { $0.goneAt == nil }
      #expect(present.map(\.id.text) == expected.keys.sorted())
      for account in present {
        let user = try #require(expected[account.id.text])
        #expect(account.email == user.user.email && account.disabled == user.user.disabled)
        #expect(account.factors.map(\.id.text).sorted() == user.factors.map(\.id.text).sorted())
        #expect(account.createdAt == user.user.createdAt)
      }
    }
  }
}
