import Testing
import Text

struct JoinedBytesTests {
  @Test
  func `each byte string keeps its position, also among empty ones`() {
    let strings = ["", "é", "", "one and two", ""]
    let joined = JoinedBytes(strings.map { Array($0.utf8) })
    var output = Array("before ".utf8)
    for index in [3, 0, 1, 2, 3, 4] { joined.append(index, to: &output) }
    #expect(String(decoding: output, as: UTF8.self) == "before one and twoéone and two")
  }
}
