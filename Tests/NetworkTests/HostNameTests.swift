import Testing

@testable import Network

struct HostNameTests {
  @Test(arguments: ["localhost", "127.0.0.1", "127.9.8.7", "::1"])
  func `this machine's names are loopback`(_ host: String) { #expect(HostName.isLoopback(host)) }

  @Test(arguments: [
    "127.0.0.1.example.com", "127.example.com", "127.a.example.com", "127.0.0.x",
    "127.0.0.256", "10.0.0.1", "::2", "", "local",
  ])
  func `other names aren't loopback`(_ host: String) { #expect(!HostName.isLoopback(host)) }

  @Test(arguments: ["", "a b", "a_b", "é", "a:1", "a/b"])
  func `other characters aren't a name`(_ host: String) { #expect(!HostName.isValid(host)) }
}
