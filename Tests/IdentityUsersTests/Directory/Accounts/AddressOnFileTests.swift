import Identity
import Testing

@testable import TestIdentity

struct AddressOnFileTests {
  @Test(arguments: [
    ("alice@example.com", true), ("Alice@EXAMPLE.com", true), ("alice@example.com. ", true),
    ("ａlice@example.com", true), ("alice@example。com", true), ("bob@example.com", false),
    ("alicf@example.com", false), ("alice@example.co", false), ("alice@exámple.com", false),
    ("", false), (". ", false),
  ])
  func `an address is recognized in any spelling`(address: String, isOnFile: Bool) async throws {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      #expect(account.email == "alice@example.com")
      #expect(account.hasOnFile(address) == isOnFile)
    }
  }
}
