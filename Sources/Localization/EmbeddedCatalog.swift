extension Catalog {
  /// Reads English messages that are part of a program.
  ///
  /// - Parameters:
  ///   - text: The text of the PO file.
  ///   - prefix: What all keys begin with, before a period.
  ///   - file: The name of the file, for errors.
  ///   - escape: What replaces values and texts that aren't translated, in plain text.
  /// - Throws: ``CatalogError`` if the text is invalid.
  public convenience init(
    english text: String, prefix: String, file: String,
    escape: (@Sendable (String) -> String)? = nil
  ) throws(CatalogError) {
    var rules: [String: PluralRule] = [:]
    let messages = try POFile(text, file: file, rules: &rules)
    var entries: [String: Entry] = [:]
    for message in messages.entries {
      let (key, entry) = try message.english(in: messages, folder: prefix)
      guard entries.updateValue(entry, forKey: key) == nil else {
        throw CatalogError(.repeatedKey(key), file: file, line: message.line)
      }
    }
    self.init(locale: "en", formats: Formats(locale: "en"), entries: entries, escape: escape)
  }
}
