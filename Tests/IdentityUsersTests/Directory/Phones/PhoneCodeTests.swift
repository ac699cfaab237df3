import Crypto
import Database
import Identity
import OTP
import Testing

@testable import TestIdentity

/// Text messages with codes and their limits.
struct PhoneCodeTests {
  private func send(
    _ instance: Instance, _ number: String, from address: ClientAddress = "203.0.113.5"
  ) async throws {
    _ = try await instance.identity.signIns.sendCode(
      instance.acme, instance.request(number, from: address))
  }

  @Test func `a text message is created, except for test phone numbers`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      try await send(instance, Instance.number)
      #expect(try await instance.messages() == [])
      try await send(instance, "+4915799999999")
      #expect(try await instance.messages() == ["sms sms-sign-in +4915799999999"])
    }
  }

  @Test func `after five messages, a number has to wait longer for each further one`() async throws
  {
    try await withInstance { instance in
      try await instance.allowPhones()
      for _ in 0..<5 { try await send(instance, "+4915799999999") }
      for wait in [60, 120] as [Int64] {
        instance.clock.advance(wait - 1)
        await expect("quotaExceeded") { try await send(instance, "+4915799999999") }
        instance.clock.advance(1)
        try await send(instance, "+4915799999999")
      }
      try await send(instance, "+4915799999998")
      // Test phone numbers aren't limited.
      for _ in 0..<20 { try await send(instance, Instance.number) }
    }
  }

  @Test func `a network gets 50 messages of all pools, without limiting another`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      // In several regions, since one has only ten messages an hour that anyone can request.
      let regions = ["1202555", "20222", "33111", "3491", "3906", "44207", "49301", "7495", "8101"]
      let numbers = (0..<60).map { "+\(regions[$0 % regions.count])\(1_000 + $0)" }
      @Sendable func send(
        _ number: String, to pool: Pool, from address: ClientAddress = "203.0.113.5"
      ) async throws {
        let request = instance.request(number, from: address)
        _ = try await instance.identity.signIns.sendCode(pool, request)
      }
      for number in numbers[..<27] { try await send(number, to: instance.acme) }
      for number in numbers[27..<50] { try await send(number, to: instance.globex) }
      for number in numbers[50...] {
        await expect("quotaExceeded") { try await send(number, to: instance.globex) }
      }
      // Messages that weren't sent don't count against the number.
      for _ in 0..<5 {
        try await send(numbers[59], to: instance.globex, from: "198.51.100.1")
      }
    }
  }

  @Test func `an account gets ten messages across all numbers`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      _ = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      for number in 0..<10 {
        _ = try await instance.identity.enrollments.startPhone(
          session, instance.request("+4915799\(100_000 + number)"))
      }
      await expect("quotaExceeded") {
        try await instance.identity.enrollments.startPhone(
          session, instance.request("+4915799200000"))
      }
    }
  }

  @Test(arguments: [
    (#"{"allowlistOnly":{"allowedRegions":["DE","ca"]}}"#, "+4915712345678", "done"),
    (#"{"allowlistOnly":{"allowedRegions":["DE","ca"]}}"#, "+14165550123", "done"),
    (#"{"allowlistOnly":{"allowedRegions":["DE","ca"]}}"#, "+12025550123", "regionNotAllowed"),
    (#"{"allowlistOnly":{"allowedRegions":["DE"]}}"#, "+99912345678", "regionNotAllowed"),
    (#"{"allowlistOnly":{}}"#, "+4915712345678", "regionNotAllowed"),
    (#"{"allowByDefault":{"disallowedRegions":["KZ"]}}"#, "+77012345678", "regionNotAllowed"),
    (#"{"allowByDefault":{"disallowedRegions":["KZ"]}}"#, "+74951234567", "done"),
    (#"{"allowByDefault":{"disallowedRegions":["GB"]}}"#, "+441534123456", "done"),
    (#"{"allowByDefault":{"disallowedRegions":["JE"]}}"#, "+441534123456", "regionNotAllowed"),
    (#"{"allowByDefault":{}}"#, "+99912345678", "done"),
    (#"{"allowByDefault":{"disallowedRegions":["MF"]}}"#, "+590590123456", "regionNotAllowed"),
    (#"{"allowlistOnly":{"allowedRegions":["BL"]}}"#, "+590590123456", "done"),
    (#"{"allowlistOnly":{"allowedRegions":["VA"]}}"#, "+390669812345", "done"),
    (#"{"allowlistOnly":{"allowedRegions":["VA"]}}"#, "+390612345678", "regionNotAllowed"),
  ])
  func `messages are sent only to allowed regions`(
    config: String, number: String, expected: String
  ) async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      try await instance.setMembers(#"{"smsRegionConfig":\#(config)}"#)
      await expect(expected) { try await send(instance, number) }
    }
  }

  @Test func `the emulator profile sends nothing and lists codes until they are used`() async throws
  {
    try await withEmulator { identity in
      let pool = try await identity.pools.find(project: ID("demo-project"))
      let request = PhoneRequest(
        phoneNumber: "+4915799999999", language: "en", address: "127.0.0.1")
      for _ in 0..<60 { _ = try await identity.signIns.sendCode(pool, request) }
      let codes = try await identity.signIns.verificationCodes(pool)
      #expect(codes.count == 60)
      #expect(Set(codes.map(\.code)).count > 50)
      #expect(codes.allSatisfy { $0.code.count == 6 && $0.phoneNumber == "+4915799999999" })
      let code = try #require(codes.last)
      let proof = PhoneProof.code(sessionInfo: code.sessionInfo, code: TypedCode(code.code))
      _ = try await identity.signIns.phone(
        pool, PhoneSignIn(proof: proof, purpose: .signIn), by: Instance.visitor)
      #expect(try await identity.signIns.verificationCodes(pool).count == 59)
    }
  }

  @Test func `a code is stored only in the sealed message`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      try await send(instance, "+4915799999999")
      let codes = try await instance.database.read { connection in
        try connection.first("SELECT /* test */ count(*) FROM verification_code") {
          try $0.next() as Int
        }
      }
      #expect(codes == 0)
    }
  }
}
