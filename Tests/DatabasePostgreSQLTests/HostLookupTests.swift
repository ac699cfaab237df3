import Testing

@testable import DatabasePostgreSQL

struct HostLookupTests {
  @Test(arguments: ["127.0.0.1", "::1"])
  func `an IP address is its own`(host: String) throws {
    #expect(try HostLookup.ips(of: host) == [host])
  }

  @Test func `the folder of a Unix socket has none`() throws {
    #expect(try HostLookup.ips(of: "/run/postgresql") == [nil])
  }

  @Test func `a name without an address is named`() {
    let error = #expect(throws: HostLookup.NotFound.self) {
      try HostLookup.ips(of: "database.invalid")
    }
    #expect(error?.reason.contains("\"database.invalid\"") == true)
  }
}
