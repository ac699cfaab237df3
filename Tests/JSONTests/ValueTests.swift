import JSON
import Testing
import Text

struct ValueTests {
  @Test(arguments: [
    #"null"#, #"true"#, #"-1.50e+3"#, #""""#, #"[]"#, #"{}"#, #"[1,"a",[false,null],{"b":{}}]"#,
    #"{"z":1,"a":2,"m":{"y":[],"x":0}}"#, #""quote \" backslash \\ line \n\r\t \u0000\u001f""#,
    "\"é😀/\u{2028}\u{7F}\"",
  ])
  func `a value is serialized as it was parsed`(text: String) throws {
    #expect(String(decoding: try parse(text).serialized(), as: UTF8.self) == text)
  }

  @Test func `a NUL is found in strings and names`() throws {
    for text in [#""a\u0000""#, #"[[1,"\u0000b"]]"#, #"{"a":{"b\u0000":1}}"#] {
      #expect(try parse(text).hasNUL)
    }
    #expect(try !parse(#"{"a":["\u0001","u0000",0,null,true]}"#).hasNUL)
  }

  @Test func `unnecessary escapes are removed`() throws {
    let value = try parse(#"{"\u0061":"\/\u00e9"}"#)
    #expect(String(decoding: value.serialized(), as: UTF8.self) == #"{"a":"/é"}"#)
  }

  @Test func `members keep their order and position`() throws {
    var object = JSON.Object([("b", 1), ("a", 2)])
    object["c"] = 3
    object["b"] = "one"
    object["a"] = nil
    #expect(object.names == ["b", "c"])
    #expect(object["b"] == "one")
    #expect(object["a"] == nil)
    object["c"] = .null
    #expect(object["c"]?.isNull == true)
    object.append("d", [:])
    #expect(object.count == 3)
    #expect(JSON.object(object).serialized() == Array(#"{"b":"one","c":null,"d":{}}"#.utf8))
  }

  @Test func `objects are equal in any order, but arrays aren't`() throws {
    #expect(try parse(#"{"a":1,"b":2}"#) == parse(#"{"b":2,"a":1}"#))
    #expect(try parse(#"{"a":1}"#) != parse(#"{"a":1,"b":2}"#))
    #expect(try parse(#"{"a":1}"#) != parse(#"{"b":1}"#))
    #expect(try parse("[1,2]") != parse("[2,1]"))
    let many = (0..<50).map { ("m\($0)", JSON.number(JSON.Number($0))) }
    #expect(JSON.Object(many) == JSON.Object(many.reversed()))
    var other = JSON.Object(many.reversed())
    other["m7"] = 8
    #expect(JSON.Object(many) != other)
  }

  @Test func `a value of another type is nil`() {
    let value: JSON = ["text": "a", "list": [1], "yes": true, "none": nil]
    #expect(value["text"]?.textValue == "a")
    #expect(value["text"]?.numberValue == nil)
    #expect(value["list"]?.arrayValue == [1])
    #expect(value["list"]?.objectValue == nil)
    #expect(value["yes"]?.boolValue == true)
    #expect(value["none"]?.isNull == true)
    #expect(value["none"]?.boolValue == nil)
    #expect(value["absent"] == nil)
    #expect(JSON.null["text"] == nil)
    #expect("\(value["list"]?.arrayValue?.count ?? 0)" as JSON == "1")
  }

  @Test func `errors are described in sentences`() {
    #expect("\(JSONError.empty)" == "The JSON document is empty.")
    #expect("\(JSONError.syntax(offset: 3))" == "The JSON document is not well formed at byte 3.")
    #expect("\(JSONError.duplicateMember("a"))" == "The JSON document has the member \"a\" twice.")
  }
}
