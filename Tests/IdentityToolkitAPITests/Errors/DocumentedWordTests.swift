import Foundation
import Testing

/// Verifies that `docs/errors.md` lists every error code that the source can send, and no other.
struct DocumentedWordTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../..")

  /// Returns the error codes in the source text: at the start of a string, or as the whole string.
  ///
  /// In the error tables, every such word is an error code. Elsewhere, enum names look the same,
  /// so the word must be in an error's initializer or followed by a colon.
  static func words(in text: String, isTable: Bool) -> Set<String> {
    let headed = #/"([A-Z]{4,}|[A-Z]+(?:_[A-Z]+)+) : /#
    let alone = #/"([A-Z]+(?:_[A-Z]+)+)"/#
    let built = #/(?:WireError|\.init|RowError|problem|message:)[\s(]+"([A-Z]+(?:_[A-Z]+)+)["\s]/#
    return Set(text.matches(of: headed).map { String($0.1) })
      .union(text.matches(of: built).map { String($0.1) })
      .union(isTable ? text.matches(of: alone).map { String($0.1) } : [])
  }

  @Test func `every error code is documented, and every documented code is sent`() throws {
    let sources = Self.root.appending(path: "Sources/IdentityToolkitAPI")
    var sent: Set<String> = []
    let paths = try FileManager.default.subpathsOfDirectory(atPath: sources.path)
    for path in paths where path.hasSuffix(".swift") {
      let text = try String(contentsOf: sources.appending(path: path), encoding: .utf8)
      sent.formUnion(Self.words(in: text, isTable: path.contains("ErrorTable")))
    }
    #expect(sent.count > 70)
    let page = try String(
      contentsOf: Self.root.appending(path: "docs/errors.md"), encoding: .utf8)
    let documented = Set(page.matches(of: #/\n\| `([A-Z_]+)`/#).map { String($0.1) })
    #expect(sent.subtracting(documented).sorted() == [], "not in docs/errors.md")
    #expect(documented.subtracting(sent).sorted() == [], "never sent")
  }

  @Test func `error codes are found in initializers, not in enum names`() {
    let text = #"""
      throw WireError("A_WORD")
      throw WireError(
        "B_WORD : text", status: .conflict)
      return cond ? "C_WORD : text" : nil
      case "D_WORD": .phone
      """#
    #expect(Self.words(in: text, isTable: false) == ["A_WORD", "B_WORD", "C_WORD"])
    #expect(Self.words(in: #"case .x: "D_WORD""#, isTable: true) == ["D_WORD"])
  }
}
