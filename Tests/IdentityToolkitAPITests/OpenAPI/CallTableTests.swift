import Foundation
import Identity
import Testing

@testable import IdentityToolkitAPI

/// Verifies that the tables in `docs/api.md` list every call, and no other.
struct CallTableTests {
  @Test func `docs/api.md lists every route of the API, and no other`() async throws {
    let operations = try await TestServer.with(.emulator) { $0.api.operations }
    let calls = Set(operations.map { Self.call("\($0.method)", $0.path.template) })
    #expect(calls.count > 80)
    // The page says once which calls of a project a tenant has too, and that the configurations of
    // providers are available by ID.
    let own = calls.filter { call in
      let ofProject = call.replacing("/tenants/{}", with: "")
      return (ofProject == call || !calls.contains(ofProject))
        && !call.hasSuffix("IdpConfigs/{}") && !call.hasSuffix("SamlConfigs/{}")
    }
    let documented = try Self.documented()
    #expect(own.subtracting(documented).sorted() == [], "not in docs/api.md")
    #expect(documented.subtracting(calls).sorted() == [], "not routes")
  }

  /// Returns a call with its parameters unnamed, which the page abbreviates.
  private static func call(_ method: some StringProtocol, _ path: some StringProtocol) -> String {
    "\(method) \(path)".replacing(#/\{\w+\}/#, with: "{}")
  }

  /// Returns the calls in the tables: `GET, PATCH /path` in the first column of a row.
  private static func documented() throws -> Set<String> {
    let path = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../docs/api.md")
    let page = try String(contentsOf: path, encoding: .utf8)
    var calls: Set<String> = []
    for row in page.matches(of: #/\n\| `([A-Z, ]+) (/[^`]*)`/#) {
      for method in row.1.split(separator: ", ") { calls.insert(call(method, row.2)) }
    }
    return calls
  }
}
