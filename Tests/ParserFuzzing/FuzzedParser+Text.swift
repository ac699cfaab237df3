import INI
@testable import Localization
import Markdown
import Templating
import Text

extension FuzzedParser {
  static func languages(_ text: String) -> String? {
    let best = LanguagePreferences(text).best(among: ["en", "de", "pt-BR"])
    return (0..<3).contains(best) ? nil : "the best of three languages is number \(best)"
  }

  /// Records don't depend on how the text is divided.
  static func csv(_ bytes: [UInt8]) -> String? {
    let size = 1 + Int(bytes.first ?? 0) % 7
    for dialect in [CSVParser.Dialect.file, .pasted] {
      guard records(bytes, dialect, size: size) == records(bytes, dialect, size: bytes.count) else {
        return "chunks of \(size) bytes change the records"
      }
    }
    return nil
  }

  private static func records(
    _ bytes: [UInt8], _ dialect: CSVParser.Dialect, size: Int
  ) -> [Result<CSVRecord, CSVFault>] {
    var parser = CSVParser(dialect, largestField: 256)
    var records: [Result<CSVRecord, CSVFault>] = []
    var rest = bytes[...]
    repeat {
      let chunk = Array(rest.prefix(size))
      rest = rest.dropFirst(size)
      var index = 0
      while true {
        do throws(CSVFault) {
          guard let record = try parser.next(in: chunk, from: &index, isLast: rest.isEmpty) else {
            break
          }
          records.append(.success(record))
        } catch {
          records.append(.failure(error))
          // Only files go on after an error.
          if dialect == .pasted { return records }
        }
      }
    } while !rest.isEmpty
    return records
  }

  static func configuration(_ bytes: [UInt8]) -> String? {
    let file = INIFile(bytes)
    let lines = bytes.count { $0 == 0x0A } + 1
    let isInside = file.settings.allSatisfy { (1...lines).contains($0.line) }
    return isInside ? nil : "a setting is on a line that the file doesn't have"
  }

  static func catalog(_ text: String) -> String? {
    _ = try? POFile(text, file: "de.po")
    return nil
  }

  static func template(_ text: String) -> String? {
    guard let library = try? TemplateLibrary(sources: ["page": text, "part": "{{a}}"]) else {
      return nil
    }
    // Binding may fail, for lack of a template or a name, but not otherwise.
    _ = try? library.template("page", for: FuzzedModel.self).render(FuzzedModel())
    return nil
  }

  static func markdown(_ text: String) -> String? {
    guard let document = try? renderHTML(markdown: text) else { return nil }
    return RenderedHTML.flaw(in: document.html)
  }
}

private struct FuzzedModel: ViewModel {
  static let keys: Keys<Self> = [.text("a") { _ in "a" as String? }]
}
