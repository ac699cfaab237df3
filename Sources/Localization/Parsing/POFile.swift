struct POFile {
  struct Entry {
    /// The line of its first keyword.
    let line: Int
    var context: String?
    var id: String?
    var pluralID: String?
    /// The translations, one for each plural form.
    var strings: [String] = []
    /// Whether translators marked it as uncertain.
    var isFuzzy = false
  }

  let file: String
  let plurals: PluralRule
  let entries: [Entry]

  /// Parses the text of a file, which errors name.
  init(_ text: String, file: String) throws(CatalogError) {
    var parser = POParser(file: file)
    let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      try parser.read(Substring(line), number: index + 1)
    }
    var entries = try parser.finish()
    guard let header = entries.first, header.id == "", header.context == nil,
      let fields = header.strings.first
    else { throw CatalogError(.missingHeader("Plural-Forms"), file: file, line: 1) }
    entries.removeFirst()
    func field(_ name: String) throws(CatalogError) -> String {
      let line = fields.split(separator: "\n").first { $0.hasPrefix(name + ":") }
      guard let line else {
        throw CatalogError(.missingHeader(name), file: file, line: header.line)
      }
      return String(line.dropFirst(name.count + 1).drop { $0 == " " })
    }
    let forms = try field("Plural-Forms")
    do throws(CatalogError.Problem) {
      plurals = try PluralRule(header: forms)
    } catch {
      throw CatalogError(error, file: file, line: header.line)
    }
    self.file = file
    self.entries = entries
  }
}

/// Reads a PO file line by line; its syntax is ASCII, so bytes are compared, which is faster than
/// characters.
private struct POParser {
  enum Field { case context, id, pluralID, string(Int) }

  let file: String
  var entries: [POFile.Entry] = []
  var current: POFile.Entry?
  var field: Field?
  var isFuzzy = false

  mutating func finish() throws(CatalogError) -> [POFile.Entry] {
    try end()
    return entries
  }

  mutating func read(_ line: Substring, number: Int) throws(CatalogError) {
    var line = line
    while let last = line.utf8.last, Self.isSpace(last) { line = Substring(line.utf8.dropLast()) }
    guard let first = line.utf8.first else { return }
    if first == UInt8(ascii: "#") {
      // A comment precedes its message.
      if current?.strings.isEmpty == false { try end() }
      if line.hasPrefix("#,") {
        let flags = line.utf8.dropFirst(2).split { $0 == UInt8(ascii: ",") || Self.isSpace($0) }
        if flags.contains(where: { $0.elementsEqual("fuzzy".utf8) }) { isFuzzy = true }
      } else if line.hasPrefix("#~") {
        // The flags belong to this obsolete message.
        isFuzzy = false
      }
      return
    }
    if first == UInt8(ascii: "\"") {
      guard let field, current != nil else { throw invalid(line, number) }
      return append(try unquoted(line, number), to: field)
    }
    guard let space = line.utf8.firstIndex(of: UInt8(ascii: " ")) else {
      throw invalid(line, number)
    }
    let text = try unquoted(Substring(line.utf8[space...].drop(while: Self.isSpace)), number)
    let keyword = line[..<space]
    guard let field = try start(keyword, number) else { throw invalid(line, number) }
    self.field = field
    append(text, to: field)
  }

  /// Begins the field of a keyword, and a new message when the last one is complete.
  private mutating func start(_ keyword: Substring, _ number: Int) throws(CatalogError) -> Field? {
    switch keyword {
    case "msgctxt", "msgid":
      if current?.strings.isEmpty == false { try end() }
      if current == nil {
        current = POFile.Entry(line: number, isFuzzy: isFuzzy)
        isFuzzy = false
      }
      let isRepeated = keyword == "msgid" ? current?.id != nil : current?.context != nil
      if isRepeated || current?.id != nil { return nil }
      if keyword == "msgid" { current?.id = "" } else { current?.context = "" }
      return keyword == "msgid" ? .id : .context
    case "msgid_plural":
      guard current?.id != nil, current?.pluralID == nil else { return nil }
      current?.pluralID = ""
      return .pluralID
    case "msgstr":
      guard current?.id != nil, current?.strings.isEmpty == true, current?.pluralID == nil else {
        return nil
      }
      current?.strings.append("")
      return .string(0)
    default:
      guard let index = current?.strings.count, keyword == "msgstr[\(index)]",
        current?.pluralID != nil
      else { return nil }
      current?.strings.append("")
      return .string(index)
    }
  }

  private mutating func append(_ text: String, to field: Field) {
    switch field {
    case .context: current?.context?.append(text)
    case .id: current?.id?.append(text)
    case .pluralID: current?.pluralID?.append(text)
    case .string(let index): current?.strings[index].append(text)
    }
  }

  private mutating func end() throws(CatalogError) {
    guard let entry = current else { return }
    guard entry.id != nil, !entry.strings.isEmpty else {
      throw CatalogError(.syntax(entry.context ?? entry.id ?? ""), file: file, line: entry.line)
    }
    entries.append(entry)
    current = nil
    field = nil
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
  }

  /// Returns the text of a quoted string.
  private func unquoted(_ text: Substring, _ number: Int) throws(CatalogError) -> String {
    let quote = UInt8(ascii: "\""), backslash = UInt8(ascii: "\\")
    guard text.utf8.count >= 2, text.utf8.first == quote, text.utf8.last == quote else {
      throw invalid(text, number)
    }
    let quoted = text.utf8.dropFirst().dropLast()
    guard quoted.contains(where: { $0 == backslash || $0 == quote }) else {
      return String(Substring(quoted))
    }
    var result: [UInt8] = []
    var rest = quoted.makeIterator()
    while let byte = rest.next() {
      if byte == quote { throw invalid(text, number) }
      guard byte == backslash else {
        result.append(byte)
        continue
      }
      switch rest.next() {
      case UInt8(ascii: "n"): result.append(UInt8(ascii: "\n"))
      case UInt8(ascii: "t"): result.append(UInt8(ascii: "\t"))
      case quote: result.append(quote)
      case backslash: result.append(backslash)
      default: throw invalid(text, number)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private func invalid(_ text: Substring, _ number: Int) -> CatalogError {
    CatalogError(.syntax(String(text)), file: file, line: number)
  }
}
