import Testing

@testable import Identity
@testable import TestIdentity

struct NetworkTests {
  @Test(
    arguments: [
      ("203.0.113.5", "203.0.113.5"), ("", ""), ("unix", "unix"), ("address 7", "address 7"),
      ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
      ("2001:0DB8:0001:0002::1", "2001:db8:1:2::/64"),
      ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"), ("2001:db8::1", "2001:db8:0:0::/64"),
      ("fe80::1%eth0", "fe80:0:0:0::/64"), ("::1", "0:0:0:0::/64"), ("::", "0:0:0:0::/64"),
      ("::ffff:203.0.113.5", "203.0.113.5"), ("::ffff:cb00:7105", "203.0.113.5"),
      ("1:2:3:4:5:6:7", "1:2:3:4:5:6:7"), ("1::2::3", "1::2::3"), (":", ":"), ("1:", "1:"),
      ("12345::", "12345::"), ("::1.2.3", "::1.2.3"), ("::1.2.3.256", "::1.2.3.256"),
      ("1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8:9"), ("1:2:3:4:5:6:7:8::", "1:2:3:4:5:6:7:8::"),
      ("::+1", "::+1"), ("::-1", "::-1"),
      (String(repeating: "x", count: 100_000), String(repeating: "x", count: 45)),
    ])
  func `a network is named by its IPv4 address or IPv6 /64 prefix`(address: String, name: String) {
    #expect(Network.name(of: address) == name)
  }

  @Test func `many addresses of one network share one limit`() async throws {
    try await withInstance { instance in
      let outcomes = try await concurrently(120) { number in
        await outcome {
          try await instance.identity.signIns.password(
            instance.acme, email: "user\(number)@example.com", password: Person.wrong,
            address: "2001:db8:1:2::\(String(number + 1, radix: 16))")
        }
      }
      #expect(outcomes.tally == ["emailNotFound": 100, "tooManyAttempts": 20])
    }
  }

  @Test func `in the emulator, only passwords for the same name share a limit`() async throws {
    try await withEmulator { identity in
      let pool = try await identity.pools.find(project: ID("demo-project"))
      let outcomes = try await concurrently(120) { number in
        await outcome {
          try await identity.signIns.password(
            pool, email: "user\(number)@example.com", password: Person.wrong,
            address: "127.0.0.1")
        }
      }
      #expect(outcomes.tally == ["emailNotFound": 120])
      var taken = NewAccount()
      (taken.email, taken.password) = (Person.bob.email, Person.bob.password)
      let visitor = Author(actor: .visitor, address: "127.0.0.1")
      _ = try await identity.signIns.signUp(pool, taken, by: visitor)
      let new = taken
      let signUps = try await concurrently(120) { _ in
        await outcome { try await identity.signIns.signUp(pool, new, by: visitor) }
      }
      #expect(signUps.tally == ["emailExists": 120])
      let same = try await concurrently(20) { _ in
        await outcome {
          try await identity.signIns.password(
            pool, email: "alice@example.com", password: Person.wrong, address: "127.0.0.1")
        }
      }
      #expect(same.tally == ["emailNotFound": 10, "tooManyAttempts": 10])
    }
  }

  @Test(arguments: ["203.0.113.5", "0.0.0.0", "2001:db8::1", "::ffff:203.0.113.5", "::1", "::"])
  func `a valid IP address is recognized`(text: String) { #expect(Network.isAddress(text)) }

  @Test(arguments: [
    "", "unix", "203.0.113", "203.0.113.256", "203.0.113.05", "203.0.113.5:443", "[::1]",
    "::1%eth0",
    "203.0.113.5, 10.0.0.1", " 203.0.113.5", "1:2:3:4:5:6:7", "+1.2.3.4", "203.0.113.5\u{301}",
  ])
  func `anything else isn't an IP address`(text: String) { #expect(!Network.isAddress(text)) }
}
