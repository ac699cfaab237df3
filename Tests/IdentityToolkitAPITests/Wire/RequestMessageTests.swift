import JSON
import Testing

@testable import IdentityToolkitAPI

struct RequestMessageTests {
  private func message(_ text: String) throws -> RequestMessage {
    RequestMessage(try #require(try json(text).objectValue), path: "config")
  }

  @Test(arguments: [
    ("5", 5), ("\"5\"", 5), ("5.0", 5), ("\"5.0\"", 5), ("5e0", 5), ("-1", -1), ("null", nil),
    ("2147483647", 2_147_483_647), ("-2147483648", -2_147_483_648),
  ])
  func `an int32 is read in any proto3 JSON form`(text: String, value: Int?)
    throws
  {
    #expect(try message(#"{"n":\#(text)}"#).int32("n") == value)
  }

  @Test(arguments: [
    "5.5", "\"5.5\"", "\"\"", "\" 5\"", "\"abc\"", "\"0x5\"", "2147483648", "-2147483649", "1e10",
    "true", "{}", "\"NaN\"",
  ])
  func `an invalid int32 is refused`(text: String) throws {
    let message = try message(#"{"n":\#(text)}"#)
    #expect {
      try message.int32("n")
    } throws: { error in
      (error as? WireError)?.message.hasPrefix("Invalid value at 'config.n' (TYPE_INT32), ")
        == true
    }
  }

  @Test(arguments: [
    ("\"9223372036854775807\"", Int64.max), ("1790244000", 1_790_244_000), ("null", nil),
  ])
  func `an int64 is read from a number or a string`(text: String, value: Int64?) throws {
    #expect(try message(#"{"n":\#(text)}"#).int64("n") == value)
  }

  @Test func `null is treated as absent for every type`() throws {
    let message = try message(#"{"x":null}"#)
    #expect(try message.text("x") == nil)
    #expect(try message.flag("x") == nil)
    #expect(try message.message("x")?.path == nil)
    #expect(try message.messages("x").isEmpty)
    #expect(try message.texts("x").isEmpty)
    #expect(try !message.has("x"))
  }

  @Test func `paths in errors are in snake case`() throws {
    let message = try message(#"{"providerConfigs":[{},{"totpProviderConfig":1}]}"#)
    let entries = try message.messages("providerConfigs")
    #expect(entries.map(\.path) == ["config.provider_configs[0]", "config.provider_configs[1]"])
    #expect {
      try entries[1].message("totpProviderConfig")
    } throws: { error in
      (error as? WireError)?.message
        == "Invalid value at 'config.provider_configs[1].totp_provider_config' (TYPE_MESSAGE), 1"
    }
  }

  @Test func `a Boolean can be a word or a digit, as in production`() throws {
    for text in ["true", "\"true\"", "\"t\"", "\"Yes\"", "\"y\"", "\"1\"", "1"] {
      #expect(try message("{\"f\":\(text)}").flag("f") == true, "\(text)")
    }
    for text in ["false", "\"FALSE\"", "\"f\"", "\"no\"", "\"n\"", "\"0\"", "0"] {
      #expect(try message("{\"f\":\(text)}").flag("f") == false, "\(text)")
    }
    for text in ["2", "-1", "1.5", "\"\"", "\"on\"", "\"yes \"", "[]", "{}"] {
      let wrong = try message("{\"f\":\(text)}")
      #expect(throws: WireError.self, "\(text)") { try wrong.flag("f") }
    }
  }

  @Test func `an enum is read by name and by number`() throws {
    let type = EnumType(name: "x.Color", values: ["NONE", "RED", "BLUE"])
    let message = try message(#"{"a":"BLUE","b":1,"c":"blue","d":3,"e":"1"}"#)
    #expect(try message.enumeration("a", type) == 2)
    #expect(try message.enumeration("b", type) == 1)
    for name in ["c", "d", "e"] {
      #expect(throws: WireError.self) { try message.enumeration(name, type) }
    }
  }
}
