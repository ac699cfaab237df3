import Host

extension Catalog {
  private typealias File = (path: String, folder: String)

  /// Reads the English messages: every `messages.po` in a subfolder.
  ///
  /// - Parameter folder: The path of the folder of templates.
  /// - Throws: ``CatalogError`` for the first file, by name, that is invalid.
  public convenience init(folder: String) throws(CatalogError) {
    var entries: [String: Entry] = [:]
    var rules: [String: PluralRule] = [:]
    for path in try Self.files(named: "messages.po", in: folder) {
      let file = try Self.parsed(path, in: folder, &rules)
      for message in file.entries {
        let (key, entry) = try message.english(in: file, folder: Self.owner(of: path))
        guard entries.updateValue(entry, forKey: key) == nil else {
          throw CatalogError(.repeatedKey(key), file: path, line: message.line)
        }
      }
    }
    self.init(locale: "en", formats: Formats(locale: "en"), entries: entries)
  }

  /// Reads a translation: every `messages.LOCALE.po` in a subfolder.
  ///
  /// - Parameters:
  ///   - locale: The locale as a BCP 47 tag.
  ///   - english: The catalog that is translated; a missing or fuzzy message falls back to it.
  ///   - folder: The path of the folder of templates.
  /// - Throws: ``CatalogError`` for the first file, by name, that is invalid or whose texts differ
  ///   from English in their arguments or tags.
  public convenience init(
    translation locale: String, of english: Catalog, folder: String
  ) throws(CatalogError) {
    var entries: [String: Entry] = [:]
    var rules: [String: PluralRule] = [:]
    for path in try Self.files(named: "messages.\(locale).po", in: folder) {
      let file = try Self.parsed(path, in: folder, &rules)
      guard file.language.replacing("_", with: "-") == locale else {
        throw CatalogError(.missingHeader("Language: \(locale)"), file: path, line: 1)
      }
      for message in file.entries where !message.isFuzzy && !message.strings.contains("") {
        let (key, entry) = try message.translation(in: file, of: english)
        guard entries.updateValue(entry, forKey: key) == nil else {
          throw CatalogError(.repeatedKey(key), file: path, line: message.line)
        }
      }
    }
    self.init(
      locale: locale, formats: Formats(locale: locale),
      entries: english.entries.merging(entries) { $1 })
  }

  /// Reads all catalogs of a folder, English first.
  public static func installed(in folder: String) throws(CatalogError) -> [Catalog] {
    let english = try Catalog(folder: folder)
    var locales: Set<String> = []
    for path in try files(named: nil, in: folder) {
      let name = path.split(separator: "/").last ?? ""
      let parts = name.split(separator: ".")
      if parts.count == 3 { locales.insert(String(parts[1])) }
    }
    var catalogs = [english]
    for locale in locales.sorted() {
      catalogs.append(try Catalog(translation: locale, of: english, folder: folder))
    }
    return catalogs
  }

  /// Returns the paths of catalog files, relative to the folder; a nil name matches any.
  private static func files(
    named name: String?, in folder: String
  ) throws(CatalogError) -> [String] {
    let paths: [String]
    do { paths = try ReadableFile.paths(in: folder) } catch {
      throw CatalogError(.unreadable(error.reason), file: error.path, line: 0)
    }
    return paths.filter { path in
      let file = path.split(separator: "/").last.map(String.init) ?? ""
      return name.map { $0 == file } ?? (file.hasPrefix("messages.") && file.hasSuffix(".po"))
    }
  }

  private static func parsed(
    _ path: String, in folder: String, _ rules: inout [String: PluralRule]
  ) throws(CatalogError) -> POFile {
    let whole = folder + "/" + path
    let bytes: [UInt8]
    do { bytes = try ReadableFile.contents(whole) } catch {
      throw CatalogError(.unreadable(error), file: whole, line: 0)
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CatalogError(.notUTF8, file: path, line: 0)
    }
    return try POFile(text, file: path, rules: &rules)
  }

  /// The name of the folder that a file is in.
  private static func owner(of path: String) -> String {
    path.split(separator: "/").dropLast().last.map(String.init) ?? ""
  }
}

extension POFile.Entry {
  func english(
    in file: POFile, folder: String
  ) throws(CatalogError) -> (key: String, entry: Catalog.Entry) {
    let key = try key(in: file)
    guard key.utf8.allSatisfy(Self.isKeyByte), key.hasPrefix(folder + "."),
      key.utf8.count > folder.utf8.count + 1
    else { throw error(.foreignKey(key, folder: folder), in: file) }
    return (key, try entry([id ?? ""] + (pluralID.map { [$0] } ?? []), key, in: file))
  }

  // Not a regular expression, which would be compiled for each of thousands of messages.
  private static func isKeyByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "."), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  func translation(
    in file: POFile, of english: Catalog
  ) throws(CatalogError) -> (key: String, entry: Catalog.Entry) {
    let key = try key(in: file)
    guard let original = english.entries[key] else { throw error(.unknownKey(key), in: file) }
    let source = try entry(
      [id ?? ""] + (pluralID.map { [$0] } ?? []), key, in: file,
      isSource: true)
    guard source.forms == original.forms else { throw error(.outdated(key), in: file) }
    let entry = try entry(strings, key, in: file)
    let isSame =
      entry.plurals == nil
      ? entry.arguments == original.arguments
      : entry.arguments.isSubset(of: original.arguments)
    guard isSame, entry.forms.allSatisfy({ $0.tags == original.forms.last?.tags }) else {
      throw error(.differs(key), in: file)
    }
    return (key, entry)
  }

  private func key(in file: POFile) throws(CatalogError) -> String {
    guard let context, !context.isEmpty else { throw error(.missingKey(id ?? ""), in: file) }
    return context
  }

  /// Parses the texts; the source texts of a translation are always English with two forms.
  private func entry(
    _ texts: [String], _ key: String, in file: POFile, isSource: Bool = false
  ) throws(CatalogError) -> Catalog.Entry {
    guard texts.count == (pluralID == nil ? 1 : isSource ? 2 : file.plurals.count) else {
      throw error(.formCount(key), in: file)
    }
    var forms: [Pattern] = []
    for text in texts {
      do throws(CatalogError.Problem) {
        forms.append(try Pattern(text))
      } catch {
        throw self.error(error, in: file)
      }
    }
    return Catalog.Entry(forms: forms, plurals: pluralID == nil ? nil : file.plurals)
  }

  private func error(_ problem: CatalogError.Problem, in file: POFile) -> CatalogError {
    CatalogError(problem, file: file.file, line: line)
  }
}
