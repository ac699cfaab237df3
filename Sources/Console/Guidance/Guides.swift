import FoundationEssentials
import Identity
import Markdown
import Templating

/// The guides that belong to the product, rendered once when the console starts.
struct Guides: Sendable {
  struct Guide: Sendable {
    let pattern: EnrolmentPattern
    let title: String
    let summary: String
    let text: Markup
    /// The headings of the second level, for a table of contents.
    let headings: [Link]
  }

  let all: [Guide]

  /// Reads one Markdown file for each enrolment pattern.
  init(folder: String) throws(ConsoleError) {
    var all: [Guide] = []
    for pattern in EnrolmentPattern.allCases {
      let path = "\(folder)/\(pattern.rawValue).md"
      guard let data = FileManager.default.contents(atPath: path) else {
        throw .missingFile(path)
      }
      let source = String(decoding: data, as: UTF8.self)
      do {
        guard let guide = try Guide(pattern, source: source) else {
          throw ConsoleError.guideWithoutTitle(path)
        }
        all.append(guide)
      } catch let error as MarkdownError {
        throw .guide(path, error)
      } catch {
        throw .guideWithoutTitle(path)
      }
    }
    self.all = all
  }

  /// The guide whose address ends so.
  func guide(_ name: String) -> Guide? {
    all.first { $0.pattern.rawValue == name }
  }
}

extension Guides.Guide {
  /// Takes the heading for the page's title and the paragraph after it for lists of guides.
  fileprivate init?(_ pattern: EnrolmentPattern, source: String) throws {
    let blocks = source.split(separator: "\n\n", maxSplits: 2)
    guard blocks.count == 3, blocks[0].hasPrefix("# ") else { return nil }
    self.pattern = pattern
    title = String(blocks[0].dropFirst(2))
    summary = blocks[1].split(separator: "\n").joined(separator: " ")
    let document = try renderHTML(markdown: String(blocks[1] + "\n\n" + blocks[2]))
    text = Markup(trusted: document.html)
    headings = document.headings.filter { $0.level == 2 }
      .map { Link(text: $0.text, href: "#" + $0.id) }
  }
}
