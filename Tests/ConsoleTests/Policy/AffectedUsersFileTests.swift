import HTTP
import Localization
import Testing

@testable import Console
@testable import Identity

/// The file of affected users of large pools.
@Suite struct AffectedUsersFileTests {
  private func file(
    of count: Int, atMost longest: Int
  ) async throws -> (lines: [Substring], rows: Int) {
    let users = (0..<count).map { number in
      AffectedUser(
        account: ID("u\(number)"), email: "user\(number)@example.com", displayName: nil, reach: 2,
        distance: -2, codes: 1)
    }
    let file = try await AffectedUsersPage.file(
      .english, atMost: longest
    ) { after, limit in
      let first = after.flatMap { Int($0) } ?? 0
      let end = min(first + min(limit, 2), count)
      return Page(items: Array(users[first..<end]), next: end < count ? String(end) : nil)
    }
    let body = file.file.response(named: "affected-users").body.bytes
    return (String(decoding: body, as: UTF8.self).split(separator: "\r\n"), file.rows)
  }

  @Test func `a file that ends before the last user says so in its last row`() async throws {
    let cut = try await file(of: 4, atMost: 3)
    #expect(cut.rows == 3 && cut.lines.count == 5)
    #expect(cut.lines[3].contains("user2@example.com"))
    #expect(
      cut.lines[4]
        == "\"Incomplete: only the first 3 rows are included.\",\"\",\"\",\"\",\"\",\"\"")
    let whole = try await file(of: 3, atMost: 3)
    #expect(whole.rows == 3 && whole.lines.count == 4)
    #expect(!whole.lines.contains { $0.contains("Incomplete") })
  }
}
