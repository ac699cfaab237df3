import Synchronization
import Templating
import Testing

@testable import Console

@Suite struct MarkupCacheTests {
  private func text(_ markup: Templating.Markup) -> String {
    String(decoding: markup.bytes, as: UTF8.self)
  }

  @Test func `each value is rendered once`() {
    let cache = MarkupCache<String>()
    let drawn = Mutex<[String]>([])
    let draw = { (value: String) in
      drawn.withLock { $0.append(value) }
      return Array("<\(value)>".utf8)
    }
    #expect(text(cache.joined(["a", "b"], draw: draw)) == "<a><b>")
    #expect(text(cache.joined(["b", "a", "c"], draw: draw)) == "<b><a><c>")
    #expect(drawn.withLock { $0 } == ["a", "b", "c"])
  }

  @Test func `a full cache is emptied and still renders correctly`() {
    let cache = MarkupCache<Int>(limit: 3)
    for start in 0..<20 {
      let values = Array(start..<(start + 5))
      let shown = text(cache.joined(values) { Array("\($0) ".utf8) })
      #expect(shown == values.map { "\($0) " }.joined())
    }
    #expect(text(cache.joined([]) { _ in Array("x".utf8) }) == "")
  }
}
