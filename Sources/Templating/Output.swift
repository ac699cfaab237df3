import Localization
import Text

/// The bytes of a page being rendered.
struct Output {
  private(set) var bytes: [UInt8] = []

  init(reserving capacity: Int) {
    bytes.reserveCapacity(capacity)
  }

  mutating func append(_ raw: [UInt8]) {
    bytes.append(contentsOf: raw)
  }

  mutating func append(_ range: Range<Int>, of source: [UInt8]) {
    guard range.count < Self.shortRun else { return bytes.append(contentsOf: source[range]) }
    append(range, of: source.span)
  }

  /// Appends a text without escaping.
  mutating func append(_ text: String) {
    bytes.append(contentsOf: text.utf8)
  }

  mutating func append(_ number: Int) {
    append(String(number))
  }

  /// Appends a text with `&`, `<`, `>`, `"`, and `'` escaped; at the start of a `bdi` element,
  /// without direction controls that would have an effect after it.
  mutating func appendEscaped(_ text: String) {
    let text = startsIsolation ? Isolation.contained(text) : text
    let view = text.utf8Span
    let source = view.span
    var start = 0
    for index in source.indices {
      guard let reference = HTMLEscaping.reference(for: source[index]) else { continue }
      append(start..<index, of: source)
      append(reference)
      start = index + 1
    }
    if start == 0, source.count >= Self.shortRun { return append(text) }
    append(start..<source.count, of: source)
  }

  /// Whether the last tag starts a `bdi` element.
  private var startsIsolation: Bool {
    bytes.last == UInt8(ascii: ">") && bytes.suffix(5).elementsEqual("<bdi>".utf8)
  }

  /// The length from which copying a run at once is worth the reference counting it takes.
  private static let shortRun = 64

  private mutating func append(_ range: Range<Int>, of source: Span<UInt8>) {
    bytes.append(addingCapacity: range.count) { output in
      for index in range { output.append(source[index]) }
    }
  }
}
