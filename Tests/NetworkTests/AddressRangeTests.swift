import Testing

@testable import Network

struct AddressRangeTests {
  @Test(arguments: [
    ("192.0.2.7", "192.0.2.7", true), ("192.0.2.7", "192.0.2.8", false),
    ("10.0.0.0/8", "10.255.1.2", true), ("10.0.0.0/8", "11.0.0.1", false),
    ("10.1.2.3/8", "10.9.9.9", true), ("0.0.0.0/0", "203.0.113.1", true),
    ("0.0.0.0/0", "2001:db8::1", false), ("fd00::/8", "fdab::1", true),
    ("fd00::/8", "fe80::1", false), ("2001:db8::/64", "2001:db8::ffff:1", true),
    ("2001:db8::/64", "2001:db8:0:1::1", false), ("::1", "::1", true),
    ("127.0.0.1", "::ffff:127.0.0.1", true), ("2001:db8::8/127", "2001:db8::9", true),
    ("2001:db8::8/127", "2001:db8::a", false), ("::/0", "2001:db8::1", true),
  ])
  func `a range contains the addresses with its prefix`(
    _ range: String, _ address: String, _ isIn: Bool
  ) throws {
    let range = try #require(AddressRange(range))
    #expect(range.contains(try #require(NetworkAddress(address))) == isIn)
  }

  @Test(arguments: [
    "", "proxy", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "/8", "10.0.0.0/8/8", "10.0.0", "1",
    "300.1.1.1", "10.0.0.0/08x", "::1/129", "::g", "[::1]", "10.0.0.1:80", " 10.0.0.1",
    "fe80::1%eth0",
    "10.0.0.0/0008", "10.0.0.0/+8", "\u{661}0.0.0.1", "127.0.0.1\u{0}",
  ])
  func `an invalid range is refused`(_ text: String) {
    #expect(AddressRange(text) == nil)
  }
}
