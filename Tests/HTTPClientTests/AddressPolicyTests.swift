import Network
import Testing

@testable import HTTPClient

struct AddressPolicyTests {
  @Test(arguments: [
    "127.0.0.1", "10.1.2.3", "172.31.255.255", "192.168.0.1", "100.64.0.1", "100.100.100.200",
    "169.254.169.254", "168.63.129.16", "0.0.0.0", "0.1.2.3", "192.0.0.192", "198.18.0.1",
    "224.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fec0::1", "fd00:ec2::254", "fc00::1",
    "ff02::1", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "64:ff9b::7f00:1",
    "64:ff9b:1::808:808", "2001:db8::1", "2001::1", "2002:7f00:1::1", "::7f00:1", "100::1",
  ])
  func `private, local, and metadata addresses are refused`(_ text: String) throws {
    #expect(!AddressPolicy().allows(try #require(NetworkAddress(text))))
  }

  @Test(arguments: [
    "1.1.1.1", "172.32.0.1", "100.128.0.1", "192.0.1.1", "2606:4700::1111", "2a00:1450::1",
    "64:ff9b::808:808", "168.63.129.17",
  ])
  func `global addresses are allowed`(_ text: String) throws {
    #expect(AddressPolicy().allows(try #require(NetworkAddress(text))))
  }

  @Test func `an allowed range opens only itself`() throws {
    let policy = AddressPolicy(allowing: [try #require(AddressRange("10.1.0.0/16"))])
    #expect(policy.allows(try #require(NetworkAddress("10.1.2.3"))))
    #expect(!policy.allows(try #require(NetworkAddress("10.2.0.1"))))
    #expect(!policy.allows(try #require(NetworkAddress("169.254.169.254"))))
    #expect(policy.allows(try #require(NetworkAddress("1.1.1.1"))))
  }
}
