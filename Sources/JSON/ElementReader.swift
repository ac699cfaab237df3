import Text

extension JSON {
  /// Reads the elements of one array in a large document, without keeping the document.
  ///
  /// The document is an object, and the array is one of its members; other members are skipped.
  /// Bytes are passed in as they arrive, and each element is returned as its own bytes, for
  /// ``JSON/parse(_:maximumDepth:repairing:)``.
  ///
  /// ```swift
  /// var reader = JSON.ElementReader(member: "users")
  /// while let bytes = next() {
  ///   var elements: [JSON.ElementReader.Element] = []
  ///   try reader.take(bytes, into: &elements)
  ///   for element in elements { use(try JSON.parse(element.bytes)) }
  /// }
  /// try reader.finish()
  /// ```
  public struct ElementReader: Sendable {
    /// An element as written.
    public struct Element: Sendable {
      /// The bytes of the element.
      public let bytes: [UInt8]
      /// The line on which the element begins, counted from 1.
      public let line: Int
    }

    private enum Place {
      case start, key, insideKey, colon, value, afterValue, end
      case element, insideElement, afterElement
      /// In a skipped value.
      case insideOther
    }

    private let member: UntrustedText
    private let largest: Int
    /// A name with every byte escaped as six bytes, and its quotation marks.
    private static let longestKey = 6 * UntrustedText.longestName + 2
    private var place = Place.start
    private var kept: [UInt8] = []
    private var depth = 0
    private var isInText = false
    private var isEscaped = false
    private var isScalar = false
    private var isFirst = true
    private var isMember = false
    private var line = 1
    private var beginning = 1
    private var position = 0
    /// Whether the array was found.
    public private(set) var hasFound = false

    /// Creates a reader for the array of a member; `largestElement` is in bytes.
    public init(member: String, largestElement: Int = 1 << 20) {
      self.member = UntrustedText(member)
      largest = largestElement
    }

    /// Reads the next bytes of the document.
    ///
    /// - Parameters:
    ///   - chunk: The bytes.
    ///   - elements: Receives the elements that end in the bytes, including those before an error.
    /// - Throws: ``JSONError/syntax(offset:)``, ``JSONError/tooLarge``,
    ///   ``JSONError/nameTooLong(offset:)``, and other errors in a name.
    public mutating func take(
      _ chunk: [UInt8], into elements: inout [Element]
    ) throws(JSONError) {
      var from = 0
      let bytes = chunk.span
      for index in bytes.indices {
        let byte = bytes[index]
        if byte == UInt8(ascii: "\n") { line += 1 }
        switch place {
        case .insideElement:
          guard let after = ends(byte) else { continue }
          keep(chunk, from, after == .element ? index + 1 : index)
          guard kept.count <= largest else { throw .tooLarge }
          elements.append(Element(bytes: kept, line: beginning))
          kept.removeAll(keepingCapacity: true)
          place = .afterElement
          if after == .delimiter { try step(byte, index) }
        case .insideOther:
          guard let after = ends(byte) else { continue }
          place = .afterValue
          if after == .delimiter { try step(byte, index) }
        case .insideKey:
          guard ends(byte) != nil else { continue }
          keep(chunk, from, index + 1)
          guard kept.count <= Self.longestKey else { throw .nameTooLong(offset: position + index) }
          guard case .text(let name) = try JSON.parse(kept) else { throw error(index) }
          guard name.byteCount <= UntrustedText.longestName else {
            throw .nameTooLong(offset: position + index)
          }
          kept.removeAll(keepingCapacity: true)
          isMember = name == member
          place = .colon
        default:
          try step(byte, index)
          if place == .insideElement || place == .insideKey { from = index }
        }
      }
      if place == .insideElement || place == .insideKey {
        keep(chunk, from, chunk.count)
        guard kept.count <= largest else { throw .tooLarge }
      }
      if place == .insideKey, kept.count > Self.longestKey {
        throw .nameTooLong(offset: position + chunk.count)
      }
      position += chunk.count
    }

    /// Marks the end of the document.
    ///
    /// - Throws: ``JSONError/empty`` and ``JSONError/syntax(offset:)`` when the document is
    ///   incomplete.
    public func finish() throws(JSONError) {
      if place == .start { throw .empty }
      guard place == .end else { throw .syntax(offset: position) }
    }

    private mutating func keep(_ chunk: [UInt8], _ from: Int, _ to: Int) {
      kept.append(contentsOf: chunk[(kept.isEmpty ? from : 0)..<to])
    }

    private func error(_ index: Int) -> JSONError { .syntax(offset: position + index) }

    private enum Ending {
      /// The byte is the last of the value.
      case element
      /// The byte follows the value.
      case delimiter
    }

    /// Returns whether the current value ends at this byte.
    private mutating func ends(_ byte: UInt8) -> Ending? {
      if isInText {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInText = false
          return depth == 0 ? .element : nil
        }
        return nil
      }
      switch byte {
      case UInt8(ascii: "\""): isInText = true
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard !isScalar else { return .delimiter }
        depth -= 1
        return depth == 0 ? .element : nil
      case UInt8(ascii: ","), 0x20, 0x09, 0x0A, 0x0D: return isScalar ? .delimiter : nil
      default: break
      }
      return nil
    }

    /// Begins a value with its first byte.
    private mutating func begin(_ byte: UInt8, _ next: Place) {
      place = next
      beginning = line
      depth = 0
      isScalar = false
      isInText = false
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth = 1
      case UInt8(ascii: "\""): isInText = true
      default: isScalar = true
      }
    }

    /// Processes a byte between values.
    private mutating func step(_ byte: UInt8, _ index: Int) throws(JSONError) {
      switch byte {
      case 0x20, 0x09, 0x0A, 0x0D: return
      default: break
      }
      switch (place, byte) {
      case (.start, UInt8(ascii: "{")):
        place = .key
        isFirst = true
      case (.key, UInt8(ascii: "\"")): begin(byte, .insideKey)
      case (.key, UInt8(ascii: "}")) where isFirst: place = .end
      case (.colon, UInt8(ascii: ":")): place = .value
      case (.value, UInt8(ascii: "[")) where isMember:
        guard !hasFound else { throw .duplicateMember(member) }
        hasFound = true
        place = .element
        isFirst = true
      case (.value, _):
        guard !isMember, !Self.isDelimiter(byte) else { throw error(index) }
        begin(byte, .insideOther)
      case (.afterValue, UInt8(ascii: ",")):
        place = .key
        isFirst = false
      case (.afterValue, UInt8(ascii: "}")): place = .end
      case (.element, UInt8(ascii: "]")) where isFirst: place = .afterValue
      case (.element, _):
        guard !Self.isDelimiter(byte) else { throw error(index) }
        begin(byte, .insideElement)
      case (.afterElement, UInt8(ascii: ",")):
        place = .element
        isFirst = false
      case (.afterElement, UInt8(ascii: "]")): place = .afterValue
      default: throw error(index)
      }
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: ","), UInt8(ascii: ":"): true
      default: false
      }
    }
  }
}
