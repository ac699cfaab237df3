import INI
@testable import Localization
import Markdown
import Templating

extension FuzzedParser {
  static func languages(_ text: String) -> String? {
    let best = LanguagePreferences(text).best(among: ["en", "de", "pt-BR"])
    return (0..<3).contains(best) ? nil : "the best of three languages is number \(best)"
  }

  static func configuration(_ bytes: [UInt8]) -> String? {
    let file = INIFile(bytes)
    let lines = bytes.count { $0 == 0x0A } + 1
    let isInside = file.settings.allSatisfy { (1...lines).contains($0.line) }
    return isInside ? nil : "a setting is on a line that the file doesn't have"
  }

  static func catalog(_ text: String) -> String? {
    var rules: [String: PluralRule] = [:]
    _ = try? POFile(text, file: "messages.po", rules: &rules)
    return nil
  }

  static func template(_ text: String) -> String? {
    guard let library = try? TemplateLibrary(sources: ["page": text, "part": "{{a}}"]) else {
      return nil
    }
    // Rendering may fail, for lack of a template or a value, but not otherwise.
    _ = try? library.render("page", with: .text("a"))
    return nil
  }

  static func markdown(_ text: String) -> String? {
    guard let document = try? renderHTML(markdown: text) else { return nil }
    return RenderedHTML.flaw(in: document.html)
  }
}
