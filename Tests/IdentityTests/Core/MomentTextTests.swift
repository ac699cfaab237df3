import Identity
import Testing

struct MomentTextTests {
  @Test(arguments: [
    ("2026-09-24T10:15:00.123456Z", "2026-09-24T10:15:00.123456Z"),
    ("2026-09-24T10:15:00Z", "2026-09-24T10:15:00.000000Z"),
    ("2026-09-24t10:15:00.5z", "2026-09-24T10:15:00.500000Z"),
    ("2026-09-24T10:15:00.1234569Z", "2026-09-24T10:15:00.123456Z"),
    ("2026-09-24T12:15:00+02:00", "2026-09-24T10:15:00.000000Z"),
    ("2026-09-23T23:45:00-10:30", "2026-09-24T10:15:00.000000Z"),
  ])
  func `an RFC 3339 timestamp is parsed`(text: String, expected: String) throws {
    #expect(try #require(Instant(rfc3339: text)).rfc3339 == expected)
  }

  @Test(arguments: [
    "", "2026-09-24", "2026-09-24T10:15:00", "2026-09-24 10:15:00Z", "2026-13-24T10:15:00Z",
    "2026-09-24T24:15:00Z", "2026-09-24T10:15:00.Z", "2026-09-24T10:15:00+0200",
    "2026-09-24T10:15:00Z ", "2026-09-24T1٠:15:00Z", "yesterday at a quarter past",
  ])
  func `an invalid timestamp is rejected`(text: String) {
    #expect(Instant(rfc3339: text) == nil)
  }
}
