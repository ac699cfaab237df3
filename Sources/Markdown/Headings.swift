import CCmark
import Text

extension Tree {
  /// Gives each heading a unique `id`, and returns the headings.
  func nameHeadings(_ fit: MarkdownFit) -> [MarkdownDocument.Heading] {
    var names = HeadingNames()
    return unsafe nodes(CMARK_NODE_HEADING).map { node in
      let text = unsafe node.text
      let heading = MarkdownDocument.Heading(
        level: min(unsafe node.headingLevel + fit.headingLevel - 1, 6),
        id: fit.idPrefix + names.id(for: text), text: text)
      let tag = "h\(heading.level)"
      unsafe node.rewrap(
        as: CMARK_NODE_CUSTOM_BLOCK, "<\(tag) id=\"\(heading.id.escapedForHTML)\">", "</\(tag)>")
      return heading
    }
  }
}

extension Node {
  /// The text of the node, without markup.
  fileprivate var text: String {
    unsafe descendants.reduce(into: "") { text, node in
      switch unsafe node.kind {
      case CMARK_NODE_TEXT, CMARK_NODE_CODE: unsafe text += node.literal
      case CMARK_NODE_SOFTBREAK, CMARK_NODE_LINEBREAK: text += " "
      default: break
      }
    }
  }
}

/// Generates heading IDs that are unique in a document.
struct HeadingNames {
  private var taken: Set<String> = []
  /// The number of headings per name, so that many headings with one name don't retry the same IDs.
  private var counts: [String: Int] = [:]

  /// Returns the letters and digits of a text in lowercase, with a hyphen for each gap.
  mutating func id(for text: String) -> String {
    let words = text.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "_") }
    let name = words.isEmpty ? "section" : words.joined(separator: "-")
    var id = name
    while !taken.insert(id).inserted {
      counts[name, default: 1] += 1
      id = "\(name)-\(counts[name, default: 1])"
    }
    return id
  }
}
