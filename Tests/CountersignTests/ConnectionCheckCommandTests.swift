import Foundation
import Testing

@testable import countersign

/// What `countersign connection check` refuses before it asks another server.
struct ConnectionCheckCommandTests {
  private static let key =
    #"{"type":"authorized_user","client_id":"1","client_secret":"s","refresh_token":"r"}"#

  @Test(arguments: [
    (64, "--kind firebase --project acme-app --access read --credential-file {token}"),
    (64, "--kind countersign --project acme-app --access read --credential-file {token}"),
    (
      64,
      "--kind identity-platform --url https://a.example --project acme-app --access read "
        + "--credential-file {key}"
    ),
    (64, "--kind identity-platform --project acme-app --access admin --credential-file {key}"),
    (64, "--kind identity-platform --project acme-app --credential-file {key}"),
    (64, "--kind identity-platform --project acme-app --access read"),
    (78, "--kind identity-platform --project Acme --access read --credential-file {key}"),
    (78, "--kind identity-platform --project acme-app --access read --credential-file {key}"),
    (78, "--kind identity-platform --project acme-app --access read --credential-file {none}"),
    (
      78,
      "--kind countersign --url http://a.example --project acme-app --access read "
        + "--credential-file {token}"
    ),
    (
      78,
      "--kind countersign --url https://a.example --project acme-app --access read "
        + "--credential-file {key}"
    ),
    (
      78,
      "--kind countersign --url https://a.example --project acme-app --access read "
        + "--credential-file {token} --outbound-allow nowhere"
    ),
    // A private address that isn't allowed.
    (
      1,
      "--kind countersign --url https://127.0.0.1:1 --project acme-app --access read --json "
        + "--credential-file {token}"
    ),
  ])
  func `a check ends with the code of what's wrong`(code: Int, words: String) async throws {
    try await withFolder { folder in
      try Self.key.write(toFile: "\(folder)/key", atomically: true, encoding: .utf8)
      try "cst_0123\n".write(toFile: "\(folder)/token", atomically: true, encoding: .utf8)
      var text = words
      for name in ["key", "token", "none"] {
        text = text.replacing("{\(name)}", with: "\(folder)/\(name)")
      }
      let arguments = ["connection", "check"] + text.split(separator: " ").map(String.init)
      #expect(Int(await Countersign.run(arguments, environment: [:])) == code)
    }
  }
}
