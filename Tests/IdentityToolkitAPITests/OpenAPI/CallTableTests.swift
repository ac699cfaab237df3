import Foundation
import Identity
import Testing

@testable import IdentityToolkitAPI

/// Verifies that the tables in `docs/api.md` list every call with its credential, and no other.
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
    let documented = Set(try Self.documented().keys)
    #expect(own.subtracting(documented).sorted() == [], "not in docs/api.md")
    #expect(documented.subtracting(calls).sorted() == [], "not routes")
  }

  @Test func `docs/api.md names the credential that every route accepts`() async throws {
    let operations = try await TestServer.with(.emulator) { $0.api.operations }
    let documented = try Self.documented()
    var compared = 0
    for operation in operations {
      let call = Self.call("\(operation.method)", operation.path.template)
      guard let credential = documented[call] else { continue }
      compared += 1
      let accepts: (key: Bool, token: Bool) =
        switch operation.access {
        case .open, .emulator: (false, false)
        case .client: (true, false)
        case .admin: (false, true)
        case .either: (true, true)
        }
      #expect(
        credential.hasPrefix("key") == accepts.key
          && (credential == "token" || credential.hasSuffix(", or token")) == accepts.token
          && (credential == "none") == (!accepts.key && !accepts.token),
        "\(call): \(credential)")
    }
    #expect(compared > 80)
  }

  /// Returns a call with its parameters unnamed, which the page abbreviates.
  private static func call(_ method: some StringProtocol, _ path: some StringProtocol) -> String {
    "\(method) \(path)".replacing(#/\{\w+\}/#, with: "{}")
  }

  /// Returns the calls in the tables with their credentials: `GET, PATCH /path` in the first column
  /// of a row, and the credential in the second.
  private static func documented() throws -> [String: String] {
    let path = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../docs/api.md")
    let page = try String(contentsOf: path, encoding: .utf8)
    var calls: [String: String] = [:]
    for row in page.matches(of: #/\n\| `([A-Z, ]+) (/[^`]*)` \| ([^|]*) \|/#) {
      for method in row.1.split(separator: ", ") { calls[call(method, row.2)] = String(row.3) }
    }
    return calls
  }
}
