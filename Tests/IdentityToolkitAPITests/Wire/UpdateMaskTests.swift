import JSON
import Testing

@testable import IdentityToolkitAPI

struct UpdateMaskTests {
  private func apply(_ mask: String, _ body: String, to resource: String) throws -> JSON {
    var object = try #require(try json(resource).objectValue)
    UpdateMask(mask).apply(try #require(try json(body).objectValue), to: &object)
    return .object(object)
  }

  @Test(arguments: [
    ("a", #"{"a":2}"#, #"{"a":2,"b":{"c":1,"d":[1]}}"#),
    ("a", "{}", #"{"b":{"c":1,"d":[1]}}"#),
    ("a", #"{"a":null}"#, #"{"b":{"c":1,"d":[1]}}"#),
    ("b", #"{"b":{"x":1}}"#, #"{"a":1,"b":{"x":1}}"#),
    ("b.c", #"{"b":{"c":2,"x":1}}"#, #"{"a":1,"b":{"c":2,"d":[1]}}"#),
    ("b.c", "{}", #"{"a":1,"b":{"d":[1]}}"#),
    ("b.d", #"{"b":{"d":[]}}"#, #"{"a":1,"b":{"c":1,"d":[]}}"#),
    ("b.d.e,a.x", #"{"b":{"d":{"e":1}},"a":{"x":1}}"#, #"{"a":1,"b":{"c":1,"d":[1]}}"#),
    ("n.m.o", #"{"n":{"m":{"o":1}}}"#, #"{"a":1,"b":{"c":1,"d":[1]},"n":{"m":{"o":1}}}"#),
    ("n.m.o", "{}", #"{"a":1,"b":{"c":1,"d":[1]}}"#),
    (" a , ,b..c,.", #"{"a":3}"#, #"{"a":3,"b":{"c":1,"d":[1]}}"#),
    ("some_name", #"{"someName":1}"#, #"{"a":1,"b":{"c":1,"d":[1]},"someName":1}"#),
    ("", #"{"a":2}"#, #"{"a":1,"b":{"c":1,"d":[1]}}"#),
  ])
  func `paths in the mask are replaced or cleared, and all else is preserved`(
    mask: String, body: String, result: String
  ) throws {
    #expect(try apply(mask, body, to: #"{"a":1,"b":{"c":1,"d":[1]}}"#) == json(result))
  }

  @Test func `a mask derived from a body names its members, except those that are null`() throws {
    let mask = UpdateMask(of: ["sign_in": [:], "mfa": nil, "client": ["permissions": nil]])
    #expect(mask.paths == [["signIn"], ["client"]])
    #expect(!mask.covers("mfa"))
  }
}
