import CCmark
import Text

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
        unsafe node.lead(to: "#\(fit.idPrefix)\(part)")
      } else if unsafe node.kind == CMARK_NODE_LINK, address.mayLeadElsewhere {
        let title = unsafe node.title
        let attributes = title.isEmpty ? "" : " title=\"\(title.escapedForHTML)\""
        let start = "<a href=\"\(address.href)\"\(attributes) rel=\"noreferrer\">"
        unsafe node.rewrap(as: CMARK_NODE_CUSTOM_INLINE, start, "</a>")
      }
    }
  }
}
