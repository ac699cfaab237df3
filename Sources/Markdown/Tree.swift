import CCmark
import Text

/// A document parsed by libcmark.
///
/// Its nodes are valid as long as the tree exists and they're part of it.
@safe struct Tree: ~Copyable {
  private let root: Node

  /// Parses a document; nil when there isn't enough memory.
  init?(_ markdown: String) {
    let count = markdown.utf8.count
    let document = unsafe markdown.withCString {
      unsafe cmark_parse_document($0, count, CMARK_OPT_DEFAULT)
    }
    guard let document = unsafe document else { return nil }
    unsafe root = Node(document)
  }

  deinit {
    unsafe root.free()
  }

  /// Returns all nodes of the given kinds, parents before children.
  func nodes(_ kinds: cmark_node_type...) -> [Node] {
    unsafe root.descendants.filter { unsafe kinds.contains($0.kind) }
  }

  /// Returns the HTML of the document.
  ///
  /// Links and raw HTML were already checked; libcmark's safe mode, which is on by default, is an
  /// additional safeguard.
  func html() -> String {
    unsafe String(taking: cmark_render_html(root.pointer, CMARK_OPT_DEFAULT))
  }
}

@unsafe struct Node {
  let pointer: OpaquePointer

  init(_ pointer: OpaquePointer) {
    unsafe self.pointer = pointer
  }

  var kind: cmark_node_type { unsafe cmark_node_get_type(pointer) }
  var literal: String { unsafe String(lending: cmark_node_get_literal(pointer)) }
  var url: String { unsafe String(lending: cmark_node_get_url(pointer)) }
  var title: String { unsafe String(lending: cmark_node_get_title(pointer)) }
  var headingLevel: Int { unsafe Int(cmark_node_get_heading_level(pointer)) }

  /// The node and all its descendants, parents before children.
  var descendants: [Node] {
    var nodes: [Node] = unsafe []
    let iterator = unsafe cmark_iter_new(pointer)
    defer { unsafe cmark_iter_free(iterator) }
    while true {
      switch unsafe cmark_iter_next(iterator) {
      case CMARK_EVENT_DONE: return unsafe nodes
      case CMARK_EVENT_ENTER:
        if let node = unsafe cmark_iter_get_node(iterator) { unsafe nodes.append(Node(node)) }
      default: break
      }
    }
  }

  /// Removes the node and its descendants from the tree and frees them.
  func free() {
    unsafe cmark_node_free(pointer)
  }

  /// Replaces the node by its children.
  func unwrap() {
    while let child = unsafe cmark_node_first_child(pointer) {
      unsafe cmark_node_insert_before(pointer, child)
    }
    unsafe free()
  }

  /// Replaces the HTML that libcmark would write around the node's content.
  ///
  /// The kind is `CMARK_NODE_CUSTOM_BLOCK` or `CMARK_NODE_CUSTOM_INLINE`, like the node.
  func rewrap(as kind: cmark_node_type, _ start: String, _ end: String) {
    guard let custom = unsafe cmark_node_new(kind) else { return }
    unsafe cmark_node_set_on_enter(custom, start)
    unsafe cmark_node_set_on_exit(custom, end)
    while let child = unsafe cmark_node_first_child(pointer) {
      unsafe cmark_node_append_child(custom, child)
    }
    unsafe cmark_node_replace(pointer, custom)
    unsafe free()
  }
}

extension String {
  /// Copies a C string owned by libcmark; NULL becomes the empty string.
  fileprivate init(lending text: UnsafePointer<CChar>?) {
    self = unsafe text.map { unsafe String(cString: $0) } ?? ""
  }

  /// Copies a C string and frees it; NULL becomes the empty string.
  fileprivate init(taking text: UnsafeMutablePointer<CChar>?) {
    unsafe self.init(lending: text)
    unsafe cmark_get_default_mem_allocator().pointee.free(text)
  }
}

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

extension Tree {
  /// Removes raw HTML, both blocks and inline tags.
  func dropHTML() {
    unsafe nodes(CMARK_NODE_HTML_BLOCK, CMARK_NODE_HTML_INLINE).forEach { unsafe $0.free() }
  }

  /// Replaces links and images with disallowed targets by their text.
  func checkLinks(_ fit: MarkdownFit) {
    unsafe nodes(CMARK_NODE_LINK, CMARK_NODE_IMAGE).forEach { node in
      let address = Address(unsafe node.url)
      let isHidden = unsafe node.kind == CMARK_NODE_IMAGE && !fit.showsImages
      if !address.isAllowed || isHidden {
        unsafe node.unwrap()
      } else if let part = address.part, unsafe node.kind == CMARK_NODE_LINK, fit.idPrefix != "" {
        _ = unsafe cmark_node_set_url(node.pointer, "#\(fit.idPrefix)\(part)")
      } else if unsafe node.kind == CMARK_NODE_LINK, address.mayLeadElsewhere {
        let title = unsafe node.title
        let attributes = title.isEmpty ? "" : " title=\"\(title.escapedForHTML)\""
        let start = "<a href=\"\(address.href)\"\(attributes) rel=\"noreferrer\">"
        unsafe node.rewrap(as: CMARK_NODE_CUSTOM_INLINE, start, "</a>")
      }
    }
  }
}
