import Host

/// The installed translations of a folder, one file for each language, `LOCALE.po`.
public struct Translations: Sendable {
  /// Why texts are shown in English although there's a translation.
  public enum Warning: Sendable, Equatable {
    /// The file or folder can't be used at all.
    case unusable(CatalogError)
    /// Messages of a file are shown in English, or aren't messages of the program.
    case incomplete(file: String, Gaps)
  }

  /// How many messages of a translation aren't used.
  public struct Gaps: Sendable, Equatable {
    /// The number of messages that aren't translated.
    public var missing = 0
    /// The number of messages that are marked as uncertain.
    public var fuzzy = 0
    /// The number of translations without the arguments, tags, or plural forms of the English text.
    public var differing = 0
    /// The number of messages that the program doesn't have, or no longer has.
    public var unknown = 0
  }

  /// The catalogs, English first.
  public private(set) var catalogs = [Catalog.english]
  /// At most one for each file.
  public private(set) var warnings: [Warning] = []

  /// Reads the translations of a folder; a missing folder has none.
  ///
  /// - Parameter folder: The path of the folder, which also has all messages of the program in
  ///   `messages.pot`.
  public init(folder: String) {
    let paths: [String]
    do { paths = try ReadableFile.paths(in: folder) } catch {
      if !error.reason.isMissing {
        add(CatalogError(.unreadable(error.reason), file: error.path, line: 0))
      }
      return
    }
    let files = paths.filter { $0.hasSuffix(".po") }.sorted()
    guard !files.isEmpty else { return }
    do throws(CatalogError) {
      let keys = Set(try POFile(at: "\(folder)/messages.pot").entries.map(\.key))
      for file in files {
        do throws(CatalogError) {
          let locale = String(file.dropLast(3)).replacing("_", with: "-")
          try add(POFile(at: "\(folder)/\(file)"), for: locale, keys)
        } catch {
          add(error)
        }
      }
    } catch {
      add(error)
    }
  }

  private mutating func add(_ error: CatalogError) {
    warnings.append(.unusable(error))
  }

  private mutating func add(_ file: POFile, for locale: String, _ keys: Set<String>) {
    var gaps = Gaps()
    var entries: [String: Catalog.Entry] = [:]
    for message in file.entries {
      let key = message.key
      if !keys.contains(key) {
        gaps.unknown += 1
      } else if message.isFuzzy {
        gaps.fuzzy += 1
      } else if !message.strings.contains("") {
        if let entry = message.translation(plurals: file.plurals) {
          entries[key] = entry
        } else {
          gaps.differing += 1
        }
      }
    }
    gaps.missing = keys.count - entries.count - gaps.fuzzy - gaps.differing
    if gaps != Gaps() { warnings.append(.incomplete(file: file.file, gaps)) }
    catalogs.append(Catalog(locale: locale, formats: Formats(locale: locale), entries: entries))
  }
}

extension POFile {
  fileprivate init(at path: String) throws(CatalogError) {
    let bytes: [UInt8]
    do { bytes = try ReadableFile.contents(path) } catch {
      throw CatalogError(.unreadable(error), file: path, line: 0)
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CatalogError(.notUTF8, file: path, line: 0)
    }
    try self.init(text, file: path)
  }
}

extension POFile.Entry {
  fileprivate var key: String { Catalog.key(id ?? "", in: context) }

  /// Returns the translation; nil if its arguments, tags, or forms aren't those of the English text.
  fileprivate func translation(plurals: PluralRule) -> Catalog.Entry? {
    do throws(CatalogError.Problem) {
      let text = try Pattern(validating: id ?? "")
      let plural = try pluralID.map { text throws(CatalogError.Problem) in
        try Pattern(validating: text)
      }
      var forms: [Pattern] = []
      for string in strings { forms.append(try Pattern(validating: string)) }
      // A form for certain numbers can omit the number, as “one user” does.
      let arguments = (plural ?? text).arguments.union(text.arguments)
      let isSame = forms.allSatisfy {
        $0.tags == (plural ?? text).tags
          && (plural == nil
            ? $0.arguments == arguments : $0.arguments.isSubset(of: arguments.union(["count"])))
      }
      guard isSame, strings.count == (plural == nil ? 1 : plurals.count) else { return nil }
      return Catalog.Entry(forms: forms, plurals: plural == nil ? nil : plurals)
    } catch {
      return nil
    }
  }
}
