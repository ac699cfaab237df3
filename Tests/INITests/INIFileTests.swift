import INI
import Testing

struct INIFileTests {
  private func read(_ text: String) -> INIFile { INIFile(Array(text.utf8)) }

  private func pairs(_ text: String) -> [String] {
    read(text).settings.map { "\($0.line) \($0.name)=\($0.value)" }
  }

  private func faults(_ text: String) -> [String] {
    read(text).faults.map { "\($0.line) \($0.fault)" }
  }

  @Test func `settings have a line, a name, and a value without white space`() {
    let text = "; comment\n\nlisten = 127.0.0.1:8080\r\n  data=/var/lib \n# end\n"
    #expect(pairs(text) == ["3 listen=127.0.0.1:8080", "4 data=/var/lib"])
    #expect(faults(text) == [])
  }

  @Test func `a comment after a value requires white space before it`() {
    #expect(pairs("a = 1 ; one\nb = 1;2\nc = d#e") == ["1 a=1", "2 b=1;2", "3 c=d#e"])
  }

  @Test func `duplicates and empty values are kept for the caller to judge`() {
    #expect(pairs("a = 1\na =\n") == ["1 a=1", "2 a="])
  }

  @Test func `every faulty line is reported`() {
    let long = String(repeating: "x", count: INIFile.longestLine)
    let text = "junk\n[section]\na = 1\nb = \(long)\n= 2\nc = \u{1}\n[open\n"
    #expect(pairs(text) == ["3 a=1"])
    #expect(
      faults(text) == [
        "1 notASetting", "2 section", "4 tooLong", "5 notASetting", "6 notText", "7 notASetting",
      ])
  }

  @Test func `the longest line is read whole`() {
    let value = String(repeating: "x", count: INIFile.longestLine - 4)
    #expect(read("a = \(value)").settings.map(\.value) == [value])
  }

  @Test func `bytes that aren't text are a fault, not a crash`() {
    let file = INIFile([0x61, 0x3d, 0xff, 0x0a, 0x62, 0x3d, 0x00, 0x0a] + [0x63, 0x3d, 0x31])
    #expect(file.faults.map(\.line) == [1, 2])
    #expect(file.settings.map(\.name) == ["c"])
  }

  @Test func `any bytes are read without an error in memory`() {
    var state: UInt64 = 7
    for _ in 0..<300 {
      let bytes = (0..<200).map { _ -> UInt8 in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Array(" =:;#[]\"\\\n\r\tab1\u{0}\u{fe}".utf8)[Int(state >> 33) % 18]
      }
      let file = INIFile(bytes)
      let lines = bytes.split(separator: 10, omittingEmptySubsequences: false).count
      #expect(file.settings.count + file.faults.count <= lines)
    }
  }
}
