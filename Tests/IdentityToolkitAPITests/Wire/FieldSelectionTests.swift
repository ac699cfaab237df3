import HTTP
import JSON
import Testing

@testable import IdentityToolkitAPI

struct FieldSelectionTests {
  private static let answer = #"""
    {"kind":"k","users":[{"localId":"a","mfaInfo":[{"displayName":"x","totpInfo":{}}]},
    {"localId":"b"}],"nextPageToken":"b","id_token":"t"}
    """#

  @Test(arguments: [
    ("kind", #"{"kind":"k"}"#), ("kind,nextPageToken", #"{"kind":"k","nextPageToken":"b"}"#),
    ("next_page_token", #"{"nextPageToken":"b"}"#), ("idToken", #"{"id_token":"t"}"#),
    ("users/localId", #"{"users":[{"localId":"a"},{"localId":"b"}]}"#),
    ("users(localId)", #"{"users":[{"localId":"a"},{"localId":"b"}]}"#),
    (
      "users(localId,mfaInfo/displayName),kind",
      #"{"kind":"k","users":[{"localId":"a","mfaInfo":[{"displayName":"x"}]},{"localId":"b"}]}"#
    ),
    ("users(mfaInfo(displayName))", #"{"users":[{"mfaInfo":[{"displayName":"x"}]},{}]}"#),
    (
      "users/*/displayName",
      #"{"users":[{"localId":"a","mfaInfo":[{"displayName":"x"}]},{"localId":"b"}]}"#
    ),
    ("users/mfaInfo/totpInfo", #"{"users":[{"mfaInfo":[{"totpInfo":{}}]},{}]}"#),
    (
      "users/localId,users/mfaInfo",
      #"{"users":[{"localId":"a","mfaInfo":[{"displayName":"x","totpInfo":{}}]},{"localId":"b"}]}"#
    ),
    (
      "users/mfaInfo/displayName,users/mfaInfo",
      #"{"users":[{"mfaInfo":[{"displayName":"x","totpInfo":{}}]},{}]}"#
    ),
    ("*", answer), ("", answer), ("unknown", "{}"), ("users/unknown", #"{"users":[{},{}]}"#),
    ("kind/more", #"{"kind":"k"}"#),
  ])
  func `the selected members are returned`(text: String, selected: String) throws {
    let selection = try #require(FieldSelection(text))
    #expect(selection.of(try json(Self.answer)) == (try json(selected)))
  }

  @Test(arguments: [
    ",", "a,", ",a", "a/", "/a", "a(", "a(b", "a)", "a(b))", "a()", "(a)", "a(b)c", "a(b)/c",
    "a//b",
    String(repeating: "a/", count: 16) + "a", String(repeating: "a(", count: 17),
    String(repeating: "a,", count: 100) + "a",
  ])
  func `what isn't a list of paths is refused`(text: String) {
    #expect(FieldSelection(text) == nil)
  }

  @Test func `an invalid selection is refused before the call, and errors are complete`()
    async throws
  {
    try await TestServer.with { server in
      let path = TestServer.accounts
      let refused = try await server.post(path + "?fields=a(", ["localId": "alice"], .owner)
      #expect(refused.status == 400 && refused.error == "Invalid field selection")
      let created = try await server.post(path + "?fields=localId", ["localId": "alice"], .owner)
      #expect(created.json == ["localId": "alice"])
      let read = try await server.get(path + ":batchGet?fields=users/localId")
      #expect(read.json == ["users": [["localId": "alice"]]])
      let unknown = try await server.post(path + ":delete?fields=kind", ["localId": "bob"], .owner)
      #expect(unknown.error == "USER_NOT_FOUND")
    }
  }
}
