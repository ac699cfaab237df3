import HTTP
import Testing

struct RequestIDTests {
  @Test func `different numbers have different 12-character IDs`() {
    let numbers: [UInt64] = [0, 1, 31, 32, 1 << 59, 1 << 60 - 1]
    let texts = numbers.map { RequestID($0).text }
    #expect(Set(texts).count == numbers.count)
    #expect(texts.allSatisfy { $0.utf8.count == 12 })
    #expect(texts[0] == "000000000000")
    #expect(texts[2] == "00000000000Z")
    #expect(texts[5] == "ZZZZZZZZZZZZ")
  }

  @Test func `all 32 characters are used exactly once`() {
    let characters = (0..<32).map { RequestID(UInt64($0)).text.suffix(1) }.joined()
    #expect(characters == "0123456789ABCDEFGHJKMNPQRSTVWXYZ")
  }
}
