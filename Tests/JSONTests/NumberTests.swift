import JSON
import Testing

struct NumberTests {
  @Test(arguments: [
    "0", "-0", "5", "5.0", "5e0", "1.10", "1E+2", "9007199254740993", "1e400",
    "123456789012345678901234567890.000000000000000000000001",
  ])
  func `a number keeps its text`(text: String) throws {
    #expect(try parse(text).numberValue?.text == text)
    #expect(try parse("[\(text)]").serialized() == Array("[\(text)]".utf8))
  }

  @Test(
    arguments: [
      ("0", 0), ("-0", 0), ("5", 5), ("5.0", 5), ("5e0", 5), ("5.00E-0", 5), ("50e-1", 5),
      ("0.5e1", 5), ("-1.2e3", -1200), ("1e18", 1_000_000_000_000_000_000),
      ("0e999999999999999999999", 0),
      ("0.000e-5", 0), ("9223372036854775807", .max), ("-9223372036854775808", .min),
      ("-9223372036854775808.0", .min), ("922337203685477580.7e1", .max),
      ("0.00000000000000000000005e23", 5),
    ] as [(String, Int64)])
  func `an integer has a value in any notation`(text: String, value: Int64) throws {
    #expect(try parse(text).numberValue?.int64 == value)
  }

  @Test(arguments: [
    "5.5", "0.1", "1e-1", "15e-1", "9223372036854775808", "-9223372036854775809", "1e19", "1e400",
    "9223372036854775807.5", "1e999999999999999999999", "1e-999999999999999999999",
    "1.5e-9223372036854775808", "123456789012345678901234567890",
  ])
  func `a number that isn't an integer or doesn't fit has no integer value`(text: String) throws {
    #expect(try parse(text).numberValue?.int64 == nil)
  }

  @Test func `a number out of range has no Double value`() throws {
    #expect(try parse("1.5").numberValue?.double == 1.5)
    #expect(try parse("-1e3").numberValue?.double == -1000)
    #expect(try parse("1e400").numberValue?.double == nil)
  }

  @Test func `only valid number text is accepted`() {
    #expect(JSON.Number(text: "1.50")?.text == "1.50")
    #expect(JSON.Number(3).text == "3")
    for text in ["", " 1", "1 ", "x", "[1]", "0x1", "01"] {
      #expect(JSON.Number(text: text) == nil)
    }
  }

  @Test func `a megabyte of digits is parsed as one number`() throws {
    let digits = String(repeating: "9", count: 1_000_000)
    #expect(try parse(digits).numberValue?.text == digits)
    #expect(try parse(digits).numberValue?.int64 == nil)
    #expect(try parse(digits + ".0e-5").numberValue?.int64 == nil)
  }
}
