import Testing

@testable import CBOR

struct CBORTests {
  @Test(
    arguments: [
      ([0x00], CBOR.unsigned(0)), ([0x17], .unsigned(23)), ([0x18, 0x64], .unsigned(100)),
      ([0x19, 0x03, 0xE8], .unsigned(1_000)),
      ([0x1A, 0x00, 0x0F, 0x42, 0x40], .unsigned(1_000_000)),
      ([0x1B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .unsigned(.max)),
      ([0x20], .negative(0)), ([0x38, 0x63], .negative(99)), ([0x39, 0x03, 0xE7], .negative(999)),
      ([0x44, 1, 2, 3, 4], .bytes([1, 2, 3, 4])), ([0x40], .bytes([])),
      ([0x64, 0x49, 0x45, 0x54, 0x46], .text(Array("IETF".utf8))),
      ([0x83, 0x01, 0x02, 0x03], .array([.unsigned(1), .unsigned(2), .unsigned(3)])),
      ([0xA0], .map([])), ([0xF4], .bool(false)), ([0xF5], .bool(true)), ([0xF6], .other),
      ([0xF9, 0x3C, 0x00], .other),
    ] as [([UInt8], CBOR)])
  func `an example of RFC 8949 is decoded`(bytes: [UInt8], item: CBOR) throws {
    #expect(try CBOR(bytes) == item)
  }

  @Test func `a map is read by integer and by text`() throws {
    let map = try CBOR([0xA2, 0x20, 0x18, 0x2A, 0x61, 0x61, 0x41, 0x07])
    #expect(map[-1]?.integer == 42)
    #expect(map["a"]?.byteString == [7])
    #expect(map[0] == nil)
    #expect(map["b"] == nil)
  }

  @Test func `an integer beyond 64 bits has no value`() throws {
    #expect(try CBOR([0x3B] + [UInt8](repeating: 0xFF, count: 8)).integer == nil)
    #expect(try CBOR([0x3B, 0x7F] + [UInt8](repeating: 0xFF, count: 7)).integer == .min)
  }

  @Test func `the rest after the first item is left`() throws {
    let (item, length) = try CBOR.first(of: [0x82, 0x01, 0x02, 0xFF, 0xFF])
    #expect(item == .array([.unsigned(1), .unsigned(2)]))
    #expect(length == 3)
  }

  @Test(
    arguments: [
      [], [0x18], [0x19, 0x01], [0x41], [0x82, 0x01], [0xA1, 0x01], [0xFF], [0x1C],
      // Bytes after the item, indefinite lengths, and a tag.
      [0x00, 0x00], [0x9F, 0xFF], [0xBF, 0xFF], [0x5F, 0xFF], [0x7F, 0xFF], [0xC0, 0x61, 0x61],
      // Lengths that would allocate terabytes.
      [0x9B, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
      [0xBB, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
      [0x5B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
      [0x7B, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x61],
    ] as [[UInt8]])
  func `what isn't one complete item is malformed`(bytes: [UInt8]) {
    #expect(throws: CBORError.malformed) { try CBOR(bytes) }
  }

  @Test(
    arguments: [
      [0xA2, 0x01, 0x01, 0x01, 0x02], [0xA2, 0x18, 0x01, 0x01, 0x01, 0x02],
      [0xA1, 0x41, 0x00, 0x01],
      [0xA1, 0x80, 0x01], [0xA1, 0xF5, 0x01],
    ] as [[UInt8]])
  func `a key is an integer or text, once`(bytes: [UInt8]) {
    #expect(throws: CBORError.invalidKey) { try CBOR(bytes) }
  }

  @Test func `nesting and length are limited`() throws {
    let deepest = [UInt8](repeating: 0x81, count: CBOR.deepest) + [0x00]
    _ = try CBOR(deepest)
    #expect(throws: CBORError.tooDeep) { try CBOR([0x81] + deepest) }
    #expect(throws: CBORError.tooLong) {
      try CBOR([UInt8](repeating: 0, count: CBOR.longest + 1))
    }
  }

  @Test func `random bytes never crash`() {
    var generator = SystemRandomNumberGenerator()
    var decoded = 0
    for _ in 0..<20_000 {
      let count = Int.random(in: 0...40, using: &generator)
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      if (try? CBOR.first(of: bytes)) != nil { decoded += 1 }
    }
    #expect(decoded > 0)
  }
}
