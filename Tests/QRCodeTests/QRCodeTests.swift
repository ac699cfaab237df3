import QRCode
import Testing

struct QRCodeTests {
  static let uri =
    "otpauth://totp/Acme:ada%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Acme"

  @Test func `a short text uses the smallest version`() throws {
    #expect(try QRCode(text: "a").size == 21)
    #expect(try QRCode(text: String(repeating: "a", count: 14)).size == 21)
    #expect(try QRCode(text: String(repeating: "a", count: 15)).size == 25)
  }

  @Test func `the three corners have finder patterns`() throws {
    let code = try QRCode(text: Self.uri)
    let far = code.size - 7
    for (column, row) in [(0, 0), (far, 0), (0, far)] {
      for step in 0..<7 {
        #expect(code[column + step, row])
        #expect(code[column, row + step])
        #expect(code[column + step, row + 6])
        #expect(code[column + 6, row + step])
      }
      #expect(code[column + 3, row + 3])
      #expect(!code[column + 1, row + 1])
    }
  }

  @Test func `an overlong or empty text is refused`() throws {
    let longest = String(repeating: "a", count: QRCode.maximumLength)
    #expect(try QRCode(text: longest).size == 177)
    #expect(throws: QRCodeError.tooLong(bytes: 2332)) { try QRCode(text: longest + "a") }
    #expect(throws: QRCodeError.tooLong(bytes: 2332)) {
      try QRCode(text: String(repeating: "é", count: 1166))
    }
    #expect(throws: QRCodeError.empty) { try QRCode(text: "") }
  }

  @Test func `case is preserved, and digits fit in byte mode`() throws {
    #expect(try QRCode(text: "abc") != QRCode(text: "ABC"))
    #expect(try QRCode(text: String(repeating: "1", count: QRCode.maximumLength)).size <= 177)
  }

  @Test func `the image is one path on white with a quiet zone of four modules`() throws {
    let code = try QRCode(text: "a")
    let svg = code.svg(label: "Code")
    #expect(
      svg.hasPrefix(
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 29 29" role="img" aria-label="Code" \
        shape-rendering="crispEdges"><rect width="29" height="29" fill="#fff"/>\
        <path fill="#000" d="M4 4h7v1h-7z
        """))
    #expect(svg.hasSuffix("z\"/></svg>"))
    #expect(svg.components(of: "<path").count == 2)
    #expect(!svg.contains("style"))
  }

  @Test func `a label is escaped in its attribute`() throws {
    let svg = try QRCode(text: "a").svg(label: "\"\u{301}/><script>'&\u{1}\n")
    #expect(
      svg.contains("aria-label=\"&quot;\u{301}/&gt;&lt;script&gt;&#39;&amp;\u{FFFD}\n\""))
  }
}

extension String {
  fileprivate func components(of separator: String) -> [Substring] {
    split(separator: separator, omittingEmptySubsequences: false)
  }
}
